// Blocks and objects that the recorder knows, and the buffers that describe them.
#include "client.h"

#include "hashtable.h"

#include <string.h>

enum { IDS_AT_ONCE = 64, ID_TABLE_BITS = 14, MOST_OBJECTS = 1024 };

// Loaded code. The first one stands for code from no file.
struct object {
    app_pc start, end;
    bool is_told;
    uint32_t next_id, ids; // taken for its blocks
    char path[MAXIMUM_PATH];
};

static struct {
    void *lock;
    struct object object[MOST_OBJECTS];
    uint32_t objects;
    hashtable_t ids;    // of blocks, by a hash of their descriptions
    hashtable_t starts; // of blocks, by their ids
    struct lane lane;
    struct room room;
} known;

// ---- The lane ------------------------------------------------------------------------------------------------------

static void hand_over(void) {
    __trackway_hand_over(&known.lane, known.room.begin, 0);
    known.room = (struct room){NULL, NULL};
}

// The place to which so many bytes are to be written.
static unsigned char *room_for(size_t length) {
    if ((size_t)(known.room.end - known.room.begin) < length) {
        struct stream stream = {.tid = (uint32_t)dr_get_thread_id(dr_get_current_drcontext())};
        hand_over();
        known.room = __trackway_take(&known.lane, &stream);
    }
    unsigned char *place = known.room.begin;
    known.room.begin += length;
    return place;
}

void hand_over_definitions(void) {
    dr_mutex_lock(known.lock);
    hand_over();
    dr_mutex_unlock(known.lock);
}

// ---- Objects -------------------------------------------------------------------------------------------------------

void note_module(const module_data_t *module, bool loaded) {
    dr_mutex_lock(known.lock);
    if (loaded && known.objects < MOST_OBJECTS) {
        struct object *object = &known.object[known.objects++];
        const char *path = module->full_path && module->full_path[0] ? module->full_path : "[unknown]";
        *object = (struct object){.start = module->start, .end = module->end};
        strncpy(object->path, path, sizeof object->path - 1);
    }
    for (uint32_t i = 1; !loaded && i < known.objects; i++)
        if (known.object[i].start == module->start)
            known.object[i].start = known.object[i].end = NULL;
    dr_mutex_unlock(known.lock);
}

static struct object *object_of(app_pc code) {
    for (uint32_t i = known.objects - 1; i > 0; i--)
        if (code >= known.object[i].start && code < known.object[i].end)
            return &known.object[i];
    return &known.object[0];
}

static void tell_object(struct object *object) {
    if (object->is_told)
        return;
    uint32_t path_length = (uint32_t)strlen(object->path);
    uint32_t length = (uint32_t)(sizeof(struct trackway_object) + path_length + 7) & ~7u;
    struct trackway_object *told = (struct trackway_object *)room_for(length);
    *told = (struct trackway_object){.head = {.length = length, .kind = TRACKWAY_OBJECT},
                                     .number = (uint32_t)(object - known.object),
                                     .path_length = path_length,
                                     .base = (uint64_t)(uintptr_t)object->start,
                                     .size = (uint64_t)(object->end - object->start)};
    memcpy(told->path, object->path, path_length);
    object->is_told = true;
}

// ---- Ids -----------------------------------------------------------------------------------------------------------

static uint32_t take_id(uint32_t *next, uint32_t *left) {
    if (*left == 0) {
        *next = __trackway_take_ids(__trackway_process.ring, IDS_AT_ONCE);
        *left = *next ? IDS_AT_ONCE : 0;
    }
    if (*left == 0)
        return 0;
    (*left)--;
    return (*next)++;
}

static uint64_t hash_of(const unsigned char *bytes, size_t length) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9FB21C651E98DF25);
        hash ^= hash >> 29;
    }
    return hash | 1;
}

static void complain_of_ids(void) {
    static bool complained;
    if (!complained)
        __trackway_complain("more than 16,777,215 blocks of code: further ones aren't recorded");
    complained = true;
}

static uint32_t define_new(const unsigned char *definition, size_t length, uint64_t hash) {
    const struct trackway_instruction *first =
        (const struct trackway_instruction *)(definition + sizeof(struct trackway_block));
    struct object *object = object_of((app_pc)(uintptr_t)first->address);
    uint32_t id = take_id(&object->next_id, &object->ids);
    if (id == 0) {
        complain_of_ids();
        return 0;
    }
    tell_object(object);
    struct trackway_block *block = (struct trackway_block *)room_for(length);
    memcpy(block, definition, length);
    block->id = id;
    block->object = (uint32_t)(object - known.object);
    hashtable_add(&known.ids, (void *)(uintptr_t)hash, (void *)(uintptr_t)id);
    hashtable_add(&known.starts, (void *)(uintptr_t)id, (void *)(uintptr_t)first->address);
    return id;
}

// The first `length` bytes of the plan's definition, which describe so many instructions.
static uint32_t define(struct plan *plan, uint32_t length, uint32_t instructions, uint32_t roots) {
    struct trackway_block *head = (struct trackway_block *)plan->definition;
    head->head.length = length;
    head->instructions = instructions;
    head->roots = roots;
    uint64_t hash = hash_of(plan->definition, length);
    uint32_t id = (uint32_t)(uintptr_t)hashtable_lookup(&known.ids, (void *)(uintptr_t)hash);
    return id ? id : define_new(plan->definition, length, hash);
}

bool define_block(struct plan *plan) {
    if (plan->definition_length == 0)
        return false;
    bool have_ids = true;
    dr_mutex_lock(known.lock);
    for (struct exit *exit = plan->exit; exit < plan->exit + plan->exits && have_ids; exit++) {
        exit->id = define(plan, exit->definition_length, exit->instructions, exit->roots);
        have_ids = exit->id != 0;
    }
    if (have_ids)
        plan->id = define(plan, plan->definition_length, plan->instructions, plan->roots);
    dr_mutex_unlock(known.lock);
    return plan->id != 0;
}

app_pc start_of_block(uint32_t id) {
    dr_mutex_lock(known.lock);
    app_pc start = hashtable_lookup(&known.starts, (void *)(uintptr_t)id);
    dr_mutex_unlock(known.lock);
    return start;
}

uint32_t define_note(enum trackway_note_kind kind, app_pc call, const char *allocator) {
    dr_mutex_lock(known.lock);
    struct object *object = object_of(call);
    uint32_t id = take_id(&object->next_id, &object->ids);
    tell_object(object);
    struct trackway_note *note = (struct trackway_note *)room_for(sizeof *note);
    *note = (struct trackway_note){.head = {.length = sizeof *note, .kind = TRACKWAY_NOTE},
                                   .id = id,
                                   .kind = (uint32_t)kind,
                                   .object = (uint32_t)(object - known.object),
                                   .address = (uint64_t)(uintptr_t)call};
    if (allocator)
        strncpy(note->allocator, allocator, sizeof note->allocator - 1);
    dr_mutex_unlock(known.lock);
    return id;
}

static void begin_lane(void) {
    known.lane = (struct lane){.kind = TRACKWAY_DEFINITIONS, .must_wait = true};
    known.room = (struct room){NULL, NULL};
}

void begin_definitions(void) {
    known.lock = dr_mutex_create();
    hashtable_init_ex(&known.ids, ID_TABLE_BITS, HASH_INTPTR, false, false, NULL, NULL, NULL);
    hashtable_init_ex(&known.starts, ID_TABLE_BITS, HASH_INTPTR, false, false, NULL, NULL, NULL);
    known.object[0] = (struct object){.start = NULL};
    strcpy(known.object[0].path, "[anonymous]");
    known.objects = 1;
    begin_lane();
}

void forget_definitions(void) {
    begin_lane();
    for (uint32_t i = 0; i < known.objects; i++) {
        known.object[i].is_told = false;
        known.object[i].ids = 0;
    }
}
