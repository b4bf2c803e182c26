/* For programs that are built with `trackway cc`; means nothing to any other compiler. */
#ifndef TRACKWAY_H
#define TRACKWAY_H

/* Before a function's definition: its accesses are not recorded. */
#if defined(__clang__)
#define TRACKWAY_IGNORE __attribute__((annotate("trackway.ignore"), noinline))
#else
#define TRACKWAY_IGNORE
#endif

#if defined(__TRACKWAY__) && defined(__clang__)

#ifdef __cplusplus
extern "C" {
#endif
void __trackway_begin_region(const char *) __attribute__((nothrow));
void __trackway_end_region(const char *) __attribute__((nothrow));
void __trackway_begin_scope(const char *) __attribute__((nothrow));
void __trackway_end_scope(const char *) __attribute__((nothrow));
void __trackway_open_window(void) __attribute__((nothrow));
void __trackway_close_window(void) __attribute__((nothrow));
void __trackway_mark(const char *) __attribute__((nothrow));
void __trackway_snapshot(void) __attribute__((nothrow));
void __trackway_slow(unsigned long) __attribute__((nothrow));
#ifdef __cplusplus
}
#endif

/* Recording begins, and ends, for all threads and processes; it may do so as often as you like. `trackway record
   --paused` begins without. Both do nothing where it is so already, and where nothing records. */
#define trackway_start() __trackway_open_window()
#define trackway_stop() __trackway_close_window()

/* A mark in the trace by which its readers may cut it (--from mark:TEXT): at most 91 bytes of UTF-8. */
#define trackway_mark(text) __trackway_mark(text)

/* A flight recorder (`trackway record --flight`) writes the newest accesses. trackway_slow tells it how long something
   took, in nanoseconds: it writes if that isn't below its --slower-than. */
#define trackway_snapshot() __trackway_snapshot()
#define trackway_slow(ns) __trackway_slow(ns)

/* A region of interest, by the same name from place to place: a string literal. What lies between belongs to it, and
   what is called from there: it is counted, or recorded by `trackway record --only-region`. A region that was begun in
   a function ends with it at the latest, and where a way joins one on which it isn't begun: so break, return,
   exceptions and longjmp end it. */
#define TRACKWAY_REGION_BEGIN(name) __trackway_begin_region(name)
#define TRACKWAY_REGION_END(name) __trackway_end_region(name)

/* Before a function's definition: all of it is a region of its name. */
#define TRACKWAY_REGION_FUNCTION __attribute__((annotate("trackway.region")))

#ifdef __cplusplus
/* From here to the end of the scope. */
#define TRACKWAY_REGION(name) TRACKWAY_REGION_GUARD_(name, __COUNTER__)
#define TRACKWAY_REGION_GUARD_(name, number) TRACKWAY_REGION_GUARD_NUMBERED_(name, number)
#define TRACKWAY_REGION_GUARD_NUMBERED_(name, number)                                                                  \
    struct trackway_guard_type_##number {                                                                              \
        trackway_guard_type_##number() { __trackway_begin_scope(name); }                                               \
        ~trackway_guard_type_##number() { __trackway_end_scope(name); }                                                \
    } trackway_guard_##number
#endif

#else

#define trackway_start() ((void)0)
#define trackway_stop() ((void)0)
#define trackway_mark(text) ((void)(text))
#define trackway_snapshot() ((void)0)
#define trackway_slow(ns) ((void)(ns))
#define TRACKWAY_REGION_BEGIN(name) ((void)0)
#define TRACKWAY_REGION_END(name) ((void)0)
#define TRACKWAY_REGION_FUNCTION
#ifdef __cplusplus
#define TRACKWAY_REGION(name) ((void)0)
#endif

#endif

#endif
