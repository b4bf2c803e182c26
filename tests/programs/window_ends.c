// Processes that end within a region without leaving it. `program HOW` waits for a byte, then a child enters the region
// and
//   killed   kills itself,
//   exits    calls _exit,
//   executes becomes `cat`, which lives on until this process ends,
//   again    becomes this program again,
//   both     is killed while this process is in the region, too.
// Then this process says so, waits until its standard input ends, and stores to `outside`: nobody is in the region any
// more. Prints how many stores to `inside` lie in the region.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trackway.h>
#include <unistd.h>

enum { LENGTH = 16 };

static volatile int inside[2][LENGTH], outside[LENGTH];

__attribute__((noinline)) static void fill_inside(int number) {
    for (int i = 0; i < LENGTH; i++)
        inside[number][i] = i;
}

__attribute__((noinline)) static void fill_outside(void) {
    for (int i = 0; i < LENGTH; i++)
        outside[i] = i;
}

__attribute__((noinline)) static void leave_for_good(const char *how, int until) {
    fill_inside(1);
    if (strcmp(how, "exits") == 0)
        _exit(0);
    if (strcmp(how, "executes") == 0) {
        dup2(until, STDIN_FILENO);
        execlp("cat", "cat", (char *)NULL);
    }
    if (strcmp(how, "again") == 0)
        execl("/proc/self/exe", "again", "after exec", (char *)NULL);
    kill(getpid(), SIGKILL);
}

static void be_child(const char *how, int ready, int until) {
    TRACKWAY_REGION_BEGIN("own");
    if (write(ready, "", 1) == 1)
        leave_for_good(how, until);
    TRACKWAY_REGION_END("own");
}

static int lives_on(const char *how) { return strcmp(how, "executes") == 0; }

static void wait_with_child(const char *how, pid_t child, int ready) {
    char byte;
    if (read(ready, &byte, 1) != 1)
        exit(1);
    if (!lives_on(how))
        waitpid(child, NULL, 0);
    puts("gone");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
}

// In the region as well, until the child is gone and longer.
__attribute__((noinline)) static void stay_inside(const char *how, pid_t child, int ready) {
    TRACKWAY_REGION_BEGIN("own");
    wait_with_child(how, child, ready);
    fill_inside(0);
    TRACKWAY_REGION_END("own");
}

int main(int argc, char **arguments) {
    const char *how = argc > 1 ? arguments[1] : "";
    if (strcmp(how, "after exec") == 0) {
        fill_outside();
        return 0;
    }
    int ready[2], until[2];
    char byte;
    if (read(STDIN_FILENO, &byte, 1) != 1)
        return 1;
    if (pipe(ready) != 0 || pipe(until) != 0)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        close(until[1]);
        be_child(how, ready[1], until[0]);
    }
    int stay = strcmp(how, "both") == 0;
    if (stay)
        stay_inside(how, child, ready[0]);
    else
        wait_with_child(how, child, ready[0]);
    fill_outside();
    close(until[1]);
    if (lives_on(how))
        waitpid(child, NULL, 0);
    printf("%d\n", (1 + stay) * LENGTH);
    return 0;
}
