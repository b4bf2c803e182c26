// Selection: which instructions access memory, and how.
#pragma once

#include "code/Values.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"

#include <cstdint>

namespace trackway {

// The numbers are those of docs/format.md, section 2.
enum class AccessKind : uint8_t {
    Load,
    Store,
    AtomicLoad,
    AtomicStore,
    AtomicReadModifyWrite,
    AtomicCompareExchange,
    CopyRead,
    CopyWrite,
    Fill,
    LibraryRead,
    LibraryWrite,
};

enum class AccessForm {
    Single, // one access of a fixed size at Pointer
    Block,  // one access of Length bytes at Pointer
    Masked, // an access for each active lane, from Pointer on
    Gather, // an access for each active lane, at the lane's own pointer
};

struct Access {
    llvm::Instruction *Where = nullptr;
    uint32_t Ordinal = 0; // position of the instruction in its function before instrumentation
    uint8_t Part = 0;     // 1 for the write of a copy; of a library function the number of the effect
    AccessKind Kind = AccessKind::Load;
    AccessForm Form = AccessForm::Single;
    llvm::Value *Pointer = nullptr; // a vector of pointers for Gather
    uint64_t Size = 0;              // bytes; of a lane for Masked and Gather; 0 for Block
    llvm::Value *Length = nullptr;  // Block only
    llvm::Value *Mask = nullptr;    // Masked and Gather: a vector of i1
    unsigned Lanes = 0;
    uint64_t LaneStride = 0;         // bytes between lanes of Masked
    bool Packed = false;             // Masked: active lanes follow each other without holes
    std::optional<ValueShape> Shape; // of its value, if that is recorded
    Content Value{};
    llvm::Instruction *Anchor = nullptr; // is recorded before this one if it isn't before Where

    llvm::Instruction *anchor() const { return Anchor ? Anchor : Where; }
};

// What a function's code does to memory.
struct FunctionAccesses {
    llvm::SmallVector<Access, 0> Recordable; // in program order
    uint32_t Unrecordable = 0;               // instructions that touch memory in a way that is not modelled
};

// Finds the accesses of a function that has not been instrumented yet.
FunctionAccesses selectAccesses(llvm::Function &F);

// Position of each instruction in its function, debug intrinsics not counted.
llvm::DenseMap<const llvm::Instruction *, uint32_t> numberInstructions(const llvm::Function &F);

} // namespace trackway
