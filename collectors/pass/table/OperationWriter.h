// Writes the operations of segments: docs/format.md, section 2.1.
#pragma once

#include "table/FunctionRecord.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace trackway {

class OperationWriter {
  public:
    // The table's indexes of what comes first in the function's own lists.
    struct FirstRows {
        uint32_t Site, Allocation;
    };
    // Give the table's numbers of what operations refer to.
    struct Numbering {
        llvm::function_ref<uint32_t(llvm::GlobalVariable *)> Symbol;
        llvm::function_ref<uint32_t(const llvm::Instruction &)> Location;
    };

    // Lives no longer than the functions that number.
    OperationWriter(llvm::raw_ostream &OS, const FunctionRecord &R, FirstRows First, Numbering Numbers)
        : OS(OS), R(R), First(First), Numbers(Numbers) {}

    void write(const Operation &O);

  private:
    void writeOfRegister(const Operation &O);
    void writeOfAccess(const Operation &O);
    void writeOfAllocation(const Operation &O);
    void writeMasked(const Operation &O);
    void writeValue(const Operation &O);
    void writeOrder(const Operation &O);
    void writeRepeat(const Operation &O);
    void set(Register Target, const RegisterExpression &To);
    void expression(const RegisterExpression &E);

    llvm::raw_ostream &OS;
    const FunctionRecord &R;
    FirstRows First;
    Numbering Numbers;
};

} // namespace trackway
