// Installing signal handlers. The pass calls these functions instead of the C library's, so that each handler of a
// recorded program runs between `__trackway_enter_handler` and `__trackway_leave_handler`.
//
// The kernel gets one of a fixed set of functions, which stands for the program's own for ever: so what is installed is
// always told by the kernel alone, whoever else installs, saves and restores handlers, and at whatever time.
#include "runtime.h"

#include <elf.h>
#include <signal.h>
#include <sys/auxv.h>

#define STAND_INS 256

static void *handlers[STAND_INS]; // the program's own; those in use come first

// A handler that takes only the number ignores the rest. Exceptions and siglongjmp may leave it.
__attribute__((noinline)) static void run(unsigned index, int number, siginfo_t *info, void *context) {
    void (*handler)(int, siginfo_t *, void *) = handlers[index];
    struct handler_frame frame;
    __trackway_enter_handler(&frame);
    handler(number, info, context);
    __trackway_leave_handler(&frame);
}

#define EACH_OF_4(M, i) M(i##00) M(i##01) M(i##10) M(i##11)
#define EACH_OF_16(M, i) EACH_OF_4(M, i##00) EACH_OF_4(M, i##01) EACH_OF_4(M, i##10) EACH_OF_4(M, i##11)
#define EACH_OF_64(M, i) EACH_OF_16(M, i##00) EACH_OF_16(M, i##01) EACH_OF_16(M, i##10) EACH_OF_16(M, i##11)
#define EACH_OF_256(M) EACH_OF_64(M, 00) EACH_OF_64(M, 01) EACH_OF_64(M, 10) EACH_OF_64(M, 11)
#define DEFINE(i)                                                                                                      \
    static void stand_in_##i(int number, siginfo_t *info, void *context) { run(0b##i, number, info, context); }
#define ADDRESS(i) (void *)stand_in_##i,

EACH_OF_256(DEFINE)

static void *const stand_ins[STAND_INS] = {EACH_OF_256(ADDRESS)};

static bool is_function(sighandler_t given) {
    return given != SIG_DFL && given != SIG_IGN && given != SIG_HOLD && given != SIG_ERR;
}

// The program's own handler, if a stand-in is given.
static sighandler_t own_handler(sighandler_t given) {
    for (unsigned i = 0; i < STAND_INS && __atomic_load_n(&handlers[i], __ATOMIC_ACQUIRE); i++)
        if ((void *)given == stand_ins[i])
            return (sighandler_t)handlers[i];
    return given;
}

static void complain_once(void) {
    static uint32_t complained;
    if (!__atomic_exchange_n(&complained, 1, __ATOMIC_RELAXED))
        __trackway_complain("more than 256 different signal handlers: further ones may damage the records of the code "
                            "that they interrupt");
}

static sighandler_t stand_in(sighandler_t given) {
    if (!is_function(given) || own_handler(given) != given || !__trackway_is_recorded())
        return given;
    for (unsigned i = 0; i < STAND_INS; i++) {
        void *present = NULL;
        bool added = __atomic_compare_exchange_n(&handlers[i], &present, (void *)given, false, __ATOMIC_ACQ_REL,
                                                 __ATOMIC_ACQUIRE);
        if (added || present == (void *)given)
            return (sighandler_t)stand_ins[i];
    }
    complain_once();
    return given;
}

VISIBLE int __trackway_sigaction(int number, const struct sigaction *action, struct sigaction *former) {
    struct sigaction ours;
    if (action) {
        ours = *action;
        ours.sa_handler = stand_in(action->sa_handler);
    }
    int result = sigaction(number, action ? &ours : NULL, former);
    if (result == 0 && former)
        former->sa_handler = own_handler(former->sa_handler);
    return result;
}

#define INSTALLER(name, symbol)                                                                                        \
    extern sighandler_t library_##name(int number, sighandler_t given) __asm__(symbol);                                \
    VISIBLE sighandler_t __trackway_##name(int number, sighandler_t given) {                                           \
        return own_handler(library_##name(number, stand_in(given)));                                                   \
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
        sighandler_t own = own_handler(installed.sa_handler);
        if (own == installed.sa_handler)
            continue;
        installed.sa_handler = own;
        sigaction(number, &installed, NULL);
    }
}
