// How far library functions read, where neither their arguments nor their results tell. Recording code asks after the
// call, or before it where that frees the memory. None reads a byte that the library function may not read, sets errno
// or records; of null, all read nothing.
#include "runtime.h"

#include <stdlib.h>

#define EXTENT(NAME) VISIBLE uint64_t __trackway_extent_##NAME

static uint64_t smaller(uint64_t left, uint64_t right) { return left < right ? left : right; }

// ---- Strings ----

EXTENT(length)(const char *string, uint64_t limit) {
    uint64_t length = 0;
    while (string && length < limit && string[length])
        length++;
    return length;
}

// In characters.
EXTENT(wide_length)(const wchar_t *string, uint64_t limit) {
    uint64_t length = 0;
    while (string && length < limit && string[length])
        length++;
    return length;
}

// ---- Comparisons ----

typedef uint64_t __attribute__((aligned(1), may_alias)) word;

// Bytes of two words before the first that differs; they do differ.
static uint64_t equal_bytes(uint64_t left, uint64_t right) {
    bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    return (uint64_t)(is_little ? __builtin_ctzll(left ^ right) : __builtin_clzll(left ^ right)) / 8;
}

// Up to and with the first byte that differs, else all. Programs compare short keys often.
EXTENT(difference)(const uint8_t *left, const uint8_t *right, uint64_t size) {
    if (!left || !right)
        return 0;
    uint64_t place = 0;
    for (; size - place >= 8; place += 8) {
        uint64_t in_left = *(const word *)(left + place), in_right = *(const word *)(right + place);
        if (in_left != in_right)
            return place + equal_bytes(in_left, in_right) + 1;
    }
    while (place < size && left[place] == right[place])
        place++;
    return smaller(place + 1, size);
}

// Up to and with the first character that differs or ends both strings, at most `limit`.
EXTENT(mismatch)(const char *left, const char *right, uint64_t limit) {
    if (!left || !right)
        return 0;
    uint64_t place = 0;
    while (place < limit && left[place] == right[place] && left[place])
        place++;
    return smaller(place + 1, limit);
}

static int lower(char letter) { return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter; }

EXTENT(case_mismatch)(const char *left, const char *right, uint64_t limit) {
    if (!left || !right)
        return 0;
    uint64_t place = 0;
    while (place < limit && lower(left[place]) == lower(right[place]) && left[place])
        place++;
    return smaller(place + 1, limit);
}

// ---- Numbers ----

static bool is_space(char letter) { return letter == ' ' || (letter >= '\t' && letter <= '\r'); }

// 36 for what is no digit in any base.
static uint64_t digit_of(char letter) {
    int small = lower(letter);
    if (letter >= '0' && letter <= '9')
        return (uint64_t)(letter - '0');
    return small >= 'a' && small <= 'z' ? (uint64_t)(small - 'a' + 10) : 36;
}

static const char *past_sign(const char *text) {
    while (is_space(*text))
        text++;
    return *text == '+' || *text == '-' ? text + 1 : text;
}

static const char *past_digits(const char *text, uint64_t base) {
    while (digit_of(*text) < base)
        text++;
    return text;
}

static bool has_prefix(const char *text, char letter, uint64_t base) {
    return text[0] == '0' && lower(text[1]) == letter && digit_of(text[2]) < base;
}

// With the character that ends the number.
EXTENT(integer)(const char *text, uint64_t base) {
    if (!text || base == 1 || base > 36)
        return 0;
    const char *place = past_sign(text);
    if ((base == 0 || base == 16) && has_prefix(place, 'x', 16))
        return (uint64_t)(past_digits(place + 2, 16) - text) + 1;
    if (base == 0)
        base = *place == '0' ? 8 : 10;
    return (uint64_t)(past_digits(place, base) - text) + 1;
}

// The end of `word` in lower case if the text begins with it, else the text.
static const char *past_word(const char *text, const char *word) {
    const char *place = text;
    for (; *word; word++, place++)
        if (lower(*place) != *word)
            return text;
    return place;
}

static const char *past_not_a_number(const char *text) {
    const char *end = past_word(text, "nan");
    if (end == text || *end != '(')
        return end;
    const char *place = end + 1;
    while (digit_of(*place) < 36 || *place == '_')
        place++;
    return *place == ')' ? place + 1 : end;
}

static const char *past_exponent(const char *text, char letter) {
    if (lower(*text) != letter)
        return text;
    const char *digits = text[1] == '+' || text[1] == '-' ? text + 2 : text + 1;
    return digit_of(*digits) < 10 ? past_digits(digits, 10) : text;
}

static const char *past_fraction(const char *text, uint64_t base) {
    const char *place = past_digits(text, base);
    return *place == '.' ? past_digits(place + 1, base) : place;
}

// With the character that ends the number, as the C locale writes numbers.
EXTENT(real)(const char *text) {
    if (!text)
        return 0;
    const char *begin = past_sign(text), *end = past_word(begin, "infinity");
    if (end == begin)
        end = past_word(begin, "inf");
    if (end == begin)
        end = past_not_a_number(begin);
    if (end == begin && has_prefix(begin, 'x', 16))
        end = past_exponent(past_fraction(begin + 2, 16), 'p');
    if (end == begin)
        end = past_exponent(past_fraction(begin, 10), 'e');
    return (uint64_t)(end - text) + 1;
}

// ---- Blocks ----

// What stands before each block of the GNU C library's allocator: all bytes of the chunk, with its own and three flags.
static uint64_t chunk_of(const void *block) { return ((const size_t *)block)[-1]; }

static const uint64_t chunk_flags = 7, chunk_has_pages = 2, page_bytes = 4096;

// The exported name of the C library's own function; null in a static program with another allocator.
extern void *__libc_realloc(void *, size_t) __attribute__((weak));

// Bytes that `realloc` copies if it moves the block: as many as the program may use of it. 0 if the block has pages of
// its own, for these are mapped elsewhere, and of another allocator, of which nothing is known.
EXTENT(block)(const void *block) {
    if (!block || realloc != __libc_realloc)
        return 0;
    uint64_t chunk = chunk_of(block);
    return chunk & chunk_has_pages ? 0 : (chunk & ~chunk_flags) - sizeof(size_t);
}

// The same where the program knows the size, and the allocator may be another one: its blocks of one or more pages
// don't begin where pages of the C library do, or something else than such a chunk's size stands before them.
EXTENT(copied)(const void *block, uint64_t size) {
    bool may_have_pages = block && (uintptr_t)block % page_bytes == 2 * sizeof(size_t);
    uint64_t chunk = may_have_pages ? chunk_of(block) : 0, bytes = chunk & ~chunk_flags;
    bool has_pages = chunk & chunk_has_pages && bytes % page_bytes == 0 && bytes >= size + 2 * sizeof(size_t);
    return block && !has_pages ? size : 0;
}
