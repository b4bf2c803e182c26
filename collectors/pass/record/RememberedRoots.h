// Inserts the code that remembers what the decoder's registers hold of roots that mostly repeat (Expect.h), and that
// compares it with what the roots are.
#pragma once

#include "record/Expect.h"
#include "record/StreamWriter.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"

namespace trackway {

class RememberedRoots {
  public:
    RememberedRoots(llvm::Function &F, const Plan &P, const StreamWriter &Stream) : F(F), P(P), Stream(Stream) {}

    // Whether some root of the unit isn't what is expected.
    llvm::Value *differs(const Unit &U, llvm::IRBuilder<> &B);
    // The only root of the unit that is expected, less what is expected.
    llvm::Value *offBy(const Unit &U, llvm::IRBuilder<> &B);

    // Remembers the roots of a unit before the instruction; Failed: an instruction on the path of a failed expectation.
    void remember(const Unit &U, llvm::Instruction *Before, llvm::Instruction *Failed);
    // Remembers what the decoder of a fresh buffer knows.
    void rememberResumed(const Unit &U, llvm::Instruction *Before);
    // Nothing is known any more of what the register remembers.
    void forget(Register Remembered, llvm::Instruction *Before);

    // The function's variables, to be promoted.
    std::vector<llvm::AllocaInst *> variables() const;

  private:
    llvm::Value *likely(const Expectation &E, llvm::Type *T, llvm::IRBuilder<> &B);
    unsigned cellOf(Register Remembered) const;
    llvm::Value *memory(const Expectation &E, llvm::Type *T, llvm::IRBuilder<> &B);

    llvm::Function &F;
    const Plan &P;
    const StreamWriter &Stream;
    llvm::MapVector<Register, llvm::AllocaInst *> Variables; // by the register that holds what is expected
};

} // namespace trackway
