// Loops in which calls are rare or absent, and loops whose registers outlive their calls.
//
// After a call, the decoder doesn't know the function any more. A loop with rare calls restores that after each call,
// and its registers outlive calls (Activation.h). So the loop's own records may rely on what stands before it.
#pragma once

#include "record/BlockFrequencies.h"

#include "llvm/ADT/DenseSet.h"

namespace llvm {
class Function;
class Instruction;
class Loop;
class LoopInfo;
} // namespace llvm

namespace trackway {

// Loops with a preheader in whose iterations at most every 16th meets a call that may record, by the estimate of
// branch probabilities; each such call returns once, to the instruction after it. Without `MayCall` those that call
// nothing that may record.
llvm::DenseSet<const llvm::Loop *> findRareCallLoops(const llvm::Function &F, const llvm::LoopInfo &LI,
                                                     BlockFrequencies &Frequencies, bool MayCall);

// Loops with a preheader that may lean on registers from before an iteration's calls: those with rare calls, and where
// registers outlive each call, those in which each call returns once.
llvm::DenseSet<const llvm::Loop *> findSteadyLoops(const llvm::Function &F, const llvm::LoopInfo &LI,
                                                   llvm::DenseSet<const llvm::Loop *> RareCallLoops, bool MayCall);

// The loop itself or the outermost one around it that is in the set; null if none is.
const llvm::Loop *outermostOf(const llvm::Loop *L, const llvm::DenseSet<const llvm::Loop *> &Loops);

} // namespace trackway
