// Loops in which calls are rare or absent.
//
// After a call, the decoder doesn't know the function any more. A loop with rare calls restores that after each call, and
// its registers outlive calls (Activation.h). So the loop's own records may rely on what stands before it.
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
// branch probabilities; each such call returns once, to the instruction after it. Without `MayCall` those that call
// nothing that may record.
llvm::DenseSet<const llvm::Loop *> findRareCallLoops(llvm::Function &F, llvm::DominatorTree &DT, llvm::LoopInfo &LI,
                                                     bool MayCall);

// The loop itself or the outermost one around it that has rare calls; null if none has.
const llvm::Loop *outermostWithRareCalls(const llvm::Loop *L, const llvm::DenseSet<const llvm::Loop *> &WithRareCalls);

} // namespace trackway
