// Finds calls that ask OpenMP's runtime to start code that the compiler made a function of: shares of parallel
// constructs, and tasks.
#pragma once

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <vector>

namespace trackway {

struct OpenMpStart {
    enum class Kind {
        Team,     // __kmpc_fork_call, __kmpc_fork_teams: the body's arguments follow it
        TeamIf,   // __kmpc_fork_call_if: a condition and at most one argument follow it
        Task,     // __kmpc_omp_task_alloc: makes a task of the body, which is handed over later
        TaskLoop, // __kmpc_taskloop: copies such a task; the body is what constructs the copies, if anything does
    };
    Kind K;
    llvm::CallInst *Call;
    unsigned Position;    // of the body among the arguments
    llvm::Function *Body; // none: copies of the task need nothing constructed
};

std::vector<OpenMpStart> openMpStarts(const llvm::Module &M);

} // namespace trackway
