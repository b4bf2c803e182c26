// Runs a program under DynamoRIO with a client: launch DYNAMORIO CLIENT PROGRAM [ARGUMENTS].
#include "dr_api.h"
#include "dr_config.h"
#include "dr_inject.h"

#include <stdio.h>

int main(int argc, const char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: launch DYNAMORIO CLIENT PROGRAM [ARGUMENTS]\n");
        return 2;
    }
    void *program;
    int error = dr_inject_process_create(argv[3], argv + 3, &program);
    if (error != 0 && error != WARN_IMAGE_MACHINE_TYPE_MISMATCH_EXE) {
        fprintf(stderr, "launch: %s: error %d\n", argv[3], error);
        return 2;
    }
    process_id_t pid = dr_inject_get_process_id(program);
    const char *name = dr_inject_get_image_name(program);
    if (dr_register_process(name, pid, false, argv[1], DR_MODE_CODE_MANIPULATION, false, DR_PLATFORM_64BIT, "") !=
            DR_SUCCESS ||
        dr_register_client(name, pid, false, DR_PLATFORM_64BIT, 0, 0, argv[2], "") != DR_SUCCESS ||
        !dr_inject_process_inject(program, false, NULL) || !dr_inject_process_run(program)) {
        fprintf(stderr, "launch: %s: injection failed\n", argv[3]);
        return 2;
    }
    dr_inject_wait_for_child(program, 0);
    return dr_inject_process_exit(program, false);
}
