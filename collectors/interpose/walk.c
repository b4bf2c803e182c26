// Walking a stack by the rules of .eh_frame.
#include "stack_walk.h"

enum { WORDS_OF_FRAME = 2 };

struct walk {
    const uintptr_t *frame; // of our function: nothing below is read
    uintptr_t high;         // nor anything from here on
    uintptr_t code;         // where the present function goes on
    uintptr_t stack_pointer;
    uintptr_t frame_pointer;    // the register rbp, if it is read already
    uintptr_t frame_pointer_at; // else where it stands; 0: it is read
    struct memo *memo;
    uint32_t words, pairs; // of the memo
    uint64_t last_place;   // of a word that is no pair's; 0: of none
};

// Whether the word stands before the one that was read last. Those of our own frame were stored a moment ago, each by
// itself: to load them as one would wait for both stores.
static bool begins_pair(const struct walk *walk, uint64_t place) {
    return place >= WORDS_OF_FRAME && place + 1 == walk->last_place;
}

static void note(struct walk *walk, uintptr_t at, uintptr_t word) {
    struct memo *memo = walk->memo;
    uint64_t place = (at - (uintptr_t)walk->frame) / sizeof word;
    if (!memo)
        return;
    if (walk->words + 2 * walk->pairs == MOST_WORDS) {
        memo->is_incomplete = true;
        walk->memo = NULL;
    } else if (begins_pair(walk, place)) {
        uintptr_t second = memo->read[--walk->words].word;
        union read_word *pair = memo->read + MOST_WORDS - 2 * (size_t)++walk->pairs;
        pair[0].place = place;
        pair[1].both = (__typeof__(pair->both)){word, second};
        walk->last_place = 0; // no third one belongs to them
    } else {
        memo->read[walk->words++] = (union read_word){.word = word, .place = place};
        walk->last_place = place;
    }
}

static bool read_word(struct walk *walk, uintptr_t at, uintptr_t *word) {
    if (at < (uintptr_t)walk->frame || at >= walk->high || walk->high - at < sizeof *word || at % sizeof *word != 0)
        return false;
    *word = *(const uintptr_t *)at;
    note(walk, at, *word);
    return true;
}

// Not every function needs its caller's rbp; so it is read where one does.
static bool read_frame_pointer(struct walk *walk) {
    if (walk->frame_pointer_at == 0)
        return true;
    bool is_read = read_word(walk, walk->frame_pointer_at, &walk->frame_pointer);
    walk->frame_pointer_at = 0;
    return is_read;
}

// Goes to the caller whose stack pointer this is. The stack pointer grows, so that the walk ends.
static bool go_to(struct walk *walk, uintptr_t cfa) {
    if (cfa <= walk->stack_pointer || !read_word(walk, cfa - sizeof cfa, &walk->code))
        return false;
    walk->stack_pointer = cfa;
    return true;
}

static void follow_frame_pointer(struct walk *walk, uintptr_t cfa, uint32_t saved) {
    if (saved == SAVED_NOWHERE)
        return;
    walk->frame_pointer_at = saved == SAVED_LOST ? 0 : cfa - saved * sizeof cfa;
    walk->frame_pointer = 1; // no frame is there
}

static bool step_described(struct walk *walk, rule rule) {
    uintptr_t base = walk->stack_pointer;
    if (kind_of(rule) == FROM_FRAME_POINTER) {
        if (!read_frame_pointer(walk))
            return false;
        base = walk->frame_pointer;
    }
    uintptr_t cfa = base + distance_of(rule) * sizeof cfa;
    if (!go_to(walk, cfa))
        return false;
    follow_frame_pointer(walk, cfa, saved_of(rule));
    return true;
}

static bool step_realigned(struct walk *walk, rule rule) {
    uintptr_t cfa, at;
    if (!read_frame_pointer(walk))
        return false;
    at = walk->frame_pointer;
    if (!read_word(walk, at - distance_of(rule) * sizeof cfa, &cfa) || !go_to(walk, cfa))
        return false;
    walk->frame_pointer_at = at;
    return true;
}

static bool step_by_frame_pointer(struct walk *walk) {
    if (!read_frame_pointer(walk))
        return false;
    uintptr_t at = walk->frame_pointer;
    if (at == 0) { // as threads begin
        walk->code = 0;
        return true;
    }
    walk->frame_pointer_at = at;
    return go_to(walk, at + 2 * sizeof at);
}

// Bytes from the stack pointer of code that returns from a handler to registers of the interrupted code: the kernel's
// struct ucontext.
enum { SAVED_RBP = 120, SAVED_RSP = 160, SAVED_RIP = 168 };

static bool step_out_of_handler(struct walk *walk) {
    uintptr_t context = walk->stack_pointer;
    bool are_read =
        read_word(walk, context + SAVED_RIP, &walk->code) && read_word(walk, context + SAVED_RSP, &walk->stack_pointer);
    walk->frame_pointer_at = context + SAVED_RBP;
    // The interrupted instruction is the one that counts; of return addresses it is the one before.
    walk->code++;
    return are_read && walk->stack_pointer > context;
}

// Goes on to the caller; how the stack ends if there is none, and FRAME_LIMIT if there is one.
static enum stack_end step(struct walk *walk) {
    rule rule = rule_for(walk->code);
    bool goes_on = false;
    switch (kind_of(rule)) {
    case FROM_STACK_POINTER:
    case FROM_FRAME_POINTER:
        goes_on = step_described(walk, rule);
        break;
    case REALIGNED:
        goes_on = step_realigned(walk, rule);
        break;
    case FRAME_POINTERS:
        goes_on = step_by_frame_pointer(walk);
        break;
    case SIGNAL_RETURN:
        goes_on = step_out_of_handler(walk);
        break;
    case OUTERMOST_FUNCTION:
        return OUTERMOST;
    default:
        break;
    }
    return !goes_on ? CUT : walk->code == 0 ? OUTERMOST : FRAME_LIMIT;
}

void walk(const uintptr_t *frame, uintptr_t high, struct frames *frames, struct memo *memo) {
    struct walk walk = {.frame = frame,
                        .high = high,
                        .code = frame[1],
                        .stack_pointer = (uintptr_t)(frame + 2),
                        .frame_pointer_at = (uintptr_t)frame,
                        .memo = memo};
    uint32_t count = 0, hash = 0;
    note(&walk, (uintptr_t)(frame + 1), walk.code);
    enum stack_end end;
    do {
        frames->of[count++] = walk.code;
        hash = (hash << 5 | hash >> 27) ^ (uint32_t)walk.code;
        end = step(&walk);
    } while (end == FRAME_LIMIT && count < __trackway_frames);
    frames->count = count;
    frames->hash = hash;
    frames->end = end;
    if (memo) {
        memo->word_count = walk.words;
        memo->pair_count = walk.pairs;
    }
}
