// Installing signal handlers. The pass calls these functions instead of the C library's, so that each handler of a
// recorded program runs between `__trackway_enter_handler` and `__trackway_leave_handler`.
//
// The kernel gets one of a fixed set of functions, which stands for the program's own for ever. So the kernel alone
// knows what is installed, even if other code installs, saves and restores handlers at any time.
#include "runtime.h"

#include <elf.h>
#include <signal.h>
#include <sys/auxv.h>

#define STAND_INS 256

static void *handlers[STAND_INS]; // the program's own; those in use come first
static void *shared[NSIG];        // its own that found no place among those, by the number of the signal

// On some processors the kernel gives a context only where SA_SIGINFO asks for it, and else the argument is anything.
// What it gives is in what it pushed last: just before the frame of a stand-in, and it pushes more than this at a time.
#define NEAR 1024

static bool is_given(const void *context, const void *frame) {
#if defined(__x86_64__) || defined(__riscv)
    (void)frame;
    return context;
#else
    return (uintptr_t)context - (uintptr_t)frame < NEAR;
#endif
}

// A handler that takes only the number ignores the rest. Exceptions and siglongjmp may leave it.
__attribute__((noinline)) static void run(void *const *own, int number, siginfo_t *info, void *context) {
    void (*handler)(int, siginfo_t *, void *) = __atomic_load_n(own, __ATOMIC_ACQUIRE);
    const void *given = is_given(context, __builtin_frame_address(0)) ? context : NULL;
    struct handler_frame frame;
    __trackway_enter_handler(&frame, given);
    handler(number, info, context);
    __trackway_leave_handler(&frame, given);
}

static void shared_stand_in(int number, siginfo_t *info, void *context) { run(&shared[number], number, info, context); }

#define EACH_OF_4(M, i) M(i##00) M(i##01) M(i##10) M(i##11)
#define EACH_OF_16(M, i) EACH_OF_4(M, i##00) EACH_OF_4(M, i##01) EACH_OF_4(M, i##10) EACH_OF_4(M, i##11)
#define EACH_OF_64(M, i) EACH_OF_16(M, i##00) EACH_OF_16(M, i##01) EACH_OF_16(M, i##10) EACH_OF_16(M, i##11)
#define EACH_OF_256(M) EACH_OF_64(M, 00) EACH_OF_64(M, 01) EACH_OF_64(M, 10) EACH_OF_64(M, 11)
#define DEFINE(i)                                                                                                      \
    static void stand_in_##i(int number, siginfo_t *info, void *context) {                                             \
        run(&handlers[0b##i], number, info, context);                                                                  \
    }
#define ADDRESS(i) (void *)stand_in_##i,

EACH_OF_256(DEFINE)

static void *const stand_ins[STAND_INS] = {EACH_OF_256(ADDRESS)};

static bool is_function(sighandler_t given) {
    return given != SIG_DFL && given != SIG_IGN && given != SIG_HOLD && given != SIG_ERR;
}

// The program's own handler, if a stand-in is given. `sharing` is the one that the shared stand-in stands for.
static sighandler_t own_handler(sighandler_t given, void *sharing) {
    if (given == (sighandler_t)(void *)shared_stand_in)
        return (sighandler_t)sharing;
    for (unsigned i = 0; i < STAND_INS && __atomic_load_n(&handlers[i], __ATOMIC_ACQUIRE); i++)
        if ((void *)given == stand_ins[i])
            return (sighandler_t)handlers[i];
    return given;
}

static void *stand_in_of_its_own(sighandler_t given) {
    for (unsigned i = 0; i < STAND_INS; i++) {
        void *present = NULL;
        bool added = __atomic_compare_exchange_n(&handlers[i], &present, (void *)given, false, __ATOMIC_ACQ_REL,
                                                 __ATOMIC_ACQUIRE);
        if (added || present == (void *)given)
            return stand_ins[i];
    }
    return NULL;
}

// The kernel gets this in place of a handler.
struct substitute {
    sighandler_t installed;
    void **shared; // of this signal; none if there is no such signal
    void *sharing; // what stood there before
};

static struct substitute substitute_for(int number, sighandler_t given) {
    struct substitute it = {.installed = given};
    if (number <= 0 || number >= NSIG)
        return it;
    it.shared = &shared[number];
    it.sharing = __atomic_load_n(it.shared, __ATOMIC_ACQUIRE);
    if (!is_function(given) || own_handler(given, it.sharing) != given || !__trackway_may_be_recorded())
        return it;
    void *own = stand_in_of_its_own(given);
    if (!own)
        __atomic_store_n(it.shared, (void *)given, __ATOMIC_RELEASE);
    it.installed = own ? (sighandler_t)own : (sighandler_t)(void *)shared_stand_in;
    return it;
}

static void take_back(const struct substitute *it) {
    if (it->installed == (sighandler_t)(void *)shared_stand_in)
        __atomic_store_n(it->shared, it->sharing, __ATOMIC_RELEASE);
}

VISIBLE int __trackway_sigaction(int number, const struct sigaction *action, struct sigaction *former) {
    struct sigaction ours;
    struct substitute substitute = substitute_for(number, action ? action->sa_handler : SIG_DFL);
    if (action) {
        ours = *action;
        ours.sa_handler = substitute.installed;
    }
    int result = sigaction(number, action ? &ours : NULL, former);
    if (result != 0)
        take_back(&substitute);
    else if (former)
        former->sa_handler = own_handler(former->sa_handler, substitute.sharing);
    return result;
}

#define INSTALLER(name, symbol)                                                                                        \
    extern sighandler_t library_##name(int number, sighandler_t given) __asm__(symbol);                                \
    VISIBLE sighandler_t __trackway_##name(int number, sighandler_t given) {                                           \
        struct substitute substitute = substitute_for(number, given);                                                  \
        sighandler_t former = library_##name(number, substitute.installed);                                            \
        if (former == SIG_ERR)                                                                                         \
            take_back(&substitute);                                                                                    \
        return own_handler(former, substitute.sharing);                                                                \
    }

INSTALLER(signal, "signal")
INSTALLER(bsd_signal, "bsd_signal")
INSTALLER(sysv_signal, "__sysv_signal")
INSTALLER(sigset, "sigset")

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

// The last chance before an object that holds a runtime is unloaded; an executable never is.
__attribute__((destructor)) static void give_handlers_back(void) {
    if (getauxval(AT_PHDR) == (uintptr_t)&__ehdr_start + __ehdr_start.e_phoff)
        return;
    for (int number = 1; number < NSIG; number++) {
        struct sigaction installed;
        if (sigaction(number, NULL, &installed) != 0)
            continue;
        sighandler_t own = own_handler(installed.sa_handler, shared[number]);
        if (own == installed.sa_handler)
            continue;
        installed.sa_handler = own;
        sigaction(number, &installed, NULL);
    }
}
