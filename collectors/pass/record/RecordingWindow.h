// The choice between a function's recording and its plain copy.
#pragma once

#include "record/RuntimeSymbols.h"

#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/IRBuilder.h"

namespace trackway {

// The number of the window that is open, or 0.
llvm::LoadInst *loadOpenWindow(llvm::IRBuilder<> &B, const RuntimeSymbols &Runtime);

// Ends the block with branches: to the plain version if no window is open, to the recording one if the thread records in
// the one that is open, and to Before if it doesn't yet.
void chooseByWindow(llvm::BasicBlock &From, llvm::BasicBlock &Recording, llvm::BasicBlock &Plain,
                    llvm::BasicBlock &Before, const RuntimeSymbols &Runtime);

// Ends the block with a call by which the thread joins the window, and the choice after it.
void joinWindow(llvm::BasicBlock &From, llvm::BasicBlock &Recording, llvm::BasicBlock &Plain,
                const RuntimeSymbols &Runtime);

} // namespace trackway
