// Searches a file for each of some regular expressions, as often as the second argument says, and counts matches.
#include "oniguruma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const patterns[] = {
    "sqlite3_[a-z]+_(?:v2|text|blob)",
    "\\b(?:static|const)\\s+(?:int|char|void)\\s+\\*?(\\w+)\\(",
    "(?i)return\\s+SQLITE_(OK|ERROR|NOMEM)",
    "/\\*(?:[^*]|\\*(?!/)){20,60}\\*/",
    "([a-z])\\1{2,}",
    "0x[0-9a-fA-F]{4,}u?",
    "(?<=->)(\\w+)\\s*=\\s*\\1",
};

static char *read_file(const char *name, size_t most, size_t *size) {
    FILE *file = fopen(name, "rb");
    char *text = malloc(most);
    *size = file ? fread(text, 1, most, file) : 0;
    if (file)
        fclose(file);
    return text;
}

static void search(const char *pattern, const UChar *text, size_t size) {
    regex_t *regex;
    OnigErrorInfo error;
    const UChar *begin = (const UChar *)pattern;
    if (onig_new(&regex, begin, begin + strlen(pattern), ONIG_OPTION_DEFAULT, ONIG_ENCODING_UTF8, ONIG_SYNTAX_PERL,
                 &error)) {
        fprintf(stderr, "regex: %s\n", pattern);
        exit(1);
    }
    OnigRegion *region = onig_region_new();
    unsigned long long matches = 0, sum = 0;
    const UChar *end = text + size;
    for (const UChar *at = text; at < end; matches++) {
        if (onig_search(regex, text, end, at, end, region, ONIG_OPTION_NONE) < 0)
            break;
        sum = sum * 31 + (unsigned long long)region->beg[0];
        at = text + (region->end[0] > region->beg[0] ? region->end[0] : region->end[0] + 1);
    }
    printf("%llu %016llx %s\n", matches, sum, pattern);
    onig_region_free(region, 1);
    onig_free(regex);
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
    onig_initialize(encodings, 1);
    size_t size;
    char *text = read_file(argv[1], (size_t)atoll(argv[2]), &size);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        search(patterns[i], (const UChar *)text, size);
    onig_end();
    free(text);
    return size == 0;
}
