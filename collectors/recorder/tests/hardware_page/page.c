// Reads pages that are filled by hand, as the kernel fills them; ends with the number of the line that is wrong.
#include "page.h"

#include <stdlib.h>

#define EXPECT(condition) ((condition) ? (void)0 : exit(1 + __LINE__ % 255))

static struct perf_event_mmap_page page;
static uint32_t asked; // the counter that was read for the last time
static int moves;      // so often the thread is moved to another processor while it reads

static uint64_t counter(uint32_t index) {
    asked = index;
    if (moves > 0) {
        moves--;
        page.lock++;
        page.offset += 100;
        page.index++;
    }
    return UINT64_C(0xFFFFFFFFFFF0); // -16 in 48 bits
}

static void extension(void) {
    EXPECT(extended(0, 48) == 0);
    EXPECT(extended(5, 48) == 5);
    EXPECT(extended(UINT64_C(1) << 47, 48) == -(UINT64_C(1) << 47));
    EXPECT(extended(UINT64_C(0x7FFFFFFFFFFF), 48) == UINT64_C(0x7FFFFFFFFFFF));
    EXPECT(extended(UINT64_C(0xABCD00000001), 32) == 1); // what is above the width doesn't count
    EXPECT(extended(UINT64_MAX, 64) == UINT64_MAX);
    EXPECT(extended(1, 1) == UINT64_MAX);
}

static void sums(void) {
    uint64_t value, missed_ns;
    page = (struct perf_event_mmap_page){
        .cap_user_rdpmc = 1, .index = 3, .pmc_width = 48, .offset = 1000, .time_enabled = 70, .time_running = 50};
    EXPECT(read_page(&page, counter, &value, &missed_ns));
    EXPECT(value == 1000 - 16 && missed_ns == 20 && asked == 2);
    page.offset = 4;
    EXPECT(read_page(&page, counter, &value, &missed_ns) && value == (uint64_t)-12);
}

static void moved_threads(void) {
    uint64_t value, missed_ns;
    page = (struct perf_event_mmap_page){.cap_user_rdpmc = 1, .index = 1, .pmc_width = 48, .offset = 1000};
    moves = 2;
    EXPECT(read_page(&page, counter, &value, &missed_ns));
    EXPECT(value == 1200 - 16 && asked == 2);
}

static void only_the_kernel_knows(void) {
    uint64_t value, missed_ns;
    const struct perf_event_mmap_page pages[] = {
        {.cap_user_rdpmc = 0, .index = 1, .pmc_width = 48},
        {.cap_user_rdpmc = 1, .index = 0, .pmc_width = 48},
        {.cap_user_rdpmc = 1, .index = 1, .pmc_width = 0},
        {.cap_user_rdpmc = 1, .index = 1, .pmc_width = 65},
    };
    for (unsigned i = 0; i < sizeof pages / sizeof pages[0]; i++)
        EXPECT(!read_page(&pages[i], counter, &value, &missed_ns));
}

int main(void) {
    extension();
    sums();
    moved_threads();
    only_the_kernel_knows();
    return 0;
}
