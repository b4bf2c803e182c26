// Reading a counter of the processor without a system call: a page that the kernel maps says which one it is.
#ifndef TRACKWAY_PAGE_H
#define TRACKWAY_PAGE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

// Counters are narrower than 64 bits; the rest is the sign.
static inline uint64_t extended(uint64_t counter, uint32_t width) {
    uint32_t unused = 64 - width;
    return (uint64_t)((int64_t)(counter << unused) >> unused);
}

// The count of an event, and for how long it could not be counted. False: only the kernel knows. `counter` reads a
// counter of this processor; the page's lock shows if the thread was moved to another processor meanwhile.
static inline bool read_page(const volatile struct perf_event_mmap_page *page, uint64_t (*counter)(uint32_t),
                             uint64_t *value, uint64_t *missed_ns) {
    uint32_t sequence;
    do {
        sequence = page->lock;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        uint32_t index = page->index, width = page->pmc_width;
        if (!page->cap_user_rdpmc || index == 0 || width == 0 || width > 64)
            return false;
        *value = (uint64_t)page->offset + extended(counter(index - 1), width);
        *missed_ns = page->time_enabled - page->time_running;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    } while (page->lock != sequence);
    return true;
}

#endif
