// How often blocks are executed, as the probabilities of branches say.
#pragma once

#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"

#include <optional>

namespace trackway {

// Computed at the first question. Until then the function may change; later only within blocks.
class BlockFrequencies {
  public:
    BlockFrequencies(const llvm::Function &F, const llvm::LoopInfo &LI) : F(F), LI(LI) {}

    // In a unit of the function's own.
    uint64_t of(const llvm::BasicBlock *BB) {
        if (!Frequencies) {
            Probabilities.emplace(F, LI);
            Frequencies.emplace(F, *Probabilities, LI);
        }
        return Frequencies->getBlockFreq(BB).getFrequency();
    }

  private:
    const llvm::Function &F;
    const llvm::LoopInfo &LI;
    std::optional<llvm::BranchProbabilityInfo> Probabilities;
    std::optional<llvm::BlockFrequencyInfo> Frequencies;
};

} // namespace trackway
