// Threads that stay in a loop for long join a window there, and leave it.
//
// An activation runs one copy of its function to its end. So that one with a long loop needn't, the rest of that loop
// is a function of its own as well: the loop's code once more, which begins with the next iteration and returns where
// the loop is left, or where the copy that called it is the right one again.
#pragma once

#include "record/RecordingWindow.h"
#include "record/RuntimeSymbols.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Instructions.h"

#include <vector>

namespace trackway {

// A value that the next iteration begins with, and where the call of the rest is given it.
struct CarriedValue {
    llvm::PHINode *Phi;
    llvm::StoreInst *Given;
};

// A loop of which there is one recording copy only, in the function with its rest.
struct LargeLoop {
    llvm::BasicBlock *Header = nullptr; // none where the loop is no such loop
    llvm::BasicBlock *CallOfRest = nullptr;
    std::vector<CarriedValue> Carried;
};

// The question before all iterations of a loop but the first one: whether the other copy is to go on. It is asked as
// the plain copy has to.
struct WindowQuestion {
    llvm::ICmpInst *Changes;
    llvm::LoadInst *Open; // the window
    // Not 0 if a recorder wants to have regions alone; none where no region may begin or end.
    llvm::Value *RegionsSwitch;
    LargeLoop In;
};

// Those of each function.
using WindowQuestions = llvm::DenseMap<const llvm::Function *, std::vector<WindowQuestion>>;

// What the rest of a loop takes with it, and what that is in the loop's function.
struct TakenValue {
    const llvm::Value *Taken, *From;
};

// The function with the rest of a loop.
struct LoopRest {
    llvm::Function *F;
    std::vector<TakenValue> Taken;
    const llvm::DILocation *Begin; // of the loop; none if that isn't known
    bool IsRepeated;               // the recording copy of the loop's function has its instructions, too
};

// Splits the outermost loops that contain calls, or other loops and don't end soon. Others stay whole, so that they are
// one operation of the record.
// Returns the functions with the rests of these loops, and adds the questions in all of them.
std::vector<LoopRest> splitLongLoops(llvm::Function &F, Chosen How, const RuntimeSymbols &Runtime,
                                     WindowQuestions &Questions);

// Makes the function a recording copy that calls the rest in place of each large loop, from the first iteration on.
// Removes their questions.
void leaveLargeLoopsToRests(llvm::Function &F, std::vector<WindowQuestion> &Questions);

// Makes the questions those of the recording copy: whether the thread records in the window that is open.
void askInRecordingCopy(llvm::ArrayRef<WindowQuestion> Questions, const RuntimeSymbols &Runtime);

// The functions that may call themselves, by way of others too, within the module.
llvm::DenseSet<const llvm::Function *> recursiveFunctions(llvm::Module &M);

} // namespace trackway
