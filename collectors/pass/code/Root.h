// Roots: the run-time values from which addresses follow.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Value.h"

#include <cstdint>
#include <tuple>

namespace llvm {
class DataLayout;
class GlobalVariable;
class Loop;
} // namespace llvm

namespace trackway {

// How a value becomes the 64 bits of a register.
enum class RootForm : uint8_t {
    Unsigned, // pointers, and integers that are zero-extended
    Signed,   // integers that are sign-extended
    MaskBits, // 64 lanes of a vector of i1 from Index on, lane i in bit i
    Lane,     // element Index of a vector of pointers
    LowHalf,  // bits 0 to 31 of a pointer
    HighHalf, // its bits 32 to 63
    Word,     // bits 64 × Index and the following of a recorded value (Values.h)
};

struct Root {
    llvm::Value *V = nullptr;
    RootForm Form = RootForm::Unsigned;
    unsigned Index = 0;
    // Once chosen: what is known of a value may change while its function is instrumented. 0: not yet.
    unsigned ChosenWidth = 0;

    bool operator==(const Root &Other) const { return V == Other.V && Form == Other.Form && Index == Other.Index; }
    bool operator<(const Root &Other) const {
        return std::tie(V, Form, Index) < std::tie(Other.V, Other.Form, Other.Index);
    }
    // Bytes in a record: 1, 2, 4 or 8.
    unsigned width() const { return ChosenWidth ? ChosenWidth : neededWidth(); }
    void chooseWidth() { ChosenWidth = neededWidth(); }
    // Whether code has it without keeping it: addresses in the frame are computed anew wherever they are needed, and
    // constants; what a function is given it keeps anyway.
    bool isAlwaysAtHand() const;
    // Whether it is computed in the loop, and so may change with each iteration.
    bool isWithin(const llvm::Loop &L) const;

  private:
    unsigned neededWidth() const;
};

// symbol + constant + Σ root × scale, modulo 2^64.
struct Expression {
    llvm::GlobalVariable *Symbol = nullptr;
    int64_t Constant = 0;
    llvm::SmallVector<std::pair<Root, int64_t>, 2> Terms;

    bool isStatic() const { return Terms.empty(); }
    void addTerm(const Root &R, int64_t Scale);
};

// Follows the address computation from a pointer or an integer down to its roots.
class Decomposer {
  public:
    explicit Decomposer(const llvm::DataLayout &DL) : DL(DL) {}

    // The address as a whole.
    Expression full(llvm::Value *Pointer) const;
    // The intermediate pointers of the computation, from Pointer itself to its base, each with the constant distance
    // or none if a variable lies between.
    llvm::SmallVector<std::pair<llvm::Value *, int64_t>, 4> constantBases(llvm::Value *Pointer) const;
    // A 64-bit integer or a narrower one, extended as stated.
    Expression integer(llvm::Value *V, bool SignExtend) const;

  private:
    void pointer(llvm::Value *V, Expression &E, unsigned Depth) const;
    void integer(llvm::Value *V, RootForm Extension, int64_t Scale, Expression &E, unsigned Depth) const;

    const llvm::DataLayout &DL;
};

} // namespace trackway

namespace llvm {
template <> struct DenseMapInfo<trackway::Root> {
    static trackway::Root getEmptyKey() { return {DenseMapInfo<Value *>::getEmptyKey(), {}, 0}; }
    static trackway::Root getTombstoneKey() { return {DenseMapInfo<Value *>::getTombstoneKey(), {}, 0}; }
    static unsigned getHashValue(const trackway::Root &R) {
        return hash_combine(R.V, static_cast<uint8_t>(R.Form), R.Index);
    }
    static bool isEqual(const trackway::Root &A, const trackway::Root &B) { return A == B; }
};
} // namespace llvm
