// Arrays that grow by a little: with room from the start.
#include "pair.h"
enum { ARRAYS = 400, COUNT = 12000, MORE = 256 };
int main(void) {
    uint64_t sum = 0;
    for (int array = 0; array < ARRAYS; array++) {
        uint64_t *values = NULL, room = 0;
#ifdef AFTER
        values = malloc(COUNT * sizeof *values), room = COUNT;
#endif
        for (uint64_t i = 0; i < COUNT; i++) {
            if (i == room) {
                uint64_t *larger = malloc((room += MORE) * sizeof *larger);
                if (values)
                    memcpy(larger, values, i * sizeof *larger);
                free(values);
                values = larger;
            }
            values[i] = i ^ array;
        }
        sum += values[COUNT / 2];
        free(values);
    }
    print_sum(sum);
}
