// Hardware counters: what the ring asks for is counted of each thread, and read as regions begin and end.
//
// A thread needs descriptors for them, which the program may close or use for something else at any time.
#include "counting.h"
#include "page.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define PAGE 4096
// The first entries of each node are measured in any case.
#define FIRST_ENTRIES 16
// Percent of a region's time that reading the counters may take.
#define PERCENT_FOR_READING 1
// A reading stands for at most one in so many of the entries so far: the first ones say little of the later ones.
#define LEAST_PART 16
#define LONGEST_PERIOD (UINT64_C(1) << 20)
#define TRIALS 16

static uint32_t event_count(void) {
    uint32_t count = __trackway_process.ring->hardware_count;
    return count < TRACKWAY_HARDWARE_EVENTS ? count : TRACKWAY_HARDWARE_EVENTS;
}

static void complain_once(uint32_t *complained, const char *message) {
    if (!__atomic_exchange_n(complained, 1, __ATOMIC_RELAXED))
        __trackway_complain(message);
}

static bool is_kernels(uint32_t event) { return __trackway_process.ring->hardware[event].type == PERF_TYPE_SOFTWARE; }

// The first event of a group that is counted and read at once. The processor's events are one, so that they are of the
// same time. The kernel's are one each: Linux 6.18 forgets, for some time, to count what is in a group with task-clock.
static uint32_t leader_of(uint32_t event) {
    uint32_t leader = 0;
    while (!is_kernels(event) && is_kernels(leader))
        leader++;
    return is_kernels(event) ? event : leader;
}

// ---- Reading ----

#if defined(__x86_64__)

static uint64_t processor_counter(uint32_t index) { return (uint64_t)__builtin_ia32_rdpmc((int)index); }

static bool read_pages(const struct hardware *hardware, uint32_t leader, struct reading *reading) {
    uint64_t missed_ns = 0;
    for (uint32_t i = event_count(); i-- > leader;)
        if (leader_of(i) == leader &&
            (!hardware->pages[i] || !read_page(hardware->pages[i], processor_counter, &reading->values[i], &missed_ns)))
            return false;
    reading->missed_ns += missed_ns;
    return true;
}

#else

static bool read_pages(const struct hardware *hardware, uint32_t leader, struct reading *reading) {
    (void)hardware, (void)leader, (void)reading;
    return false;
}

#endif

static uint64_t id_of(int descriptor) {
    uint64_t id = 0;
    return kernel_call(SYS_ioctl, descriptor, PERF_EVENT_IOC_ID, (long)&id, 0) == 0 ? id : 0;
}

// Another descriptor of the program must neither be read nor closed. Ids start at 1.
static bool is_ours(const struct hardware *hardware, uint32_t event) {
    return hardware->descriptors[event] >= 0 && id_of(hardware->descriptors[event]) == hardware->ids[event];
}

static bool read_group(const struct hardware *hardware, uint32_t leader, struct reading *reading) {
    struct {
        uint64_t count, enabled_ns, running_ns;
        uint64_t values[TRACKWAY_HARDWARE_EVENTS];
    } group;
    if (!is_ours(hardware, leader)) {
        static uint32_t complained;
        complain_once(&complained, "the program closed the descriptor of a thread's hardware counters: the thread's "
                                   "regions are measured without them from then on");
        return false;
    }
    // Nothing comes if the processor has no counters left for the group.
    if (kernel_call(SYS_read, hardware->descriptors[leader], (long)&group, sizeof group, 0) <= 0)
        return false;
    uint32_t member = 0;
    for (uint32_t i = leader; i < event_count(); i++)
        if (leader_of(i) == leader)
            reading->values[i] = group.values[member++];
    reading->missed_ns += group.enabled_ns - group.running_ns;
    return member == group.count;
}

// Processes that are forked without our knowledge have neither the pages nor counters of their own.
static bool read_now(const struct hardware *hardware, struct reading *reading) {
    if (*__trackway_process.witness == 0)
        return false;
    reading->missed_ns = 0;
    for (uint32_t i = 0; i < event_count(); i++)
        if (leader_of(i) == i && !read_pages(hardware, i, reading) && !read_group(hardware, i, reading))
            return false;
    return true;
}

// ---- Opening and closing ----

// Programs expect the lowest descriptors to be theirs, and the most of those that they may have.
static long lowest_descriptor(void) {
    struct {
        uint64_t present, most;
    } limit = {1024, 1024};
    kernel_call(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit);
    return (long)(limit.present < 4096 ? limit.present : 4096) / 8 * 7;
}

static int open_event(const struct trackway_hardware_event *event, int group) {
    struct perf_event_attr attributes = {
        .size = sizeof attributes,
        .type = event->type,
        .config = event->config,
        .pinned = group < 0, // the group is counted all the time, or never
        .exclude_kernel = !event->in_kernel,
        .exclude_hv = 1,
        .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    long low = kernel_call_of_5(SYS_perf_event_open, (long)&attributes, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
    if (low < 0)
        return -1;
    long high = kernel_call(SYS_fcntl, low, F_DUPFD_CLOEXEC, lowest_descriptor(), 0);
    kernel_call(SYS_close, low, 0, 0, 0);
    return high < 0 ? -1 : (int)high;
}

static void close_event(struct hardware *hardware, uint32_t event) {
    if (is_ours(hardware, event))
        kernel_call(SYS_close, hardware->descriptors[event], 0, 0, 0);
    hardware->descriptors[event] = -1;
}

// The pages of the processor's events are read in place of the descriptors, of which only the group's is kept.
static void map_page(struct hardware *hardware, uint32_t event) {
    void *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, hardware->descriptors[event], 0);
    if (page == MAP_FAILED)
        return;
    hardware->pages[event] = page; // which keeps the event
    if (leader_of(event) != event)
        close_event(hardware, event);
}

static bool open_events(struct hardware *hardware) {
    for (uint32_t i = 0; i < event_count(); i++) {
        int group = leader_of(i) == i ? -1 : hardware->descriptors[leader_of(i)];
        hardware->descriptors[i] = open_event(&__trackway_process.ring->hardware[i], group);
        if (hardware->descriptors[i] < 0)
            return false;
        hardware->ids[i] = id_of(hardware->descriptors[i]);
        if (!is_kernels(i))
            map_page(hardware, i);
    }
    return true;
}

static uint64_t lesser(uint64_t one, uint64_t other) { return one < other ? one : other; }

// Measures the cost of a reading, and what would be counted around nothing.
static bool calibrate(struct hardware *hardware) {
    hardware->cost_ticks = UINT64_MAX;
    for (uint32_t i = 0; i < TRACKWAY_HARDWARE_EVENTS; i++)
        hardware->of_nothing[i] = UINT64_MAX;
    for (int trial = 0; trial < TRIALS; trial++) {
        struct reading begin, end;
        uint64_t before = __trackway_now_ticks();
        bool begun = read_now(hardware, &begin);
        hardware->cost_ticks = lesser(hardware->cost_ticks, __trackway_now_ticks() - before);
        if (!begun || !read_now(hardware, &end))
            return false;
        for (uint32_t i = 0; i < event_count(); i++)
            hardware->of_nothing[i] = lesser(hardware->of_nothing[i], end.values[i] - begin.values[i]);
    }
    return true;
}

void __trackway_close_hardware(struct hardware *hardware) {
    if (hardware->state == NOT_TRIED)
        return;
    for (uint32_t i = 0; i < TRACKWAY_HARDWARE_EVENTS; i++)
        if (hardware->pages[i])
            munmap(hardware->pages[i], PAGE);
    __trackway_forget_hardware(hardware);
}

void __trackway_forget_hardware(struct hardware *hardware) {
    if (hardware->state == NOT_TRIED)
        return;
    for (uint32_t i = 0; i < TRACKWAY_HARDWARE_EVENTS; i++) {
        close_event(hardware, i);
        hardware->pages[i] = NULL;
    }
    hardware->state = UNAVAILABLE;
}

static void open_hardware(struct hardware *hardware) {
    for (uint32_t i = 0; i < TRACKWAY_HARDWARE_EVENTS; i++)
        hardware->descriptors[i] = -1;
    hardware->state = OPEN;
    if (open_events(hardware) && calibrate(hardware))
        return;
    __trackway_close_hardware(hardware);
    static uint32_t complained;
    complain_once(&complained, "a thread can't have the hardware counters: its regions are measured without them");
}

// Whether the thread has its counters. They are opened for its first region, so threads without regions need none.
static bool has_hardware(struct hardware *hardware) {
    if (hardware->state == NOT_TRIED) {
        int saved_errno = errno;
        uint64_t signals = block_signals();
        if (hardware->state == NOT_TRIED) // a handler may have come first
            open_hardware(hardware);
        restore_signals(signals);
        errno = saved_errno;
    }
    return hardware->state == OPEN;
}

// ---- Around entries ----

// Around one of so many entries the counters may be read.
static uint64_t period_of(const struct hardware *hardware, const struct node *node) {
    const struct trackway_counts *counts = node->counts;
    uint64_t entries = counts->counted_entries + counts->timed_entries;
    uint64_t mean = entries ? (counts->counted_ticks + counts->timed_ticks) / entries : 0;
    uint64_t allowed = mean * PERCENT_FOR_READING / 100;
    uint64_t period = allowed ? 2 * hardware->cost_ticks / allowed + 1 : LONGEST_PERIOD;
    return lesser(lesser(period, LONGEST_PERIOD), node->measurable / LEAST_PART + 1);
}

// The period varies by chance, in case the program has the same rhythm.
static bool is_its_turn(struct tally *tally, struct node *node) {
    node->measurable++;
    node->since++;
    if (node->measurable < FIRST_ENTRIES)
        return true;
    if (node->to_pass > 0) {
        node->to_pass--;
        return false;
    }
    uint64_t period = period_of(&tally->hardware, node);
    node->to_pass = (uint32_t)((period - 1) / 2 + __trackway_next_random(tally) % period);
    return true;
}

void __trackway_begin_measuring(struct tally *tally, struct node *node) {
    node->is_measured = node->counts && event_count() > 0 && has_hardware(&tally->hardware) &&
                        is_its_turn(tally, node) && read_now(&tally->hardware, &node->begin);
}

void __trackway_end_measuring(struct tally *tally, struct node *node) {
    if (!node->is_measured)
        return;
    node->is_measured = false;
    const struct hardware *hardware = &tally->hardware;
    struct reading end;
    if (!read_now(hardware, &end) || end.missed_ns != node->begin.missed_ns)
        return;
    for (uint32_t i = 0; i < event_count(); i++) {
        uint64_t counted = end.values[i] - node->begin.values[i];
        node->counts->hardware[i] += (counted - lesser(counted, hardware->of_nothing[i])) * node->since;
    }
    node->counts->hardware_entries += node->since;
    node->counts->measured_entries++;
    node->since = 0;
}
