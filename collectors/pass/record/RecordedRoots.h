// Selects where roots are recorded, and how addresses and numbers follow from them.
#pragma once

#include "record/Derived.h"
#include "record/Units.h"

#include "llvm/ADT/DenseSet.h"

namespace trackway {

// Gives the plan's units the operations that record roots, and the registers that hold them. A root is recorded as far
// out of the loops as it stays the same, and not at all where the decoder can step it from iteration to iteration.
class RecordedRoots {
  public:
    RecordedRoots(const PlanInput &In, Plan &P, const UnitIndex &Places,
                  const llvm::DenseSet<const llvm::Loop *> &SteadyLoops, const Decomposer &Decompose);

    // Appends an operation to the unit of its anchor.
    Operation &add(Operation::Kind K, llvm::Instruction *Anchor);

    // Records the root in any case; returns its register.
    Register log(const Root &R, llvm::Instruction *Anchor, bool UnitLocal);

    // The registers from which the decoder computes the pointer, the integer or the expression just before the anchor.
    RegisterExpression address(llvm::Value *Pointer, llvm::Instruction *Anchor);
    RegisterExpression integer(llvm::Value *V, RootForm Extension, llvm::Instruction *Anchor);
    RegisterExpression ensureAll(const Expression &E, llvm::Instruction *Anchor);

    // Adds the steps of the loops, when all else is planned and in order.
    void addSteps();

  private:
    struct Place {
        Register Reg;
        int64_t Ahead = 0; // what the register's value is ahead of the root
    };
    using CompositeKey = std::pair<llvm::GlobalVariable *, llvm::SmallVector<std::pair<Root, int64_t>, 2>>;

    unsigned unitBefore(const llvm::Instruction *Anchor) const { return Places.before(Anchor); }
    void findBusyUnits();

    Register registerOf(const Root &R, bool UnitLocal);
    bool mayShare(const Root &R) const;
    bool isAtHand(const Root &R, const llvm::Instruction *Anchor) const;
    bool isAtHand(const Expression &E, const llvm::Instruction *Anchor) const;
    const llvm::Loop *hoistLoop(const Root &R, const llvm::BasicBlock *BB) const;
    Place ensure(const Root &R, llvm::Instruction *Anchor);

    void ensureDerived(const Root &R, const DerivedValue &D);
    Operation stepOperation(Register Reg, const Root &R, const DerivedValue &D);
    bool stepsAtHead(const Root &R, const DerivedValue &D) const;
    int64_t ahead(const Root &R, const DerivedValue &D) const { return stepsAtHead(R, D) ? 0 : D.StepAfter; }

    unsigned cost(const Root &R, llvm::Instruction *Anchor);
    unsigned cost(const Expression &E, llvm::Instruction *Anchor);
    bool isLoggedNearby(const Root &R, llvm::Instruction *Anchor) const;
    Expression cheapest(llvm::Value *Pointer, llvm::Instruction *Anchor);
    Expression cheapestInteger(llvm::Value *V, RootForm Extension, llvm::Instruction *Anchor);

    const PlanInput &In;
    Plan &P;
    const UnitIndex &Places;
    const llvm::DenseSet<const llvm::Loop *> &SteadyLoops;
    const Decomposer &Decompose;
    DerivedValues Derived;
    llvm::DenseMap<Root, Register> Numbers;
    unsigned Shared = 0;
    std::vector<llvm::DenseSet<Register>> SharedRoots; // of each unit: registers it records
    std::vector<llvm::SmallVector<std::pair<CompositeKey, RegisterExpression>, 4>> Composites;
    llvm::DenseMap<Root, std::optional<Expectation>> Expected;
    llvm::DenseSet<unsigned> Busy; // units that access memory, allocate or synchronise
    std::vector<Operation> Steps;
    std::vector<std::pair<llvm::BasicBlock *, Operation>> HeadSteps;
};

} // namespace trackway
