// Overwrites the ring of the process in which it is, in one of several ways that the seed chooses. It is compiled
// without tracing, and against the interface, so that it knows where the words are.
#include "abi.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum way { CONTROL, TABLES, ANYWHERE, ONE_WORD, ALL_BUFFERS, ERASE, HAND_OVER, WAYS };

static uint64_t state;

static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545F4914F6CDD1Dull >> 11;
}

static uint32_t hostile(const struct trackway_ring *ring) {
    const uint32_t values[] = {0,
                               1,
                               2,
                               3,
                               4,
                               5,
                               UINT32_MAX,
                               INT32_MAX,
                               UINT32_MAX - 1,
                               0x40000000,
                               0x80000000,
                               ring->buffer_size,
                               ring->buffer_size - 1,
                               ring->buffer_size + 1,
                               ring->buffer_count,
                               ring->buffer_count - 1,
                               (uint32_t)getpid(),
                               (uint32_t)next()};
    return values[next() % (sizeof values / sizeof values[0])];
}

// Words that only the recorder goes by, or both; the rest of the header is the program's to trust.
static size_t control_word(void) {
    const size_t places[] = {
        offsetof(struct trackway_ring, recorder_thread), offsetof(struct trackway_ring, next_segment_id),
        offsetof(struct trackway_ring, next_stream),     offsetof(struct trackway_ring, pending_forks),
        offsetof(struct trackway_ring, full_events),     offsetof(struct trackway_ring, wake_at),
        offsetof(struct trackway_ring, full_count),      offsetof(struct trackway_ring, buffers_used),
        offsetof(struct trackway_ring, free_events),     offsetof(struct trackway_ring, free_waiters),
        offsetof(struct trackway_ring, stopped),         offsetof(struct trackway_ring, magic),
        offsetof(struct trackway_ring, total_size),      offsetof(struct trackway_ring, count_cost),
    };
    return places[next() % (sizeof places / sizeof places[0])];
}

static volatile uint32_t *word(struct trackway_ring *ring, uint64_t offset) {
    return (volatile uint32_t *)((unsigned char *)ring + (offset & ~3ull));
}

static void overwrite_buffers(struct trackway_ring *ring) {
    struct trackway_buffer *table = (struct trackway_buffer *)((unsigned char *)ring + ring->buffer_table_offset);
    volatile uint32_t *words = (volatile uint32_t *)&table[next() % 8];
    words[next() % (sizeof table[0] / 4)] = hostile(ring);
}

// A buffer that looks as the runtime's, with any contents.
static void hand_over(struct trackway_ring *ring) {
    static const uint32_t kinds[] = {TRACKWAY_MODULE,  TRACKWAY_RECORDS,     TRACKWAY_ORACLE_RECORDS,
                                     TRACKWAY_COUNTS,  TRACKWAY_DEFINITIONS, TRACKWAY_ALLOCATIONS,
                                     TRACKWAY_MAPPINGS};
    uint32_t index = 8 + next() % 8;
    struct trackway_buffer *buffer =
        (struct trackway_buffer *)((unsigned char *)ring + ring->buffer_table_offset) + index;
    unsigned char *data = (unsigned char *)ring + ring->data_offset + (size_t)index * ring->buffer_size;
    buffer->kind = kinds[next() % 7];
    buffer->stream = (uint32_t)(next() % 4);
    buffer->pid = (uint32_t)getpid();
    buffer->flags = (uint32_t)(next() % 16);
    buffer->sequence = next() % 4;
    buffer->length = (uint32_t)(next() % (ring->buffer_size + 1));
    for (uint32_t i = 0; i < buffer->length; i += 1 + (uint32_t)(next() % 64))
        data[i] = (unsigned char)next();
    if (ring->buffers_used < index + 1)
        ring->buffers_used = index + 1;
    __atomic_fetch_add(&ring->full_count, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&buffer->state, TRACKWAY_FULL, __ATOMIC_RELEASE);
}

static void act(struct trackway_ring *ring, uint64_t mapped, enum way way) {
    switch (way) {
    case CONTROL:
        *word(ring, offsetof(struct trackway_ring, recorder_thread) + next() % 384) = hostile(ring);
        break;
    case TABLES:
        *word(ring, ring->buffer_table_offset + next() % (ring->data_offset - ring->buffer_table_offset)) =
            hostile(ring);
        break;
    case ANYWHERE:
        *word(ring, next() % mapped) = (uint32_t)next();
        break;
    case ONE_WORD:
        *word(ring, control_word()) = hostile(ring);
        break;
    case ALL_BUFFERS:
        overwrite_buffers(ring);
        break;
    case ERASE:
        memset((void *)word(ring, offsetof(struct trackway_ring, recorder_thread)), 0xff, 384);
        break;
    default:
        hand_over(ring);
    }
}

static struct trackway_ring *find(uint64_t *mapped) {
    char line[512];
    unsigned long begin = 0, end = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "memfd:trackway") && sscanf(line, "%lx-%lx", &begin, &end) == 2)
            break;
    if (maps)
        fclose(maps);
    *mapped = end - begin;
    return (struct trackway_ring *)begin;
}

void *scribble(void *seed) {
    uint64_t mapped;
    struct trackway_ring *ring = find(&mapped);
    state = ((uint64_t)seed + 1) * 0x9E3779B97F4A7C15ull;
    next();
    enum way way = (uint64_t)seed % WAYS;
    const struct timespec pause = {0, 20000};
    for (int i = 0; ring && i < 100; i++) {
        act(ring, mapped, way);
        if (i % 10 == 0)
            nanosleep(&pause, NULL);
    }
    return NULL;
}
