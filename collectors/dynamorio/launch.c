// Becomes a program under DynamoRIO with a client: launch DYNAMORIO CLIENT OPTIONS PROGRAM [ARGUMENTS].
#include "dr_api.h"
#include "dr_config.h"
#include "dr_inject.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int fail(const char *program, const char *what) {
    fprintf(stderr, "trackway: %s: %s\n", program, what);
    return 126;
}

int main(int argc, const char **argv) {
    if (argc < 5) {
        fprintf(stderr, "usage: launch DYNAMORIO CLIENT OPTIONS PROGRAM [ARGUMENTS]\n");
        return 2;
    }
    // Meant for the program, not for this launcher.
    const char *preload = getenv("TRACKWAY_PRELOAD");
    if (preload && setenv("LD_PRELOAD", preload, 1) != 0)
        return fail(argv[4], "no memory");
    const char *root = argv[1], *client = argv[2], *options = argv[3], *program = argv[4];
    void *injection;
    int error = dr_inject_prepare_to_exec(program, argv + 4, &injection);
    if (error != 0 && error != WARN_IMAGE_MACHINE_TYPE_MISMATCH_EXE)
        return fail(program, "DynamoRIO can't prepare it");
    process_id_t pid = dr_inject_get_process_id(injection);
    const char *name = dr_inject_get_image_name(injection);
    if (dr_register_process(name, pid, false, root, DR_MODE_CODE_MANIPULATION, false, DR_PLATFORM_64BIT, options) !=
        DR_SUCCESS)
        return fail(program, "DynamoRIO's configuration can't be written (is HOME a folder that can be written to?)");
    if (dr_register_client(name, pid, false, DR_PLATFORM_64BIT, 0, 0, client, "") != DR_SUCCESS)
        return fail(program, "the client can't be registered");
    if (!dr_inject_process_inject(injection, false, NULL) || !dr_inject_process_run(injection))
        return fail(program, "DynamoRIO can't be injected");
    return fail(program, "it was not started");
}
