// As hand_over.c, by OpenMP: what one parallel region wrote, the next one and the code between them read.
#include <stdio.h>

enum { SLOTS = 2000 };

static long slots[SLOTS];

int main(void) {
    long sum = 0;
    int turn = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
#pragma omp for schedule(static, 1)
        for (long i = 0; i < 500; i++)
            slots[i] = i + 1;
        // The loop ended in a barrier.
#pragma omp for schedule(static, 3)
        for (long i = 0; i < 500; i++)
            sum += slots[i];
    }
    for (long i = 0; i < 500; i++)
        sum += slots[i];
#pragma omp parallel num_threads(2)
    for (int again = 0; again < 200; again++) {
#pragma omp critical
        {
            long own = 500 + turn++;
            long before = own > 500 ? slots[own - 1] : 0;
            slots[own] = before + 1;
        }
    }
    for (long i = 1000; i < 1500; i++)
        slots[i] = i;
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (long i = 1000; i < 1500; i++)
        sum += slots[i];
    printf("%ld\n", sum);
    return 0;
}
