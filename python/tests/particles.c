// Particles of which every step reads two hot fields and few read the others; a walk with a stride, a list whose nodes
// lie in disorder, and two threads that count side by side on one cache line. Prints a sum.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { PARTICLES = 1500, STEPS = 20, COUNTS = 3000, NODES = 2000 };

struct particle {
    double position;
    double velocity;
    double mass;
    long id;
    char name[48];
};

struct node {
    struct node *next;
    long value;
};

static long counters[2];

__attribute__((noinline)) static double move(struct particle *particles) {
    double sum = 0;
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < PARTICLES; i++) {
            particles[i].position += particles[i].velocity;
            if (step % 10 == 0)
                sum += particles[i].mass * (double)particles[i].id;
        }
    return sum;
}

__attribute__((noinline)) static struct node *disordered(void) {
    struct node *all = malloc(NODES * sizeof *all);
    for (int i = 0; i < NODES; i++) {
        int next = (i * 701 + 13) % NODES;
        all[i].next = &all[next];
        all[i].value = i;
    }
    return all;
}

__attribute__((noinline)) static long chase(struct node *node) {
    long sum = 0;
    for (int i = 0; i < 30 * NODES; i++) {
        sum += node->value;
        node = node->next;
    }
    return sum;
}

static void *count(void *argument) {
    volatile long *counter = argument;
    for (int i = 0; i < COUNTS; i++)
        *counter += 1;
    return NULL;
}

int main(void) {
    struct particle *particles = calloc(PARTICLES, sizeof *particles);
    for (int i = 0; i < PARTICLES; i++) {
        particles[i].velocity = i;
        particles[i].mass = 2;
        particles[i].id = i;
    }
    double sum = move(particles);
    struct node *nodes = disordered();
    sum += (double)chase(nodes);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count, &counters[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%.0f %ld\n", sum, counters[0] + counters[1]);
    free(nodes);
    free(particles);
    return 0;
}
