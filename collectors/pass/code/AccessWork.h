// What a processor does for each access: which loads give it its address, and how much it executes before it.
#pragma once

#include "code/Accesses.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/TargetTransformInfo.h"

#include <cstdint>
#include <vector>

namespace trackway {

struct AccessWork {
    // Instructions of the processor since the access before it in its basic block, by the compiler's costs; of the
    // block's last one also those after it. Divisions and roots count as many, calls as what it takes to enter and
    // leave a function.
    uint32_t Instructions = 0;
    // Where values that a loop carries take longer from iteration to iteration than its instructions do: as many as
    // could run meanwhile. The last access of an iteration has them.
    uint32_t Waits = 0;
    // Loads whose values the address follows from, by their places among the function's accesses.
    llvm::SmallVector<uint32_t, 2> Loads;
    // Whether it also follows from an argument, or from the result of a call.
    bool FromElsewhere = false;
};

// The work of each access of a function that has not been instrumented yet.
std::vector<AccessWork> workOfAccesses(const llvm::Function &F, llvm::ArrayRef<const Access *> Accesses,
                                       const llvm::TargetTransformInfo &Costs);

// A line for each access, for tests:
//     work 1: 3 instructions, after 0
void printWork(llvm::raw_ostream &OS, llvm::ArrayRef<AccessWork> Works);

} // namespace trackway
