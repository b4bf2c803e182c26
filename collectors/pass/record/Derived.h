// Loop-carried values that the decoder can compute by itself.
//
// In a steady loop (RareCallLoops.h) a value at the loop's head (a phi) need not be recorded if its next value follows
// from itself, from values that the loop doesn't change, and from derived values of inner loops: the counter of a
// `for`, a pointer that walks by a variable stride, the two indexes of a partition. The decoder sets a register before
// the loop and steps it at the end of each iteration.
#pragma once

#include "code/Root.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"

namespace trackway {

struct DerivedValue {
    llvm::Loop *L;               // at whose head the value is
    const llvm::Loop *Outermost; // the outermost steady one around it
    llvm::Value *Start;          // on entry
    Expression Next;
    // After the loop the register holds what it would have been next if the loop is left at its end only, and the last
    // value if it is never left there. If it is left at both, or the step can't be undone, the value isn't known.
    bool KnownAfter;
    int64_t StepAfter; // what the register is ahead of the value then
};

class DerivedValues {
  public:
    // SteadyLoops: loops with a preheader in which nothing that records is called.
    DerivedValues(const llvm::LoopInfo &LI, const llvm::DenseSet<const llvm::Loop *> &SteadyLoops,
                  const Decomposer &Decompose);

    const DerivedValue *find(const Root &R) const;
    // The value if the register can stand for it in this block.
    const DerivedValue *findFor(const Root &R, const llvm::BasicBlock *BB) const;

  private:
    void addCandidates(llvm::Loop &L, const llvm::Loop &Outermost, const Decomposer &Decompose);
    void addCandidate(const Root &R, llvm::Value *Next, llvm::Loop &L, const llvm::Loop &Outermost,
                      const Decomposer &Decompose);
    bool isComputable(const Root &R, const DerivedValue &D) const;

    llvm::MapVector<Root, DerivedValue> Values;
};

} // namespace trackway
