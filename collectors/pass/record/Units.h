// Cutting a function into units.
#pragma once

#include "record/Plan.h"

#include "llvm/ADT/DenseMap.h"

namespace trackway {

// Which units a function's code is in.
struct UnitIndex {
    llvm::DenseMap<const llvm::Instruction *, unsigned> Before;
    llvm::DenseMap<const llvm::BasicBlock *, unsigned> First;

    // The unit in which an operation takes place that is anchored at the instruction.
    unsigned before(const llvm::Instruction *Anchor) const { return Before.lookup(Anchor); }
    unsigned first(const llvm::BasicBlock *BB) const { return First.lookup(BB); }
};

// Appends the function's units in reverse post-order of their blocks; unreachable blocks have none.
UnitIndex cutUnits(llvm::Function &F, std::vector<Unit> &Units);

// Cuts units whose records would be too long. The index doesn't hold afterwards.
void splitLongUnits(Plan &P);

} // namespace trackway
