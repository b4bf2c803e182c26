// Parent and child both write after a fork; the parent waits.
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 10000 };

static volatile int numbers[COUNT];

static long fill(int factor) {
    long sum = 0;
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = factor * i;
        sum += numbers[i];
    }
    return sum;
}

int main(void) {
    printf("before %ld\n", fill(1));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        printf("child %ld\n", fill(2));
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    printf("parent %ld\n", fill(3));
    return 0;
}
