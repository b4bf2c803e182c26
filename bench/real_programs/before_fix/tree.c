// cJSON: reads a document several times, and adds up its numbers. With -DPOOL all of a document comes from one block.
#include "cJSON.h"
#include "random.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef POOL
static char *pool;
static size_t used;
static void *from_pool(size_t bytes) {
    void *block = pool + used;
    used += (bytes + 15) / 16 * 16;
    return block;
}
static void leave(void *block) { (void)block; }
#endif

static double sum_of(const cJSON *item) {
    double sum = cJSON_IsNumber(item) ? item->valuedouble : 0;
    for (const cJSON *child = item->child; child; child = child->next)
        sum += sum_of(child);
    return sum;
}

int main(int count, char **words) {
    if (count < 3)
        return 2;
    int rows = atoi(words[1]), rounds = atoi(words[2]);
    char *text = malloc(rows * 64ul + 3), *end = text;
    uint64_t state = 1;
    *end++ = '[';
    for (int i = 0; i < rows; i++)
        end += sprintf(end, "%s{\"id\":%d,\"at\":[%u,%u]}", i ? "," : "", i, next_number(&state) % 1000,
                       next_number(&state) % 1000);
    strcpy(end, "]");
    double sum = 0;
#ifdef POOL
    pool = malloc(rows * 640ul + 4096);
    cJSON_Hooks hooks = {from_pool, leave};
    cJSON_InitHooks(&hooks);
#endif
    for (int i = 0; i < rounds; i++) {
#ifdef POOL
        used = 0;
#endif
        cJSON *document = cJSON_Parse(text);
        for (int j = 0; j < 5; j++)
            sum += sum_of(document);
        cJSON_Delete(document);
    }
    printf("%.0f\n", sum);
}
