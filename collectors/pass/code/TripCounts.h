// How often a loop runs, where that is known before it begins.
#pragma once

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"

#include <optional>

namespace trackway {

class TripCounts {
  public:
    TripCounts(llvm::Function &F, llvm::DominatorTree &DT, llvm::LoopInfo &LI);

    // How often the loop goes back to its head: an integer that is computed before the outermost of the given loops in
    // which it doesn't change, at 32 bits where that is enough. Null if that isn't known, or dear to compute, or if
    // iterations may end elsewhere than at the loop's end.
    llvm::Value *timesBack(llvm::Loop &L, const llvm::DenseSet<const llvm::Loop *> &Hoisting);

    // Whether the loop and those in it run constant numbers of times, in all at most so often.
    bool isBounded(const llvm::Loop &L, uint64_t Most);

    // All the times that a loop goes back to its head while an outer one, or itself, runs from its begin to its end.
    struct Sum {
        llvm::Loop *Outermost;
        const llvm::SCEV *Times;
    };

    // Multiplies nests of the given loops out. None if the times are not known beforehand or dear to compute.
    std::optional<Sum> timesBackInAll(llvm::Loop &L, llvm::function_ref<bool(const llvm::Loop &)> IsGiven);
    // 64 bits, in front of the outermost loop.
    llvm::Value *expand(const Sum &S);

  private:
    const llvm::SCEV *knownTimes(const llvm::Loop &L);
    bool isCheap(const llvm::SCEV *Count, llvm::Loop &Before);

    llvm::DominatorTree &Dominators;
    llvm::TargetLibraryInfoImpl LibraryNames;
    llvm::TargetLibraryInfo Library;
    llvm::AssumptionCache Assumptions;
    llvm::TargetTransformInfo Costs;
    llvm::ScalarEvolution Evolution;
};

} // namespace trackway
