#include "spans.h"

static void insert(struct spans *spans, size_t at, struct span span) {
    if (spans->count == MOST_SPANS || span.begin == span.end)
        return;
    __builtin_memmove(spans->of + at + 1, spans->of + at, (spans->count - at) * sizeof span);
    spans->of[at] = span;
    spans->count++;
}

static void remove(struct spans *spans, size_t at) {
    spans->count--;
    __builtin_memmove(spans->of + at, spans->of + at + 1, (spans->count - at) * sizeof *spans->of);
}

// Leaves what is in front of the addresses and after them.
static void cut(struct spans *spans, size_t at, uintptr_t begin, uintptr_t end) {
    struct span whole = spans->of[at];
    remove(spans, at);
    insert(spans, at, (struct span){end, whole.end});
    insert(spans, at, (struct span){whole.begin, begin});
}

uintptr_t take_span(struct spans *spans, size_t length, size_t alignment) {
    for (size_t at = 0; at < spans->count; at++) {
        uintptr_t begin = (spans->of[at].begin + alignment - 1) / alignment * alignment;
        if (begin > spans->of[at].end || spans->of[at].end - begin < length)
            continue;
        cut(spans, at, begin, begin + length);
        return begin;
    }
    return 0;
}

// The first span that ends after the address.
static size_t first_behind(const struct spans *spans, uintptr_t address) {
    size_t first = 0, count = spans->count;
    while (count > 0) {
        size_t half = count / 2;
        bool is_behind = spans->of[first + half].end > address;
        first = is_behind ? first : first + half + 1;
        count = is_behind ? half : count - half - 1;
    }
    return first;
}

bool take_span_at(struct spans *spans, uintptr_t begin, size_t length) {
    size_t at = first_behind(spans, begin);
    if (at == spans->count || spans->of[at].begin > begin || spans->of[at].end - begin < length)
        return false;
    cut(spans, at, begin, begin + length);
    return true;
}

void give_span(struct spans *spans, uintptr_t begin, size_t length) {
    struct span span = {begin, begin + length};
    size_t at = first_behind(spans, begin);
    if (at > 0 && spans->of[at - 1].end == begin) {
        span.begin = spans->of[--at].begin;
        remove(spans, at);
    }
    if (at < spans->count && spans->of[at].begin == span.end) {
        span.end = spans->of[at].end;
        remove(spans, at);
    }
    insert(spans, at, span);
}
