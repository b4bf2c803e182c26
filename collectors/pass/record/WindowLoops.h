// Threads that stay in a loop for long join a window there, and leave it.
//
// An activation runs one copy of its function to its end. So that one with a long loop needn't, the rest of that loop
// is a function of its own as well: the loop's code once more, which begins with the next iteration and returns where
// the loop is left, or where the copy that called it is the right one again.
#pragma once

#include "record/RuntimeSymbols.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Instructions.h"

#include <vector>

namespace trackway {

// In each function, the questions before all iterations of a loop but the first one: whether the other copy is to go
// on. They are asked as the plain copy has to.
using WindowQuestions = llvm::DenseMap<const llvm::Function *, std::vector<llvm::ICmpInst *>>;

// Splits the outermost loops that contain calls. Others stay whole, so that they are one operation of the record.
// Returns the functions with the rests of these loops, and adds the questions in all of them.
std::vector<llvm::Function *> splitLongLoops(llvm::Function &F, const RuntimeSymbols &Runtime,
                                             WindowQuestions &Questions);

// Makes the questions those of the recording copy: whether the thread records in the window that is open.
void askInRecordingCopy(llvm::ArrayRef<llvm::ICmpInst *> Questions, const RuntimeSymbols &Runtime);

// The functions that may call themselves, by way of others too, within the module.
llvm::DenseSet<const llvm::Function *> recursiveFunctions(llvm::Module &M);

} // namespace trackway
