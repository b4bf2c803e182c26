// Prints the control flow that a table describes, for tests and for finding out which way a branch went.
#pragma once

#include "record/ControlFlow.h"

#include "llvm/ADT/ArrayRef.h"

namespace trackway {

// A line for the function and one for each piece, by the names of its block and of those of its successors:
//     flow sum
//       0 %entry: branches to 2 %loop, 1 %done; 3 instructions, record 0
//       1 %done: returns; 1 instruction, no record
// Once the plan has been emitted.
void printFlow(llvm::raw_ostream &OS, const llvm::Function &F, const Plan &P, llvm::ArrayRef<FlowPiece> Pieces);

} // namespace trackway
