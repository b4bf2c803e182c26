// Return addresses against the plan's chains. Objects are found by their paths in /proc/self/maps, which is read again
// when an address is in no known code: objects come and go.
#include "sites.h"
#include "kernel.h"
#include "maps.h"
#include "stack_walk.h"

enum { MOST_RANGES = 1024, VAIN_LOOKS = 64, FRAMES_OF_OTHERS = 4 };
#define NO_OBJECT UINT32_MAX
#define TRACER (UINT32_MAX - 1) /* preload.so, whose frames stand between the caller and us */
// After so many looks in vain what is no code at all is looked for only now and then.
#define TICKS_BETWEEN_LOOKS (UINT64_C(1) << 25)

struct code_range {
    uintptr_t low, high, base;
    uint32_t object;
};

struct place_in_object {
    uint64_t offset;
    uint32_t object;
};

uint64_t __trackway_callers[KNOWN_CALLERS];
uint32_t __trackway_frames;
static THREAD_LOCAL struct stack_range own_stack;
static const struct plan *plan;
static struct code_range ranges[MOST_RANGES];
static uint32_t range_count, vain_looks;
static uint64_t next_look;
static uint32_t lock;

// Verdicts on callers are kept: at worst a block goes where those of an unloaded call site went.
void forget_addresses(void) {}

// ---- Code that is mapped -------------------------------------------------------------------------------------------

static uint32_t object_of(const struct mapping *mapping) {
    for (uint32_t i = 0; mapping->path && i < plan->object_count; i++)
        if (__builtin_strcmp(mapping->path, object_path(plan, i)) == 0)
            return i;
    return is_of_tracer(mapping) ? TRACER : NO_OBJECT;
}

// The begin of the object that a mapping belongs to: objects' mappings follow each other.
struct current {
    uint32_t object;
    uintptr_t base;
};

static void take_mapping(const struct mapping *mapping, void *context) {
    struct current *current = context;
    struct code_range range = {.low = mapping->low, .high = mapping->high};
    range.object = object_of(mapping);
    if (range.object != current->object) {
        current->object = range.object;
        current->base = range.low;
    }
    range.base = current->base;
    if (mapping->is_code && range_count < MOST_RANGES)
        ranges[range_count++] = range;
}

static void find_code(void) {
    struct current current = {NO_OBJECT, 0};
    range_count = 0;
    for_each_mapping(take_mapping, &current);
}

static const struct code_range *range_of(uintptr_t code) {
    for (uint32_t i = 0; i < range_count; i++)
        if (ranges[i].low <= code && code < ranges[i].high)
            return &ranges[i];
    return NULL;
}

// The lock is held. A return address may stand after the last instruction of its range.
static struct place_in_object place_of(uintptr_t code) {
    const struct code_range *range = range_of(code - 1);
    if (!range && __builtin_ia32_rdtsc() >= next_look) {
        find_code();
        range = range_of(code - 1);
        if (!range && ++vain_looks > VAIN_LOOKS)
            next_look = __builtin_ia32_rdtsc() + TICKS_BETWEEN_LOOKS;
    }
    if (!range)
        return (struct place_in_object){0, NO_OBJECT};
    return (struct place_in_object){code - range->base, range->object};
}

// ---- Chains --------------------------------------------------------------------------------------------------------

static bool is_at(const struct plan_frame *frame, struct place_in_object place) {
    return frame->object == place.object && frame->offset == place.offset;
}

static const struct plan_frame *first_of(uint32_t chain) { return plan_frames(plan) + plan_chains(plan)[chain].first; }

// The first chain that doesn't begin before the place.
static uint32_t first_chain(struct place_in_object place) {
    uint32_t first = 0, count = plan->chain_count;
    while (count > 0) {
        uint32_t half = count / 2;
        const struct plan_frame *frame = first_of(first + half);
        bool is_before = frame->object != place.object ? frame->object < place.object : frame->offset < place.offset;
        first = is_before ? first + half + 1 : first;
        count = is_before ? count - half - 1 : half;
    }
    return first;
}

static bool leads_along(uint32_t chain, const struct frames *frames, uint32_t from) {
    uint32_t count = plan_chains(plan)[chain].count;
    if (count > frames->count - from)
        return false;
    for (uint32_t i = 1; i < count; i++)
        if (!is_at(first_of(chain) + i, place_of(frames->of[from + i])))
            return false;
    return true;
}

static bool matches(const struct frames *frames) {
    uint32_t from = 0;
    struct place_in_object place = place_of(frames->of[0]);
    while (place.object == TRACER && from + 1 < frames->count)
        place = place_of(frames->of[++from]);
    for (uint32_t chain = first_chain(place); chain < plan->chain_count && is_at(first_of(chain), place); chain++)
        if (leads_along(chain, frames, from))
            return true;
    return false;
}

static enum verdict verdict_on(struct place_in_object place) {
    if (place.object == TRACER)
        return BY_STACK;
    enum verdict verdict = NOT_ADVISED;
    for (uint32_t chain = first_chain(place); chain < plan->chain_count && is_at(first_of(chain), place); chain++) {
        if (plan_chains(plan)[chain].count == 1)
            return ADVISED;
        verdict = BY_STACK;
    }
    return verdict;
}

void enter_sites(void) {
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
        kernel_call(SYS_sched_yield, 0, 0, 0, 0);
}

void leave_sites(void) { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }

// Signals are blocked, since a handler that allocates would wait for the lock for ever.
static uint64_t enter(void) {
    uint64_t signals = block_signals();
    enter_sites();
    return signals;
}

static void leave(uint64_t signals) {
    leave_sites();
    restore_signals(signals);
}

enum verdict judge(uintptr_t caller) {
    uint64_t signals = enter();
    struct place_in_object place = place_of(caller);
    enum verdict verdict = verdict_on(place);
    // An address in no known code may be in known code later.
    if (place.object != NO_OBJECT || range_of(caller - 1))
        __atomic_store_n(&__trackway_callers[(caller >> 2 ^ caller >> 14) % KNOWN_CALLERS],
                         (uint64_t)caller << VERDICT_BITS | verdict, __ATOMIC_RELAXED);
    leave(signals);
    return verdict;
}

bool is_advised_by_stack(const uintptr_t *frame) {
    struct frames frames;
    if (own_stack.high == 0)
        find_stack(&own_stack);
    walk(frame, end_of_stack(&own_stack, frame), &frames, NULL);
    uint64_t signals = enter();
    bool advised = matches(&frames);
    leave(signals);
    return advised;
}

void begin_sites(const struct plan *of) {
    plan = of;
    uint32_t frames = of->longest_chain + FRAMES_OF_OTHERS;
    __trackway_frames = frames < MOST_FRAMES ? frames : MOST_FRAMES;
    find_code();
}
