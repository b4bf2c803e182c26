// Loops in which calls are rare or absent.
//
// A call ends all that the decoder knows of a function. In a quiet loop that is repaired behind each call: what the
// rest of the loop relies on is recorded again. So the loop's own records may lean on what stands before it.
#pragma once

#include "llvm/ADT/DenseSet.h"

namespace llvm {
class DominatorTree;
class Function;
class Instruction;
class Loop;
class LoopInfo;
} // namespace llvm

namespace trackway {

// Loops with a preheader in whose iterations at most every 16th meets a call that may record, by the estimate of
// branch probabilities; each such call returns once, to the instruction behind it.
llvm::DenseSet<const llvm::Loop *> findQuietLoops(llvm::Function &F, llvm::DominatorTree &DT, llvm::LoopInfo &LI);

// The loop itself or the outermost one around it that is quiet; null if none is.
const llvm::Loop *outermostQuiet(const llvm::Loop *L, const llvm::DenseSet<const llvm::Loop *> &Quiet);

} // namespace trackway
