// The arguments that an unoptimised function stores in its frame before it does anything else.
//
// A branch before these stores, as in the check for the end of the buffer, would make each argument outlive a basic
// block, and so take a second place on the stack. So they are stored first without being recorded, which nothing can
// observe: no other code has the address of a fresh frame. After the check each one is recorded, and stored again from
// its place.
#pragma once

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include <optional>

namespace trackway {

class KeptArguments {
  public:
    explicit KeptArguments(llvm::Function &F);

    // Whether the instruction is one of the program's stores.
    bool isStore(const llvm::Instruction &I) const;

    // Moves the program's stores to where records may begin, and leaves copies of those that store arguments. These
    // then store what they load from their places.
    void storeAgain();

    // Whether the instruction comes before the place where records may begin.
    bool isAhead(const llvm::Instruction &I) const { return Ahead.contains(&I); }

    // The anchor, unless that is ahead.
    llvm::Instruction *placeFor(llvm::Instruction *Anchor) const { return isAhead(*Anchor) ? Begin : Anchor; }

  private:
    struct Store {
        llvm::StoreInst *I;
        llvm::AllocaInst *Slot;
        int64_t Offset, End; // in the slot, in bytes
        bool IsArgument;
    };

    std::optional<Store> inFrame(llvm::Instruction &I) const;
    static bool overlap(const Store &A, const Store &B);
    llvm::Instruction *copyAhead(llvm::StoreInst &S);
    void storeFromFrame(const Store &S);

    const llvm::DataLayout &DL;
    llvm::SmallVector<Store, 8> Stores; // in the order of the program
    llvm::SmallPtrSet<const llvm::Instruction *, 16> Ahead;
    llvm::Instruction *Begin = nullptr; // the first instruction that is not ahead
};

} // namespace trackway
