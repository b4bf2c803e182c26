// Huge static tables: a gigabyte that is zero, and a large one that is initialised.
#include <stdio.h>

enum { ZEROS = 1 << 27, NUMBERS = 1 << 21 };

static unsigned long zeros[ZEROS];
static unsigned numbers[NUMBERS] = {1, 2, 3, [NUMBERS / 2] = 7, [NUMBERS - 1] = 9};
static const struct {
    char name[12];
    short values[3][1000];
} shapes[100] = {{"first", {{1, 2}, {3}}}, [99] = {"last", {[2] = {[999] = 5}}}};

int main(void) {
    unsigned long sum = 0;
    for (unsigned long i = 0; i < ZEROS; i += 1000003) {
        zeros[i] += i;
        sum += zeros[i / 2] + zeros[ZEROS - 1 - i];
    }
    for (int i = 0; i < NUMBERS; i += 1023)
        sum += numbers[i] + numbers[NUMBERS - 1 - i];
    for (int i = 0; i < 100; i++)
        sum += (unsigned long)shapes[i].name[0] + (unsigned long)shapes[i].values[2][999 - i % 2];
    printf("sum %lu\n", sum);
    return 0;
}
