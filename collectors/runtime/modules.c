// The modules of a program and of its shared objects: they get ids, and are made known to each recorder.
#include "kernel.h"
#include "runtime.h"

#include <errno.h>

// Those that record, in a process to which a recorder may come at any time.
static struct trackway_module *registered;
// 1: a thread changes the list, or makes modules known.
static uint32_t is_locked;

bool __trackway_try_to_lock_modules(void) { return __atomic_exchange_n(&is_locked, 1, __ATOMIC_ACQUIRE) == 0; }

void __trackway_unlock_modules(void) {
    __atomic_store_n(&is_locked, 0, __ATOMIC_RELEASE);
    futex_wake(&is_locked);
}

static void lock_modules(void) {
    while (!__trackway_try_to_lock_modules())
        futex_wait(&is_locked, 1, 1);
}

struct sender {
    struct lane lane;
    struct stream thread;
    struct room room;
};

static void send(struct sender *sender, const void *bytes, uint64_t length) {
    const unsigned char *from = bytes;
    for (uint64_t i = 0; i < length; i++) {
        if (sender->room.begin == sender->room.end) {
            __trackway_hand_over(&sender->lane, sender->room.begin, 0);
            sender->room = __trackway_take(&sender->lane, &sender->thread);
        }
        *sender->room.begin++ = from[i];
    }
}

// Sends the module payload of docs/format.md, section 1.3. False if the recorder did not take it.
static bool send_module(const struct trackway_module *module, uint32_t first_id, uint32_t session) {
    struct sender sender = {
        .lane = {.kind = TRACKWAY_MODULE, .stream = first_id, .must_wait = true},
        .thread = {.tid = (uint32_t)kernel_call(SYS_gettid, 0, 0, 0, 0), .session = session},
    };
    uint32_t ids[2] = {first_id, module->segment_count};
    uint64_t address = (uint64_t)module;
    uint32_t symbols[2] = {(uint32_t)module->symbol_count, (uint32_t)(module->counter_offset / sizeof(uint64_t))};
    send(&sender, ids, sizeof ids);
    send(&sender, (const unsigned char *)module->table + 16, 8); // the table's key
    send(&sender, &address, sizeof address);
    send(&sender, symbols, sizeof symbols);
    send(&sender, (const void *)module->symbols, module->symbol_count * sizeof module->symbols[0]);
    send(&sender, &module->table_length, sizeof module->table_length);
    send(&sender, module->table, module->table_length);
    if (module->counter_count)
        send(&sender, &__trackway_process.image, sizeof __trackway_process.image);
    __trackway_hand_over(&sender.lane, sender.room.begin, TRACKWAY_LAST);
    return sender.lane.dropped == 0;
}

bool __trackway_send_modules(uint32_t session) {
    for (const struct trackway_module *module = registered; module; module = module->next)
        if (!send_module(module, module->id_base >> 8, session))
            return false;
    return true;
}

static uint32_t take_ids(struct trackway_ring *ring, const struct trackway_module *module) {
    // A module that counts takes one, so that its number is its own.
    uint32_t first = __trackway_take_ids(ring, module->segment_count ? module->segment_count : 1);
    if (!first)
        __trackway_complain("more than 16,777,215 segments: one module of this program runs unrecorded");
    return first;
}

// Of the first such module; those of others mean the same.
static uint32_t region_record;

uint32_t __trackway_region_record(void) { return __atomic_load_n(&region_record, __ATOMIC_RELAXED); }

static uint32_t region_record_of(const struct trackway_module *module) {
    return module->has_regions ? module->id_base + (uint32_t)(module->has_regions - 1) * 256 : 0;
}

static void begin_recording(struct trackway_module *module, struct trackway_ring *ring, uint32_t first_id) {
    module->id_base = first_id << 8;
    uint32_t none = 0;
    __atomic_compare_exchange_n(&region_record, &none, region_record_of(module), false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
    __atomic_store_n(&module->window, &ring->window, __ATOMIC_RELEASE);
}

static void register_for_recorder(struct trackway_module *module) {
    struct trackway_ring *ring = __trackway_process.ring;
    if (module->counter_count && !__trackway_place_counters(module)) {
        __trackway_complain("a buffer is too small for the counters of all modules: one of them runs uncounted; "
                            "record with a greater --buffer-size");
        return;
    }
    uint32_t first_id = take_ids(ring, module);
    if (!first_id || !send_module(module, first_id, 0))
        return;
    if (module->counter_count)
        __atomic_store_n(&module->counts_up_to, TRACKWAY_COUNTS_NOW, __ATOMIC_RELEASE);
    else
        begin_recording(module, ring, first_id);
}

// Modules that count do so from the start or never.
static void register_for_later(struct trackway_module *module) {
    struct trackway_ring *page = __trackway_process.dormant;
    uint32_t first_id = module->counter_count ? 0 : take_ids(page, module);
    if (!first_id)
        return;
    uint64_t signals = block_signals();
    lock_modules();
    // Should a recorder be there and die just now, the next one gets it.
    uint32_t session = __trackway_process.session;
    if (session && session == __atomic_load_n(&page->session, __ATOMIC_ACQUIRE) && __trackway_takes_records(page))
        send_module(module, first_id, session);
    begin_recording(module, page, first_id);
    module->next = registered;
    registered = module;
    __trackway_unlock_modules();
    restore_signals(signals);
}

static void register_module(struct trackway_module *module) {
    __trackway_attach();
    if (!__trackway_process.ring)
        __trackway_counting.state = TRACKWAY_UNRECORDED; // this thread's functions need not ask further
    if (module->id_base || module->counts_up_to)
        return;
    if (__trackway_process.dormant)
        register_for_later(module);
    else if (__trackway_process.ring)
        register_for_recorder(module);
}

VISIBLE void __trackway_register(struct trackway_module *module) {
    int saved_errno = errno;
    register_module(module);
    errno = saved_errno;
}

static void remove_from_list(struct trackway_module *module) {
    struct trackway_module **place = &registered;
    while (*place && *place != module)
        place = &(*place)->next;
    if (*place)
        *place = module->next;
}

// Recorders that come later don't get the module any more.
static void choose_region_record(void) {
    const struct trackway_module *module = registered;
    while (module && !module->has_regions)
        module = module->next;
    __atomic_store_n(&region_record, module ? region_record_of(module) : 0, __ATOMIC_RELAXED);
}

// What the program does at its end, past this, is recorded by the recorder that is there.
VISIBLE void __trackway_unregister(struct trackway_module *module) {
    if (!__trackway_process.dormant)
        return;
    uint64_t signals = block_signals();
    lock_modules();
    remove_from_list(module);
    if (!__trackway_takes_records(__trackway_process.dormant))
        __atomic_store_n(&module->window, (uint32_t *)&module->counter_count, __ATOMIC_RELEASE); // a 0
    if (module->has_regions && region_record_of(module) == __trackway_region_record())
        choose_region_record();
    __trackway_unlock_modules();
    restore_signals(signals);
}
