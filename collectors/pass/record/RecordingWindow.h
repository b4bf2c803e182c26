// The choice between a function's recording and its plain copy.
#pragma once

#include "record/RuntimeSymbols.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/IRBuilder.h"

namespace trackway {

// The number of the window that is open, or 0.
llvm::LoadInst *loadOpenWindow(llvm::IRBuilder<> &B, const RuntimeSymbols &Runtime);

// Not 0 if a recorder wants to have regions alone.
llvm::Value *loadRegionsSwitch(llvm::IRBuilder<> &B, const RuntimeSymbols &Runtime);

// How a function is chosen. Outside of windows the records of recording copies go nowhere.
enum class Chosen {
    InWindows,   // the recording copy while a window is open
    WithRegions, // the same, and if a recorder wants to have regions alone, one of which may begin
    Always       // the recording copy wherever the program is recorded
};

// Ends the block with branches: to the plain version where nothing is to be recorded, to the recording one if the
// thread is in the window that is open, and to Before if it has yet to join or leave one.
void chooseByWindow(llvm::BasicBlock &From, llvm::BasicBlock &Recording, llvm::BasicBlock &Plain,
                    llvm::BasicBlock &Before, Chosen How, const RuntimeSymbols &Runtime);

// Ends the block with a call by which the thread joins the window, and the choice after it.
void joinWindow(llvm::BasicBlock &From, llvm::BasicBlock &Recording, llvm::BasicBlock &Plain, Chosen How,
                const RuntimeSymbols &Runtime);

// The functions in which a window may begin or end by their own code, or by what they call within the module. They are
// in the right copy already when that happens, so that it holds from there on.
llvm::DenseSet<const llvm::Function *> functionsThatSwitch(const llvm::Module &M);
// The functions in which a region may begin or end.
llvm::DenseSet<const llvm::Function *> functionsOfRegions(const llvm::Module &M);

} // namespace trackway
