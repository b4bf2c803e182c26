// Blocks that are allocated, moved and freed, in numbers that are known.
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 100, SIZE = 1000, MOVED = 3000 };

int main(void) {
    static char *block[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        block[i] = malloc(SIZE);
    for (int i = 0; i < BLOCKS; i++)
        block[i] = realloc(block[i], MOVED);
    for (int i = 0; i < BLOCKS; i++)
        block[i][0] = (char)i;
    for (int i = 0; i < BLOCKS / 2; i++)
        free(block[i]);
    void *aligned;
    if (posix_memalign(&aligned, 64, 500) != 0)
        return 1;
    int *zeros = calloc(10, sizeof *zeros);
    printf("%d\n", zeros[3]);
    return 0;
}
