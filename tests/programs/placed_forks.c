// Forks a hundred times while other threads allocate; counts children, or parents, that see what is not theirs.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int stop;
__attribute__((noinline)) static void *block(size_t n) {
    void *volatile p = malloc(n);
    return p;
}
static void *churn(void *u) {
    while (!stop) {
        char *p = block(500);
        memset(p, 1, 500);
        free(p);
    }
    return u;
}
int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, churn, 0);
    int bad = 0;
    for (int i = 0; i < 100; i++) {
        char *p = block(1000);
        memset(p, i, 1000);
        pid_t c = fork();
        if (!c) {
            for (int k = 0; k < 100; k++)
                free(block(100));
            int ok = p[999] == (char)i;
            memset(p, 77, 1000);
            free(p);
            _exit(!ok);
        }
        int s;
        waitpid(c, &s, 0);
        bad += s != 0 || p[999] != (char)i;
        free(p);
    }
    stop = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    printf("bad %d\n", bad);
    return bad;
}
