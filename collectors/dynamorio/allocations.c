// What the program's allocators gave and took back. Calls of an allocator by itself are its own affair.
#include "client.h"

#include "drmgr.h"
#include "drwrap.h"
#include "hashtable.h"

#include <string.h>

enum { NO_ARGUMENT = -1, RESULT_IS_STATUS = 1, SITE_TABLE_BITS = 10 };

// The meaning of each argument; the size is the product of two if there is a count.
struct allocator {
    const char *name;
    enum trackway_note_kind note;
    int8_t size, count, old, result;
    int8_t status; // RESULT_IS_STATUS: 0 is success, and the address is where argument `result` points
};

static const struct allocator allocators[] = {
    {"malloc", TRACKWAY_ALLOCATED, 0, NO_ARGUMENT, NO_ARGUMENT, NO_ARGUMENT, 0},
    {"calloc", TRACKWAY_ALLOCATED, 1, 0, NO_ARGUMENT, NO_ARGUMENT, 0},
    {"realloc", TRACKWAY_REALLOCATED, 1, NO_ARGUMENT, 0, NO_ARGUMENT, 0},
    {"reallocarray", TRACKWAY_REALLOCATED, 2, 1, 0, NO_ARGUMENT, 0},
    {"memalign", TRACKWAY_ALLOCATED, 1, NO_ARGUMENT, NO_ARGUMENT, NO_ARGUMENT, 0},
    {"aligned_alloc", TRACKWAY_ALLOCATED, 1, NO_ARGUMENT, NO_ARGUMENT, NO_ARGUMENT, 0},
    {"posix_memalign", TRACKWAY_ALLOCATED, 2, NO_ARGUMENT, NO_ARGUMENT, 0, RESULT_IS_STATUS},
    {"valloc", TRACKWAY_ALLOCATED, 0, NO_ARGUMENT, NO_ARGUMENT, NO_ARGUMENT, 0},
    {"pvalloc", TRACKWAY_ALLOCATED, 0, NO_ARGUMENT, NO_ARGUMENT, NO_ARGUMENT, 0},
    {"free", TRACKWAY_FREED, NO_ARGUMENT, NO_ARGUMENT, 0, NO_ARGUMENT, 0},
    {"cfree", TRACKWAY_FREED, NO_ARGUMENT, NO_ARGUMENT, 0, NO_ARGUMENT, 0},
};

enum { ALLOCATORS = sizeof allocators / sizeof allocators[0] };

static hashtable_t sites; // ids of notes, by call and allocator
static hashtable_t watched;

static uint32_t note_of_call(app_pc call, const struct allocator *allocator) {
    uint64_t key = (uint64_t)(uintptr_t)call ^ (uint64_t)(allocator - allocators + 1) << 56;
    hashtable_lock(&sites);
    uint32_t id = (uint32_t)(uintptr_t)hashtable_lookup(&sites, (void *)(uintptr_t)key);
    if (id == 0) {
        id = define_note(allocator->note, call, allocator->name);
        hashtable_add(&sites, (void *)(uintptr_t)key, (void *)(uintptr_t)id);
    }
    hashtable_unlock(&sites);
    return id;
}

static uint64_t argument(void *wrap, int number) {
    return number == NO_ARGUMENT ? 0 : (uint64_t)(uintptr_t)drwrap_get_arg(wrap, number);
}

static uint64_t wanted_size(void *wrap, const struct allocator *allocator) {
    uint64_t count = allocator->count == NO_ARGUMENT ? 1 : argument(wrap, allocator->count);
    return argument(wrap, allocator->size) * count;
}

// A call returns after itself.
static app_pc call_site(void *wrap) { return drwrap_get_retaddr(wrap) - 1; }

static void before_call(void *wrap, void **user) {
    const struct allocator *allocator = *user;
    struct allocation *allocation = &state_of(drwrap_get_drcontext(wrap))->allocation;
    if (allocation->depth++ > 0)
        return;
    *allocation = (struct allocation){
        .depth = 1,
        .call = call_site(wrap),
        .old = argument(wrap, allocator->old),
        .size = wanted_size(wrap, allocator),
        .result = argument(wrap, allocator->result),
    };
    // A block may be another thread's before `free` returns.
    if (allocator->note == TRACKWAY_FREED && allocation->old != 0)
        put_note(state_of(drwrap_get_drcontext(wrap)), note_of_call(allocation->call, allocator), &allocation->old, 1);
}

static uint64_t result_of(void *wrap, const struct allocator *allocator, const struct allocation *allocation) {
    uint64_t result = (uint64_t)(uintptr_t)drwrap_get_retval(wrap), stored = 0;
    if (allocator->status != RESULT_IS_STATUS)
        return result;
    bool succeeded = (uint32_t)result == 0;
    return succeeded && dr_safe_read((void *)(uintptr_t)allocation->result, sizeof stored, &stored, NULL) ? stored : 0;
}

// `wrap` is none where the call was left otherwise than by its return.
static void after_call(void *wrap, void *user) {
    const struct allocator *allocator = user;
    struct thread_state *state = state_of(dr_get_current_drcontext());
    struct allocation *allocation = &state->allocation;
    if (!wrap) {
        allocation->depth = 0;
        return;
    }
    if (allocation->depth == 0 || --allocation->depth > 0 || allocator->note == TRACKWAY_FREED)
        return;
    uint64_t address = result_of(wrap, allocator, allocation);
    uint64_t roots[3] = {allocation->old, address, allocation->size};
    bool has_old = allocator->note == TRACKWAY_REALLOCATED;
    put_note(state, note_of_call(allocation->call, allocator), has_old ? roots : roots + 1, has_old ? 3 : 2);
}

static void each_allocator(const module_data_t *module, bool wraps) {
    for (int i = 0; i < ALLOCATORS; i++) {
        app_pc code = (app_pc)dr_get_proc_address(module->handle, allocators[i].name);
        void *user = (void *)&allocators[i];
        if (code && wraps) {
            hashtable_add(&watched, code, user);
            drwrap_wrap_ex(code, before_call, after_call, user, DRWRAP_UNWIND_ON_EXCEPTION);
        } else if (code) {
            drwrap_unwrap(code, before_call, after_call);
            hashtable_remove(&watched, code);
        }
    }
}

bool is_watched(app_pc code) { return hashtable_lookup(&watched, code) != NULL; }

void watch_allocators(const module_data_t *module) { each_allocator(module, true); }
void unwatch_allocators(const module_data_t *module) { each_allocator(module, false); }

void begin_allocations(void) {
    drwrap_init();
    drwrap_set_global_flags(DRWRAP_NO_FRILLS | DRWRAP_FAST_CLEANCALLS);
    hashtable_init_ex(&sites, SITE_TABLE_BITS, HASH_INTPTR, false, false, NULL, NULL, NULL);
    hashtable_init_ex(&watched, SITE_TABLE_BITS, HASH_INTPTR, false, true, NULL, NULL, NULL);
}

void end_allocations(void) {
    hashtable_delete(&watched);
    hashtable_delete(&sites);
    drwrap_exit();
}
