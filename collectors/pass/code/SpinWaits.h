// Loops that wait for another thread: they load one place, again and again, until it holds something else. How often is
// counted, and recorded once, when the wait is over. Variables that tell the place may be loaded again each time, too,
// if only the waiting thread can change them.
#pragma once

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <vector>

namespace trackway {

struct SpinWait {
    llvm::SmallVector<llvm::LoadInst *, 2> Loads;   // in their order
    llvm::SmallVector<llvm::Instruction *, 4> Body; // all of the loop
    llvm::Instruction *Before;                      // the last instruction before it
    llvm::Instruction *After;                       // stands alone in a block between the loop and what follows
    llvm::Value *Times;                             // of the loads, 64 bits, known at After

    bool has(const llvm::Instruction *I) const { return llvm::is_contained(Loads, I); }
};

// Thread-local variables that are only loaded and stored: no other thread can have the address. To be called before the
// module is instrumented, which takes addresses.
using OwnVariables = llvm::DenseSet<const llvm::GlobalVariable *>;
OwnVariables ownVariables(const llvm::Module &M);

// Finds the loops and makes them count. Loads that are to be recorded with their values aren't taken.
std::vector<SpinWait> countSpinWaits(llvm::Function &F, const OwnVariables &Own,
                                     llvm::function_ref<bool(const llvm::LoadInst &)> MayBeTaken);

// Whether a loop calls this to wait politely, or to see what other threads wrote.
bool isPause(const llvm::CallBase &Call);

// Whether the call stands in such a loop: it runs no code that may record.
bool isCallOfSpinWait(const llvm::CallBase &Call);

} // namespace trackway
