// Reports which code is mapped where. Frames are addresses only, and objects come and go. So whenever a frame lies
// outside of the code that the recorder knows, it gets a report of all that is mapped.
#include "code.h"
#include "kernel.h"
#include "tracer.h"

#include <fcntl.h>

enum { MOST_RANGES = 1024, LINE_BYTES = 4608 /* a path, and what stands before it */, VAIN_LOOKS = 64 };
// After so many looks in vain what is no code at all is looked for only now and then.
#define TICKS_BETWEEN_LOOKS (UINT64_C(1) << 25)

struct range {
    uintptr_t low, high;
};

static struct range known[MOST_RANGES];
static uint32_t known_count;
static uint64_t next_look;
static uint32_t vain_looks;
static uint32_t is_telling; // a thread is: a lock
static char line[LINE_BYTES];

static bool is_known(uintptr_t code) {
    uint32_t count = __atomic_load_n(&known_count, __ATOMIC_ACQUIRE), first = 0;
    while (count > 0) { // ranges are in order
        uint32_t half = count / 2;
        if (known[first + half].high <= code) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first < MOST_RANGES && known[first].low <= code && code < known[first].high;
}

static bool all_are_known(const struct frames *frames) {
    for (uint32_t i = 0; i < frames->count; i++)
        if (!is_known(frames->of[i]))
            return false;
    return true;
}

struct teller {
    struct lane lane;
    struct stream stream;
    struct room room;
    unsigned char *begin;
    uint32_t ranges;
};

static void take_room(struct teller *teller) {
    teller->room = __trackway_take(&teller->lane, &teller->stream);
    teller->begin = teller->room.begin;
}

static uintptr_t read_hexadecimal(const char **text) {
    uintptr_t number = 0;
    for (; **text != '-' && **text != ' '; (*text)++)
        number = number * 16 + (uintptr_t)(**text <= '9' ? **text - '0' : **text - 'a' + 10);
    (*text)++;
    return number;
}

// "LOW-HIGH rwxp OFFSET DEVICE INODE PATH\n": the mapping stands in the buffer as it does in /proc/self/maps.
static void tell_line(struct teller *teller, const char *text, size_t length) {
    const char *at = text;
    struct range range = {.low = read_hexadecimal(&at)};
    range.high = read_hexadecimal(&at);
    bool is_code = at[2] == 'x';
    if (!is_code)
        return;
    if (teller->ranges < MOST_RANGES)
        known[teller->ranges++] = range;
    if (length > (size_t)(teller->room.end - teller->room.begin)) {
        __trackway_hand_over(&teller->lane, teller->room.begin, 0);
        take_room(teller);
    }
    if (!teller->lane.buffer)
        return;
    __builtin_memcpy(teller->room.begin, text, length);
    teller->room.begin += length;
}

static void tell_all(struct teller *teller, int file) {
    char part[512];
    size_t used = 0;
    long length;
    while ((length = kernel_call(SYS_read, file, (long)part, sizeof part, 0)) > 0)
        for (long i = 0; i < length; i++) {
            if (used < LINE_BYTES)
                line[used++] = part[i];
            if (part[i] != '\n')
                continue;
            line[used - 1] = '\n';
            tell_line(teller, line, used);
            used = 0;
        }
}

static void tell(uint32_t tid) {
    struct teller teller = {.lane = {.kind = TRACKWAY_MAPPINGS, .must_wait = true}, .stream = {.tid = tid}};
    int file = (int)kernel_call(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (file < 0)
        return;
    take_room(&teller);
    __atomic_store_n(&known_count, 0, __ATOMIC_RELEASE);
    tell_all(&teller, file);
    __atomic_store_n(&known_count, teller.ranges, __ATOMIC_RELEASE);
    __trackway_hand_over(&teller.lane, teller.room.begin, 0);
    kernel_call(SYS_close, file, 0, 0, 0);
}

void begin_child_code(void) { is_telling = 0; }

void tell_of_code(const struct frames *frames, uint32_t tid) {
    if (LIKELY(all_are_known(frames)) || read_ticks() < __atomic_load_n(&next_look, __ATOMIC_RELAXED))
        return;
    uint64_t signals = block_signals();
    while (__atomic_exchange_n(&is_telling, 1, __ATOMIC_ACQUIRE))
        kernel_call(SYS_sched_yield, 0, 0, 0, 0);
    if (!all_are_known(frames)) {
        tell(tid);
        if (!all_are_known(frames) && ++vain_looks > VAIN_LOOKS)
            __atomic_store_n(&next_look, read_ticks() + TICKS_BETWEEN_LOOKS, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&is_telling, 0, __ATOMIC_RELEASE);
    restore_signals(signals);
}
