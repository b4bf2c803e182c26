// Ends well at the first signal, and at once, with status 1, at a second one: `twice here|session`.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void on_signal(int number) {
    (void)number;
    if (++signals == 2)
        _exit(1);
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "session"))
        setsid();
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    puts("ready");
    fflush(stdout);
    while (!signals)
        pause();
    for (int rest = 0; rest < 50; rest++) // whoever sends it twice has done so by now
        usleep(10000);
    puts("one signal");
    return 0;
}
