// Prepares functions for any kind of instrumentation.
#pragma once

#include "Options.h"

#include "llvm/IR/Function.h"

#include <vector>

namespace trackway {

// The functions of the program that this module defines.
std::vector<llvm::Function *> instrumentedFunctions(llvm::Module &M);

// Whether the function's code can be changed and have a copy that isn't.
bool canInstrument(const llvm::Function &F);

// Static allocas must stay in the entry block when it is split.
void gatherAllocas(llvm::Function &F);

// Optimisations that follow must not move calls of functions that record across our stores, whatever their authors said
// of their effects.
void forgetMemoryEffectsOfCalls(llvm::Function &F);

// Whether the function's machine code is made without optimisation.
bool isUnoptimised(const llvm::Function &F, const Options &O);

} // namespace trackway
