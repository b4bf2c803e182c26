// A region that is entered at once and a second later. Stores to `early` lie in the first one, those to `late` in the
// other.
#include <stdio.h>
#include <trackway.h>
#include <unistd.h>

static volatile int early[16], late[16];

__attribute__((noinline)) static void work_early(void) {
    TRACKWAY_REGION_BEGIN("own");
    for (int i = 0; i < 16; i++)
        early[i] = i;
    TRACKWAY_REGION_END("own");
}

__attribute__((noinline)) static void work_late(void) {
    TRACKWAY_REGION_BEGIN("own");
    for (int i = 0; i < 16; i++)
        late[i] = i;
    TRACKWAY_REGION_END("own");
}

int main(void) {
    work_early();
    usleep(1500000);
    work_late();
    printf("%d\n", early[3] + late[4]);
    return 0;
}
