// Registers outlive calls.
//
// The decoder keeps a function's registers until the buffer ends, so after a call they are what they were before it,
// unless an activation of the same function within the call set them, or another buffer was begun. To notice that, each
// buffer has owners (struct trackway_cells in abi.h): in its function's an activation leaves an address of its own
// frame when it sets registers. If that is still there after the call, and the buffer still the same, so are the
// registers.
//
// Functions share owners, by their names, and a fresh buffer has none: then registers are recorded again in vain.
#pragma once

#include "record/StreamWriter.h"

namespace trackway {

class Activation {
  public:
    // Does nothing unless some unit of the plan leans on registers after a call.
    Activation(llvm::Function &F, const Plan &P, const StreamWriter &Stream);

    // From the instruction on the registers are this activation's, and so far unknown.
    void begin(llvm::Instruction *Before);
    // if (IsFull or registers that this activation set may hold something else by now) {}
    // Returns the end of the empty block.
    llvm::Instruction *insertIfLost(llvm::Value *IsFull, llvm::Instruction *Before);

    // The function's variables, to be promoted.
    std::vector<llvm::AllocaInst *> variables() const;

  private:
    llvm::Value *owner(llvm::Value *Cells, llvm::IRBuilder<> &B) const;

    const StreamWriter &Stream;
    unsigned Owner;                       // its number
    llvm::AllocaInst *Identity = nullptr; // its address tells this activation from all others
    llvm::AllocaInst *Home = nullptr;     // the cells of the buffer in which the registers were set
};

} // namespace trackway
