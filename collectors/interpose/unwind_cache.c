// Filling the table of rules, and clearing it when objects vanish.
#include "unwind_cache.h"
#include "ring.h"
#include "unwind_object.h"

#include <dlfcn.h>
#include <link.h>

uint64_t __trackway_rules[1 << PLACE_BITS];
uint32_t __trackway_unloaded;

static void store(uintptr_t code, rule rule) {
    uint64_t word = spread(code);
    __atomic_store_n(&__trackway_rules[word >> (ADDRESS_SIZE - PLACE_BITS)], word << RULE_BITS | rule,
                     __ATOMIC_RELAXED);
}

// The call stands before the address to which it returns, maybe at the end of its function.
rule look_up_rule(uintptr_t code) {
    struct unwind_object object;
    uint32_t unloaded = __atomic_load_n(&__trackway_unloaded, __ATOMIC_ACQUIRE);
    // An object may be loaded there later: so what is no object's is asked for each time.
    if (code >> (ADDRESS_SIZE - 1) != 0 || !find_object(code - 1, &object))
        return FRAME_POINTERS;
    rule found = FRAME_POINTERS;
    if (object.header)
        found = find_rule(&object.segment, object.header, code - 1);
    if (unloaded == __atomic_load_n(&__trackway_unloaded, __ATOMIC_ACQUIRE))
        store(code, found);
    return found;
}

static int take_unloadings(struct dl_phdr_info *object, size_t size, void *count) {
    (void)size;
    *(unsigned long long *)count = object->dlpi_subs;
    return 1;
}

static void forget_unloaded(void) {
    static unsigned long long seen;
    unsigned long long unloadings = 0;
    dl_iterate_phdr(take_unloadings, &unloadings);
    if (__atomic_exchange_n(&seen, unloadings, __ATOMIC_RELAXED) == unloadings)
        return;
    __atomic_fetch_add(&__trackway_unloaded, 1, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < 1 << PLACE_BITS; i++)
        __atomic_store_n(&__trackway_rules[i], 0, __ATOMIC_RELAXED);
    forget_addresses();
}

// Other code may come to stand where the object stood.
VISIBLE int dlclose(void *handle) {
    int (*next)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
    int result = next(handle);
    forget_unloaded();
    return result;
}
