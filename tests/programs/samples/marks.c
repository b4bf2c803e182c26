// Marks what it visits, so that the memory that it tests says something else right after it.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 1 << 16, ROUNDS = 4000 };

int main(void) {
    uint32_t *marks = calloc(CELLS, sizeof *marks);
    uint64_t *visits = calloc(CELLS, sizeof *visits);
    if (!marks || !visits)
        return 1;
    uint64_t state = 1, first = 0;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        for (uint32_t i = 0; i < CELLS; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            uint32_t cell = (uint32_t)(state >> 48);
            if (marks[cell] != round) { // TESTED
                marks[cell] = round;
                visits[cell] += cell; // VISITED
                first++;
            }
        }
    }
    printf("%lu %lu\n", (unsigned long)first, (unsigned long)visits[7]);
    free(visits);
    free(marks);
    return 0;
}
