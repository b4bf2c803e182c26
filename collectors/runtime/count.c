// Counting: how threads begin and end it.
#include "counting.h"

#include <errno.h>
#include <sys/mman.h>

// Trials of what timing costs, before anything is timed.
#define FIRST_TRIALS 4

VISIBLE THREAD_LOCAL struct trackway_counting __trackway_counting = {.state = TRACKWAY_NOT_BEGUN};
THREAD_LOCAL struct tally *__trackway_own_tally;

static void begin_whole(struct tally *tally, struct stream *stream) {
    tally->whole = !__trackway_program_has_regions();
    struct node *node = &tally->nodes[__trackway_add_node(tally, stream, "", 0, NULL)];
    struct trackway_counts *counts = node->counts;
    if (counts) {
        counts->entries = 1;
        counts->flags |= tally->whole ? TRACKWAY_WHOLE_PROGRAM | TRACKWAY_ENTRY_IS_COUNTED : 0;
        if (tally->whole)
            __trackway_begin_measuring(tally, node);
        counts->entered_ticks = __trackway_now_ticks();
    }
    __trackway_counting.countdowns = (uint64_t)tally->countdowns;
    __trackway_go_to(tally, 0);
}

static struct tally *begin_tally(void) {
    struct stream *stream = __trackway_this_stream();
    if (!stream) {
        __trackway_counting.state = TRACKWAY_UNRECORDED;
        return NULL;
    }
    struct tally *tally =
        mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (tally == MAP_FAILED) {
        __trackway_complain("no memory to count in: a thread runs uncounted");
        __trackway_counting.state = TRACKWAY_UNRECORDED;
        return NULL;
    }
    __trackway_own_tally = tally;
    tally->random = stream->tid * UINT32_C(0x9E3779B1) | 1;
    __trackway_watch_this_thread();
    __trackway_try_timing(FIRST_TRIALS);
    begin_whole(tally, stream);
    return tally;
}

VISIBLE void __trackway_begin_counting(void) {
    int saved_errno = errno;
    uint64_t signals = block_signals();
    // A handler may have come first.
    if (__trackway_counting.state == TRACKWAY_NOT_BEGUN)
        begin_tally();
    restore_signals(signals);
    errno = saved_errno;
}

struct tally *__trackway_this_tally(void) {
    if (__trackway_counting.state == TRACKWAY_NOT_BEGUN)
        __trackway_begin_counting();
    return __trackway_own_tally;
}

// Ends the entries that are still open, and notes those that passed without calling the runtime.
static void close_all(struct tally *tally) {
    uint64_t now = __trackway_now_ticks();
    for (uint32_t i = 0; i < tally->node_count; i++) {
        __trackway_end_measuring(tally, &tally->nodes[i]);
        __trackway_end_entry(&tally->nodes[i], now);
    }
    for (uint64_t i = 1; i < COUNTDOWNS; i++)
        __trackway_note_passed(tally, i);
}

void __trackway_end_counting(void) {
    struct tally *tally = __trackway_own_tally;
    __trackway_own_tally = NULL;
    __trackway_counting = (struct trackway_counting){.state = TRACKWAY_NOT_BEGUN};
    if (!tally)
        return;
    close_all(tally);
    for (uint32_t i = 0; i < tally->node_count; i++)
        if (tally->nodes[i].counts) {
            __trackway_hand_over(&tally->nodes[i].lane, __trackway_end_of_counters(&tally->nodes[i]), TRACKWAY_LAST);
        }
    __trackway_close_hardware(&tally->hardware);
    munmap(tally, sizeof *tally);
}

// The parent's nodes stay the parent's. The regions that the child is in by the fork are left.
void __trackway_count_as_child(void) {
    if (!__trackway_own_tally)
        return;
    __trackway_forget_hardware(&__trackway_own_tally->hardware);
    munmap(__trackway_own_tally, sizeof *__trackway_own_tally);
    __trackway_own_tally = NULL;
    begin_tally();
}

// The main thread's nodes are swept up once the process is gone: what is open by then ends here.
__attribute__((destructor)) static void note_end(void) {
    if (__trackway_own_tally)
        close_all(__trackway_own_tally);
}
