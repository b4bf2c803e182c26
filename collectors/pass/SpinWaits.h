// Loops that wait for another thread: they load one place, again and again, until it holds something else. How often is
// counted, and recorded once, when the wait is over.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include <vector>

namespace trackway {

struct SpinWait {
    llvm::LoadInst *Load;
    llvm::SmallVector<llvm::Instruction *, 4> Body; // all of the loop
    llvm::Instruction *Before;                      // the last instruction before it
    llvm::Instruction *After;                       // stands alone in a block between the loop and what follows
    llvm::Value *Times;                             // of the load, 64 bits, known at After
};

// Finds the loops and makes them count. Loads that are to be recorded with their values aren't taken.
std::vector<SpinWait> countSpinWaits(llvm::Function &F, llvm::function_ref<bool(const llvm::LoadInst &)> MayBeTaken);

// Whether the call stands in such a loop: it runs no code that may record.
bool isCallOfSpinWait(const llvm::CallBase &Call);

} // namespace trackway
