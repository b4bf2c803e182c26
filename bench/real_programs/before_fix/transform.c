// libsais, as bzip3 has it: the Burrows-Wheeler transform of random letters: its index, and a hash of it.
#include "random.h"
#include <stdio.h>
#include <stdlib.h>

#include "common.h"
#include "libsais.h"

int main(int count, char **words) {
    if (count < 2)
        return 2;
    s32 length = atoi(words[1]);
    u8 *text = malloc(length), *transformed = malloc(length);
    s32 *suffixes = calloc(length + 128, sizeof *suffixes);
    if (!text || !transformed || !suffixes)
        return 1;
    uint64_t state = 1, hash = 14695981039346656037u;
    for (s32 i = 0; i < length; i++)
        text[i] = "acgt"[next_number(&state) >> 29];
    s32 index = libsais_bwt(text, transformed, suffixes, length, 128, NULL);
    for (s32 i = 0; i < length; i++)
        hash = (hash ^ transformed[i]) * 1099511628211u;
    printf("%d %llx\n", (int)index, (unsigned long long)hash);
    free(suffixes);
    free(transformed);
    free(text);
}
