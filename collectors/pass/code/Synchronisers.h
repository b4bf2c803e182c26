// Functions that order the calling thread against others.
#pragma once

#include "code/Synchronisation.h"

#include "llvm/IR/InstrTypes.h"

#include <optional>

namespace trackway {

struct SynchronisingCall {
    bool Releases; // what the thread did before is seen by others afterwards
    bool Acquires; // the thread sees afterwards what others did
    Synchroniser By;
    int Address; // position of the argument that points to what they synchronise by; -1 if there is none
};

std::optional<SynchronisingCall> synchronisingCall(const llvm::CallBase &Call);

// Whether another thread may start the function: the body of a parallel region or of a task.
bool isThreadsBody(const llvm::Function &F);

} // namespace trackway
