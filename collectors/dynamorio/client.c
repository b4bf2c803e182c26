// The functions that DynamoRIO calls.
#include "client.h"

#include "drmgr.h"
#include "drwrap.h"

static bool take_any_system_call(void *context, int number) {
    (void)context, (void)number;
    return true;
}

static bool system_call_begins(void *context, int number) {
    before_system_call(context, number);
    return true;
}

static void module_loaded(void *context, const module_data_t *module, bool loaded) {
    (void)context, (void)loaded;
    note_module(module, true);
    watch_allocators(module);
}

static void module_unloaded(void *context, const module_data_t *module) {
    (void)context;
    unwatch_allocators(module);
    note_module(module, false);
}

static void exit_process(void) {
    end_allocations();
    end_process();
    end_inserting();
    end_superblocks();
    drmgr_exit();
}

DR_EXPORT void dr_client_main(client_id_t id, int argc, const char *argv[]) {
    (void)id, (void)argc, (void)argv;
    dr_set_client_name("Trackway", "");
    drmgr_init();
    if (!attach_process()) {
        drmgr_exit();
        return; // the program runs as it would without us
    }
    begin_superblocks();
    begin_inserting();
    begin_allocations();
    dr_register_filter_syscall_event(take_any_system_call);
    dr_register_fork_init_event(become_child);
    dr_register_exit_event(exit_process);
    drmgr_register_pre_syscall_event(system_call_begins);
    drmgr_register_post_syscall_event(after_system_call);
    drmgr_register_module_load_event(module_loaded);
    drmgr_register_module_unload_event(module_unloaded);
    drmgr_register_thread_init_event(begin_thread);
    drmgr_register_thread_exit_event(end_thread);
    drmgr_register_signal_event(signal_comes);
    // After drwrap's calls, which store records of their own before the block's.
    drmgr_priority_t behind_wrapping = {sizeof behind_wrapping, "trackway", NULL, NULL,
                                        2 * DRMGR_PRIORITY_INSERT_DRWRAP};
    drmgr_register_bb_app2app_event(extend_new_block, NULL);
    drmgr_register_bb_instru2instru_event(leave_out_jumps, NULL);
    drmgr_register_bb_instrumentation_event(analyse_block, insert_stores, &behind_wrapping);
}
