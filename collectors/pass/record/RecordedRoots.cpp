#include "record/RecordedRoots.h"

#include "code/Calls.h"
#include "record/Expect.h"

#include "llvm/IR/Constants.h"

using namespace llvm;

namespace trackway {

using OperationKind = Operation::Kind;

RecordedRoots::RecordedRoots(const PlanInput &In, Plan &P, const UnitIndex &Places,
                             const DenseSet<const Loop *> &SteadyLoops, const Decomposer &Decompose)
    : In(In), P(P), Places(Places), SteadyLoops(SteadyLoops), Decompose(Decompose),
      Derived(In.LI, SteadyLoops, Decompose), SharedRoots(P.Units.size()), Composites(P.Units.size()) {
    findBusyUnits();
}

void RecordedRoots::findBusyUnits() {
    for (const Access &A : In.Accesses)
        Busy.insert(unitBefore(A.anchor()));
    for (const AllocationCall &A : In.Allocations)
        Busy.insert(unitBefore(A.Anchor));
    for (const OrderPoint &O : In.OrderPoints)
        Busy.insert(unitBefore(O.Anchor));
}

Operation &RecordedRoots::add(OperationKind K, Instruction *Anchor) {
    Unit &U = P.Units[unitBefore(Anchor)];
    Operation O;
    O.K = K;
    O.Anchor = Anchor;
    U.Operations.push_back(O);
    return U.Operations.back();
}

RegisterExpression RecordedRoots::integer(Value *V, RootForm Extension, Instruction *Anchor) {
    return ensureAll(cheapestInteger(V, Extension, Anchor), Anchor);
}

// ---- Registers ----

Register RecordedRoots::registerOf(const Root &R, bool UnitLocal) {
    auto [It, New] = Numbers.try_emplace(R, P.Registers.size());
    if (New) {
        P.addRegister(R, UnitLocal);
        Shared += !UnitLocal;
    }
    return It->second;
}

// A value that is loaded and is no address is hardly ever wanted again.
static bool isDerived(const Root &R) {
    auto *I = dyn_cast<Instruction>(R.V);
    return R.Form == RootForm::MaskBits || R.Form == RootForm::Lane ||
           (R.Form == RootForm::Word && I && I->mayReadFromMemory());
}

bool RecordedRoots::mayShare(const Root &R) const {
    auto It = Numbers.find(R);
    if (It != Numbers.end())
        return !P.UnitLocal[It->second];
    return !isDerived(R) && Shared < MaxSharedRegisters && (!In.KeepsFrameSmall || R.isAlwaysAtHand());
}

// Whether the root is there at the anchor without having been kept for that.
bool RecordedRoots::isAtHand(const Root &R, const Instruction *Anchor) const {
    if (!In.KeepsFrameSmall || R.isAlwaysAtHand())
        return true;
    auto *I = cast<Instruction>(R.V);
    return unitBefore(I) + (endsUnit(*I) && !I->isTerminator()) == unitBefore(Anchor);
}

bool RecordedRoots::isAtHand(const Expression &E, const Instruction *Anchor) const {
    return all_of(E.Terms, [&](const std::pair<Root, int64_t> &Term) { return isAtHand(Term.first, Anchor); });
}

// ---- Where a root is recorded ----

// The outermost steady loop around the block in which the root doesn't change and that isn't entered more often.
const Loop *RecordedRoots::hoistLoop(const Root &R, const BasicBlock *BB) const {
    const Loop *Best = nullptr;
    for (const Loop *L = In.LI.getLoopFor(BB); L && !R.isWithin(*L); L = L->getParentLoop())
        if (SteadyLoops.contains(L) && In.Frequencies.of(L->getLoopPreheader()) <= In.Frequencies.of(BB))
            Best = L;
    return Best;
}

static Operation undo(Operation Step) {
    if (Step.K == OperationKind::Step) {
        Step.Delta = -Step.Delta;
        return Step;
    }
    Step.NewValue.Constant = -Step.NewValue.Constant;
    for (auto &[Reg, Scale] : Step.NewValue.Terms)
        if (Reg != Step.Target)
            Scale = -Scale;
    return Step;
}

// Adds to the expression what the step adds to its register.
static void addDifference(RegisterExpression &E, const Operation &Step) {
    E.Constant += Step.K == OperationKind::Step ? Step.Delta : Step.NewValue.Constant;
    for (auto &[Reg, Scale] : Step.NewValue.Terms)
        if (Reg != Step.Target)
            E.Terms.emplace_back(Reg, Scale);
}

// Sets the register before the loop; the steps follow when all else is planned.
void RecordedRoots::ensureDerived(const Root &R, const DerivedValue &D) {
    Register Reg = registerOf(R, false);
    if (P.KnownIn[Reg])
        return;
    P.KnownIn[Reg] = D.KnownAfter ? D.Outermost : D.L;
    P.StepAfter[Reg] = {D.L, ahead(R, D)};
    Instruction *Anchor = D.L->getLoopPreheader()->getTerminator();
    bool IsPointer = R.V->getType()->isPointerTy();
    Expression Start = IsPointer ? cheapest(D.Start, Anchor) : cheapestInteger(D.Start, R.Form, Anchor);
    RegisterExpression E = ensureAll(Start, Anchor);
    Operation Step = stepOperation(Reg, R, D);
    if (stepsAtHead(R, D)) {
        Operation Undo = undo(Step);
        addDifference(E, Undo);
        P.UndoStep[Reg] = std::move(Undo);
        HeadSteps.emplace_back(D.L->getHeader(), Step);
    } else {
        Steps.push_back(Step);
    }
    Operation &O = add(OperationKind::Set, Anchor);
    O.Target = Reg;
    O.NewValue = E;
}

Operation RecordedRoots::stepOperation(Register Reg, const Root &R, const DerivedValue &D) {
    Operation O;
    O.K = OperationKind::Set;
    O.Anchor = D.L->getLoopLatch()->getTerminator();
    O.Target = Reg;
    if (!D.Next.Symbol && D.Next.Terms.size() == 1 && D.Next.Terms[0] == std::make_pair(R, int64_t(1))) {
        O.K = OperationKind::Step;
        O.Delta = D.Next.Constant;
    } else {
        O.NewValue = ensureAll(D.Next, O.Anchor);
    }
    return O;
}

// If nothing else is recorded at the end of an iteration, the step is made at the beginning of the next one. The
// register then starts one step less than its root, and is never ahead of it.
bool RecordedRoots::stepsAtHead(const Root &R, const DerivedValue &D) const {
    unsigned Head = Places.first(D.L->getHeader()), Latch = unitBefore(D.L->getLoopLatch()->getTerminator());
    if (!Busy.contains(Head) || Busy.contains(Latch) || D.Next.Symbol)
        return false;
    bool AddsToItself = false;
    for (auto &[Term, Scale] : D.Next.Terms)
        if (Term == R && Scale == 1)
            AddsToItself = true;
        else if (Term.isWithin(*D.L))
            return false;
    return AddsToItself;
}

// Makes a register hold the root just before the anchor.
RecordedRoots::Place RecordedRoots::ensure(const Root &R, Instruction *Anchor) {
    BasicBlock *BB = Anchor->getParent();
    if (mayShare(R)) {
        if (const DerivedValue *D = Derived.findFor(R, BB)) {
            ensureDerived(R, *D);
            return {Numbers.lookup(R), D->L->contains(BB) ? 0 : ahead(R, *D)};
        }
        if (const Loop *L = hoistLoop(R, BB))
            return {log(R, L->getLoopPreheader()->getTerminator(), false)};
    }
    return {log(R, Anchor, !mayShare(R))};
}

Register RecordedRoots::log(const Root &R, Instruction *Anchor, bool UnitLocal) {
    Register Reg = registerOf(R, UnitLocal);
    // Operations are added in program order but for those at preheaders' ends, which come last in their unit.
    if (SharedRoots[unitBefore(Anchor)].insert(Reg).second)
        add(OperationKind::LogRoot, Anchor).Target = Reg;
    return Reg;
}

RegisterExpression RecordedRoots::ensureAll(const Expression &E, Instruction *Anchor) {
    RegisterExpression Result;
    Result.Symbol = E.Symbol;
    Result.Constant = E.Constant;
    for (auto &[R, Scale] : E.Terms) {
        Place At = ensure(R, Anchor);
        Result.Terms.emplace_back(At.Reg, Scale);
        Result.Constant -= At.Ahead * Scale;
    }
    return Result;
}

// ---- Which roots an address is computed from ----

// Bytes that recording the root for this place costs each time.
unsigned RecordedRoots::cost(const Root &R, Instruction *Anchor) {
    BasicBlock *BB = Anchor->getParent();
    if (mayShare(R) && (Derived.findFor(R, BB) || hoistLoop(R, BB)))
        return 0;
    if (isLoggedNearby(R, Anchor))
        return 0;
    auto [Known, New] = Expected.try_emplace(R);
    if (New)
        Known->second = expected(R, In.LI, SteadyLoops, Decompose);
    const auto &E = Known->second;
    return !E || !holdsIn(*E, BB) ? R.width() : E->K == Expectation::Kind::SameValue ? 0 : 4;
}

// Whether the root is recorded in the same unit, or in a block that dominates it without calls in the dominators
// between. This is a guess that only guides the choice of roots.
bool RecordedRoots::isLoggedNearby(const Root &R, Instruction *Anchor) const {
    auto It = Numbers.find(R);
    if (It == Numbers.end())
        return false;
    unsigned U = unitBefore(Anchor);
    while (true) {
        if (SharedRoots[U].contains(It->second))
            return true;
        if (In.KeepsFrameSmall && P.UnitLocal[It->second])
            return false;
        BasicBlock *BB = P.Units[U].Block;
        if (U != Places.first(BB))
            return false;
        auto *Parent = In.DT.getNode(BB)->getIDom();
        if (!Parent)
            return false;
        U = unitBefore(Parent->getBlock()->getTerminator());
        if (P.Units[U].EndsInCall)
            return false;
    }
}

unsigned RecordedRoots::cost(const Expression &E, Instruction *Anchor) {
    unsigned Sum = 0;
    for (auto &[R, Scale] : E.Terms)
        Sum += cost(R, Anchor);
    return Sum;
}

// Either all the way down to the roots, or from an intermediate pointer. Of equals, the pointer nearest to the
// base, since other accesses share it.
Expression RecordedRoots::cheapest(Value *Pointer, Instruction *Anchor) {
    Expression Best = Decompose.full(Pointer);
    if (!isAtHand(Best, Anchor)) {
        Best = Expression();
        Best.addTerm({Pointer, RootForm::Unsigned, 0}, 1);
        return Best;
    }
    unsigned BestCost = cost(Best, Anchor);
    auto Bases = Decompose.constantBases(Pointer);
    for (auto &[Base, Distance] : reverse(Bases)) {
        if (isa<Constant>(Base) || BestCost == 0)
            break;
        if (!isAtHand({Base, RootForm::Unsigned, 0}, Anchor))
            continue;
        Expression FromBase;
        FromBase.Constant = Distance;
        FromBase.addTerm({Base, RootForm::Unsigned, 0}, 1);
        unsigned Cost = cost(FromBase, Anchor);
        if (Cost < BestCost || (Cost == BestCost && Best.Terms.size() > 1)) {
            Best = FromBase;
            BestCost = Cost;
        }
    }
    return Best;
}

Expression RecordedRoots::cheapestInteger(Value *V, RootForm Extension, Instruction *Anchor) {
    Expression Best = Decompose.integer(V, Extension == RootForm::Signed);
    bool IsCheap = isAtHand(Best, Anchor) && cost(Best, Anchor) <= Root{V, Extension, 0}.width();
    if (IsCheap || isa<Constant>(V))
        return Best;
    Expression Whole;
    Whole.addTerm({V, Extension, 0}, 1);
    return Whole;
}

// Addresses of one unit that differ by a constant share a root even if no pointer in the code is their common base.
RegisterExpression RecordedRoots::address(Value *Pointer, Instruction *Anchor) {
    Expression Full = Decompose.full(Pointer);
    auto Key = std::make_pair(Full.Symbol, Full.Terms);
    auto &Known = Composites[unitBefore(Anchor)];
    for (auto &[KnownKey, KnownAddress] : Known)
        if (KnownKey == Key) {
            RegisterExpression E = KnownAddress;
            E.Constant += Full.Constant; // relative to the composite's constant, see below
            return E;
        }
    RegisterExpression E = ensureAll(cheapest(Pointer, Anchor), Anchor);
    RegisterExpression Relative = E;
    Relative.Constant -= Full.Constant;
    Known.emplace_back(Key, Relative);
    return E;
}

// Steps at the end of an iteration come last in their units: what the iteration records is computed from the values
// before the step.
void RecordedRoots::addSteps() {
    for (const Operation &Step : Steps)
        P.Units[unitBefore(Step.Anchor)].Operations.push_back(Step);
    for (auto &[Head, Step] : HeadSteps) {
        auto &Operations = P.Units[Places.first(Head)].Operations;
        Step.Anchor = Operations.front().Anchor;
        Operations.insert(Operations.begin(), Step);
    }
}

} // namespace trackway
