// Values: what accesses load and store.
#pragma once

#include "llvm/IR/IRBuilder.h"

#include <cstdint>
#include <optional>

namespace trackway {

// How an element of a value is to be read. The numbers are those of docs/format.md, section 2.1.
enum class ValueForm : uint8_t { Bits, Unsigned, Signed, Float, Pointer, Boolean, Character, BrainFloat };

// A value is Lanes elements of Bits bits each without holes, the first one in the lowest bits.
struct ValueShape {
    ValueForm Form = ValueForm::Bits;
    unsigned Bits = 0;
    unsigned Lanes = 1;

    unsigned words() const { return (Bits * Lanes + 63) / 64; }
};

constexpr unsigned MaxValueBytes = 512;

// The shape of what the instruction loads or stores, but for its form; none if it can't be recorded.
std::optional<ValueShape> shapeOfAccess(const llvm::Instruction &I, const llvm::DataLayout &DL);

// A value in the code and the place from which on it is there.
struct Content {
    llvm::Value *V;
    llvm::Instruction *Anchor;
};

// Makes what the instruction loads or stores a value of its own: an integer, a floating-point number, a pointer or a
// vector of these. May insert instructions beside the access.
Content exposeContent(llvm::Instruction &Access);

// Bits of such a value.
unsigned contentBits(const llvm::Type *T);

// Bits 64 × Index and the following of such a value, zero-extended to the type.
llvm::Value *contentWord(llvm::IRBuilder<> &B, llvm::Value *V, unsigned Index, llvm::Type *T);

// The same for a constant; none if it isn't known before the program is linked.
std::optional<uint64_t> constantWord(const llvm::Value *V, unsigned Index, const llvm::DataLayout &DL);

} // namespace trackway
