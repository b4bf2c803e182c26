// Loads one library after the other, at the same address, and allocates below each; prints where they were.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *volatile kept;

static void allocate(void) {
    kept = malloc(4000);
    free(kept);
}

__attribute__((noinline)) static int call_in(const char *library) {
    void *handle = dlopen(library, RTLD_NOW);
    int (*call_below)(void (*)(void)) = (int (*)(void (*)(void)))dlsym(handle, "call_below");
    int result = call_below(allocate);
    fprintf(stderr, "%p\n", (void *)call_below);
    dlclose(handle);
    return result;
}

int main(int count, char **libraries) {
    int result = 0;
    for (int i = 1; i < count; i++)
        result += call_in(libraries[i]);
    return result == 0;
}
