// Keeps frames small where code generation gives each value that crosses blocks a place on the stack of its own, as it
// does without optimisation: values that instrumentation cut off from their uses get places that they share.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace trackway {

class SharedSlots {
  public:
    // Notes which code stands together in a block. To be called before blocks are split.
    explicit SharedSlots(llvm::Function &F);

    // Stores a value after its computation and loads it before each use, if it was used only in the block that computes
    // it, and now lives across the end of a block or across an instruction that takes registers away, or is one of many
    // arguments.
    void share(llvm::function_ref<bool(const llvm::Instruction &)> TakesRegisters);

  private:
    struct Lifetime;

    std::vector<Lifetime> lifetimes(llvm::function_ref<bool(const llvm::Instruction &)> TakesRegisters);

    static void keepIn(llvm::AllocaInst &Memory, const Lifetime &L);

    llvm::Function &F;
    llvm::DenseMap<const llvm::Instruction *, const llvm::BasicBlock *> Home; // the block where it stood
};

} // namespace trackway
