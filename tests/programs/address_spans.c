// Takes and gives spans of addresses at random (collectors/place/spans.c), and compares them with a map of single
// pages.
#include "spans.h"

#include <stdio.h>
#include <stdlib.h>

enum { PAGES = 3000, STEPS = 200000, MOST_HELD = 400, FIRST_PAGE = 7 };
#define PAGE ((uintptr_t)4096)

struct held {
    size_t page, pages;
};

static struct spans spans;
static bool taken[PAGES];
static struct held held[MOST_HELD];
static size_t held_count;
static unsigned seed = 1;

static unsigned draw(unsigned below) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

static void complain(const char *what) {
    puts(what);
    exit(1);
}

static uintptr_t address_of(size_t page) { return (FIRST_PAGE + page) * PAGE; }

static bool is_free(size_t page, size_t pages) {
    for (size_t i = page; i < page + pages; i++)
        if (i >= PAGES || taken[i])
            return false;
    return true;
}

static void mark(size_t page, size_t pages, bool value) {
    for (size_t i = page; i < page + pages; i++) {
        if (i >= PAGES || taken[i] == value)
            complain("taken twice");
        taken[i] = value;
    }
}

// The lowest place that fits, by the map.
static uintptr_t expected(size_t pages, size_t alignment) {
    for (size_t page = 0; page < PAGES; page++)
        if (address_of(page) % alignment == 0 && is_free(page, pages))
            return address_of(page);
    return 0;
}

static void hold(uintptr_t begin, size_t pages) {
    size_t page = begin / PAGE - FIRST_PAGE;
    mark(page, pages, true);
    held[held_count++] = (struct held){page, pages};
}

static void take(void) {
    size_t pages = 1 + draw(draw(10) == 0 ? 200 : 20), alignment = PAGE << draw(5);
    uintptr_t begin = take_span(&spans, pages * PAGE, alignment);
    if (begin != expected(pages, alignment))
        complain("another place than the first one");
    if (begin)
        hold(begin, pages);
}

static void take_at(void) {
    size_t page = draw(PAGES), pages = 1 + draw(8);
    bool was_free = is_free(page, pages);
    if (take_span_at(&spans, address_of(page), pages * PAGE) != was_free)
        complain("taken, or not, though it was free, or not");
    if (was_free)
        hold(address_of(page), pages);
}

// All of what is held, or only its end.
static void give(void) {
    struct held *one = &held[draw((unsigned)held_count)];
    size_t kept = draw(3) == 0 ? draw((unsigned)one->pages) : 0;
    give_span(&spans, address_of(one->page + kept), (one->pages - kept) * PAGE);
    mark(one->page + kept, one->pages - kept, false);
    one->pages = kept;
    if (kept == 0)
        *one = held[--held_count];
}

int main(void) {
    give_span(&spans, address_of(0), PAGES * PAGE);
    for (int step = 0; step < STEPS; step++)
        if (held_count == MOST_HELD || (held_count > 0 && draw(2)))
            give();
        else if (draw(3) == 0)
            take_at();
        else
            take();
    while (held_count > 0)
        give();
    if (spans.count != 1 || spans.of[0].begin != address_of(0) || spans.of[0].end != address_of(PAGES))
        complain("not whole in the end");
    puts("as the map has it");
    return 0;
}
