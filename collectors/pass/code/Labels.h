// Labels as values: where the addresses of a function's blocks are, and where they may get.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"

namespace trackway {

// Variables that hold addresses of the function's blocks from the start: the tables of computed gotos.
llvm::SmallVector<llvm::GlobalVariable *, 2> labelTables(const llvm::Function &F);

// Whether no other function sees the tables, and no label gets to where another function, or a later call, could take
// it from. Then a copy of the function can have labels and tables of its own. Interpreters that translate their program
// into labels don't keep them.
bool keepsLabels(const llvm::Function &F);

} // namespace trackway
