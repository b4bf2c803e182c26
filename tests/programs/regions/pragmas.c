// Regions by pragma; the name goes to the end of the line.
#include <stdio.h>

static int values[100];

int main(void) {
    int total = 0;
#pragma trackway begin fill it
    for (int i = 0; i < 100; i++)
        values[i] = i;
#pragma trackway end fill it
    for (int i = 0; i < 10; i++) {
#pragma trackway begin add "up"
        total += values[i];
        if (i == 8)
            break;
#pragma trackway end add "up"
    }
    printf("total %d\n", total);
    return 0;
}
