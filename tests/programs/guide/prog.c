// What the examples of the guide record: objects of 64 bytes of which the loop needs 16, threads whose counters lie on
// one cache line, and blocks that are never freed.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef ROUNDS
#define ROUNDS 5
#endif

#ifndef THREADS
#define THREADS 2
#endif

enum { PARTICLES = 20000 };

struct particle {
    double position, velocity;
    char name[48];
};

struct counters {
    long moves;
};

struct note {
    struct note *next;
    int round;
};

static struct particle *particles;
static struct counters statistics[THREADS];
static struct note *notes[THREADS];

static void *advance(void *argument) {
    int number = *(int *)argument;
    struct particle *mine = particles + number * (PARTICLES / THREADS);
    for (int round = 0; round < ROUNDS; round++) {
        struct note *note = malloc(sizeof *note);
        *note = (struct note){notes[number], round};
        notes[number] = note;
        for (int i = 0; i < PARTICLES / THREADS; i++) {
            mine[i].position += mine[i].velocity;
            __atomic_fetch_add(&statistics[number].moves, 1, __ATOMIC_RELAXED);
        }
    }
    return NULL;
}

int main(void) {
    particles = calloc(PARTICLES, sizeof *particles);
    for (int i = 0; i < PARTICLES; i++)
        particles[i].velocity = i;
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, advance, &numbers[i]);
    }
    long moves = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        moves += statistics[i].moves;
    }
    printf("%ld moves, the last particle at %.0f\n", moves, particles[PARTICLES - 1].position);
    free(particles);
    return 0;
}
