#include "Plan.h"

#include "CallMarks.h"
#include "Derived.h"
#include "Expect.h"
#include "FoldLoops.h"
#include "QuietLoops.h"
#include "Units.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace trackway {

Register Plan::addRegister(const Root &R, bool IsUnitLocal) {
    Registers.push_back(R);
    KnownIn.push_back(nullptr);
    StepAfter.emplace_back(nullptr, 0);
    UndoStep.emplace_back();
    UnitLocal.push_back(IsUnitLocal);
    return Registers.size() - 1;
}

namespace {

class Planner {
  public:
    explicit Planner(const PlanInput &In)
        : In(In), DL(In.F.getParent()->getDataLayout()), Decompose(DL), Places(cutUnits(In.F, P.Units)) {}

    Plan run() {
        SharedRoots.resize(P.Units.size());
        Composites.resize(P.Units.size());
        QuietLoops = findQuietLoops(In.F, In.DT, In.LI);
        addRepairs();
        Derived.emplace(In.LI, QuietLoops, Decompose);
        findBusyUnits();
        addCalls();
        addEvents();
        addContexts();
        sortOperations();
        addSteps();
        foldLoops(P, In, Places, QuietLoops,
                  [&](Value *Count, Instruction *Anchor) { return integer(Count, RootForm::Unsigned, Anchor); });
        mergeCallMarks(P, Places, In.F);
        liftSets(P, In, Places);
        splitLongUnits(P);
        addExpectations(P, In.F, In.LI, QuietLoops, Decompose);
        solveAvailability(P, In);
        P.Feasible &= StreamRegisters + P.Registers.size() <= MaxRegisters;
        return std::move(P);
    }

  private:
    using Kind = Operation::Kind;

    // ---- Units ----

    // Behind each call in a quiet loop what is known before it is recorded again.
    void addRepairs() {
        for (unsigned U = 0; U + 1 < P.Units.size(); ++U)
            if (P.Units[U].EndsInCall && outermostQuiet(P.Units[U].Block)) {
                P.Units[U].IsRepaired = P.Units[U + 1].Repairs = true;
                add(Kind::Context, P.Units[U].End->getNextNode());
            }
    }

    Loop *outermostQuiet(BasicBlock *BB) const {
        Loop *Outermost = nullptr;
        for (Loop *L = In.LI.getLoopFor(BB); L; L = L->getParentLoop())
            if (QuietLoops.contains(L))
                Outermost = L;
        return Outermost;
    }

    unsigned unitBefore(Instruction *Anchor) const { return Places.before(Anchor); }

    Operation &add(Kind K, Instruction *Anchor) {
        Unit &U = P.Units[unitBefore(Anchor)];
        Operation O;
        O.K = K;
        O.Anchor = Anchor;
        U.Operations.push_back(O);
        return U.Operations.back();
    }

    // ---- Function entry and exit ----

    void addCalls() {
        if (!In.RecordCalls)
            return;
        add(Kind::Enter, firstOrdinary(In.F.getEntryBlock()));
        for (BasicBlock &BB : In.F)
            if (isa<ReturnInst>(BB.getTerminator()) && In.DT.isReachableFromEntry(&BB))
                add(Kind::Exit, exitAnchor(BB));
    }

    static Instruction *firstOrdinary(BasicBlock &BB) {
        auto It = BB.getFirstInsertionPt();
        while (isa<AllocaInst>(*It))
            ++It;
        return &*It;
    }

    // A call in tail position leaves the frame before the callee runs.
    static Instruction *exitAnchor(BasicBlock &BB) {
        Instruction *Return = BB.getTerminator();
        auto *Previous = dyn_cast_or_null<CallInst>(Return->getPrevNonDebugInstruction());
        return Previous && Previous->isTailCall() && endsUnit(*Previous) ? Previous : Return;
    }

    // ---- Registers ----

    Register registerOf(const Root &R, bool UnitLocal) {
        auto [It, New] = Numbers.try_emplace(R, P.Registers.size());
        if (New) {
            P.addRegister(R, UnitLocal);
            Shared += !UnitLocal;
        }
        return It->second;
    }

    // What is loaded as no address is hardly ever wanted again.
    static bool isDerived(const Root &R) {
        auto *I = dyn_cast<Instruction>(R.V);
        return R.Form == RootForm::MaskBits || R.Form == RootForm::Lane ||
               (R.Form == RootForm::Word && I && I->mayReadFromMemory());
    }

    bool mayShare(const Root &R) const {
        auto It = Numbers.find(R);
        if (It != Numbers.end())
            return !P.UnitLocal[It->second];
        return !isDerived(R) && Shared < MaxSharedRegisters;
    }

    // ---- Where a root is recorded ----

    // The outermost quiet loop around the block in which the root doesn't change.
    Loop *hoistLoop(const Root &R, BasicBlock *BB) const {
        Loop *Best = nullptr;
        for (Loop *L = In.LI.getLoopFor(BB); L && !R.isWithin(*L); L = L->getParentLoop())
            if (QuietLoops.contains(L))
                Best = L;
        return Best;
    }

    // Sets the register before the loop; the steps follow when all else is planned.
    void ensureDerived(const Root &R, const DerivedValue &D) {
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
            P.UndoStep[Reg] = undo(Step);
            addDifference(E, *P.UndoStep[Reg]);
            HeadSteps.emplace_back(D.L->getHeader(), Step);
        } else {
            Steps.push_back(Step);
        }
        Operation &O = add(Kind::Set, Anchor);
        O.Target = Reg;
        O.A = E;
    }

    Operation stepOperation(Register Reg, const Root &R, const DerivedValue &D) {
        Operation O;
        O.K = Kind::Set;
        O.Anchor = D.L->getLoopLatch()->getTerminator();
        O.Target = Reg;
        if (!D.Next.Symbol && D.Next.Terms.size() == 1 && D.Next.Terms[0] == std::make_pair(R, int64_t(1))) {
            O.K = Kind::Step;
            O.Delta = D.Next.Constant;
        } else {
            O.A = ensureAll(D.Next, O.Anchor);
        }
        return O;
    }

    // Where nothing else is recorded at the end of an iteration, the step is made at the beginning of the next one, and
    // the register starts one step behind. Then it is never ahead of its root.
    bool stepsAtHead(const Root &R, const DerivedValue &D) const {
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

    int64_t ahead(const Root &R, const DerivedValue &D) const { return stepsAtHead(R, D) ? 0 : D.StepAfter; }

    static Operation undo(Operation Step) {
        if (Step.K == Kind::Step) {
            Step.Delta = -Step.Delta;
            return Step;
        }
        Step.A.Constant = -Step.A.Constant;
        for (auto &[Reg, Scale] : Step.A.Terms)
            if (Reg != Step.Target)
                Scale = -Scale;
        return Step;
    }

    // What the step adds to its register, added to the expression.
    static void addDifference(RegisterExpression &E, const Operation &Step) {
        E.Constant += Step.K == Kind::Step ? Step.Delta : Step.A.Constant;
        for (auto &[Reg, Scale] : Step.A.Terms)
            if (Reg != Step.Target)
                E.Terms.emplace_back(Reg, Scale);
    }

    void findBusyUnits() {
        for (const Access &A : In.Accesses)
            Busy.insert(unitBefore(A.Where));
        for (const AllocationCall &A : In.Allocations)
            Busy.insert(unitBefore(A.Anchor));
        for (const OrderPoint &O : In.OrderPoints)
            Busy.insert(unitBefore(O.Anchor));
    }

    struct Place {
        Register Reg;
        int64_t Ahead = 0; // what the register's value is ahead of the root
    };

    // Makes a register hold the root just before the anchor.
    Place ensure(const Root &R, Instruction *Anchor) {
        BasicBlock *BB = Anchor->getParent();
        if (mayShare(R)) {
            if (const DerivedValue *D = Derived->findFor(R, BB)) {
                ensureDerived(R, *D);
                return {Numbers.lookup(R), D->L->contains(BB) ? 0 : ahead(R, *D)};
            }
            if (Loop *L = hoistLoop(R, BB))
                return {log(R, L->getLoopPreheader()->getTerminator(), false)};
        }
        return {log(R, Anchor, !mayShare(R))};
    }

    Register log(const Root &R, Instruction *Anchor, bool UnitLocal) {
        Register Reg = registerOf(R, UnitLocal);
        // Operations are added in program order but for those at preheaders' ends, which come last in their unit.
        if (SharedRoots[unitBefore(Anchor)].insert(Reg).second)
            add(Kind::LogRoot, Anchor).Target = Reg;
        return Reg;
    }

    RegisterExpression ensureAll(const Expression &E, Instruction *Anchor) {
        RegisterExpression Result;
        Result.Symbol = E.Symbol;
        Result.Constant = E.Constant;
        for (auto &[R, Scale] : E.Terms)
            addTerm(Result, ensure(R, Anchor), Scale);
        return Result;
    }

    static void addTerm(RegisterExpression &E, const Place &P, int64_t Scale) {
        E.Terms.emplace_back(P.Reg, Scale);
        E.Constant -= P.Ahead * Scale;
    }

    // ---- Which roots an address is computed from ----

    // Bytes that recording the root for this place costs each time.
    unsigned cost(const Root &R, Instruction *Anchor) {
        BasicBlock *BB = Anchor->getParent();
        if (mayShare(R) && (Derived->findFor(R, BB) || hoistLoop(R, BB)))
            return 0;
        if (isLoggedNearby(R, Anchor))
            return 0;
        auto [Known, New] = Expected.try_emplace(R);
        if (New)
            Known->second = expected(R, In.LI, QuietLoops, Decompose);
        const auto &E = Known->second;
        return !E || !holdsIn(*E, BB) ? R.width() : E->K == Expectation::Kind::SameValue ? 0 : 4;
    }

    // In the same unit, or in a block that dominates it without calls in the dominators between. A guess that only
    // guides the choice of roots.
    bool isLoggedNearby(const Root &R, Instruction *Anchor) const {
        auto It = Numbers.find(R);
        if (It == Numbers.end())
            return false;
        unsigned U = unitBefore(Anchor);
        while (true) {
            if (SharedRoots[U].contains(It->second))
                return true;
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

    unsigned cost(const Expression &E, Instruction *Anchor) {
        unsigned Sum = 0;
        for (auto &[R, Scale] : E.Terms)
            Sum += cost(R, Anchor);
        return Sum;
    }

    // Either all the way down to the roots, or from an intermediate pointer. Of equals, the pointer nearest to the
    // base, since other accesses share it.
    Expression cheapest(Value *Pointer, Instruction *Anchor) {
        Expression Best = Decompose.full(Pointer);
        unsigned BestCost = cost(Best, Anchor);
        auto Bases = Decompose.constantBases(Pointer);
        for (auto &[Base, Distance] : reverse(Bases)) {
            if (isa<Constant>(Base) || BestCost == 0)
                break;
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

    Expression cheapestInteger(Value *V, RootForm Extension, Instruction *Anchor) {
        Expression Best = Decompose.integer(V, Extension == RootForm::Signed);
        if (cost(Best, Anchor) <= Root{V, Extension, 0}.width() || isa<Constant>(V))
            return Best;
        Expression Whole;
        Whole.addTerm({V, Extension, 0}, 1);
        return Whole;
    }

    // Addresses of one unit that differ by a constant share a root even if no pointer in the code is their common base.
    RegisterExpression address(Value *Pointer, Instruction *Anchor) {
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

    // ---- Accesses ----

    // What is anchored at an instruction, in this order: first what was found behind the one before it.
    enum class Part { Allocation, PointBehind, PointBefore, Access };

    struct Event {
        Instruction *Anchor;
        unsigned Unit, Ordinal, Index;
        Part What;

        // Anchors of a unit are in one block. What is allocated by an invoke comes before the accesses of the block
        // that follows it, whose ordinals may be smaller.
        bool operator<(const Event &Other) const {
            if (Unit != Other.Unit)
                return Unit < Other.Unit;
            if (Anchor != Other.Anchor)
                return Anchor->comesBefore(Other.Anchor);
            return std::tie(What, Ordinal, Index) < std::tie(Other.What, Other.Ordinal, Other.Index);
        }
    };

    void addEvents() {
        // In the order of the units, so that what dominates comes first.
        std::vector<Event> Order;
        for (unsigned I = 0; I < In.Accesses.size(); ++I)
            enqueue(Order, In.Accesses[I].Where, In.Accesses[I].Ordinal, I, Part::Access);
        for (unsigned I = 0; I < In.Allocations.size(); ++I)
            enqueue(Order, In.Allocations[I].Anchor, In.Allocations[I].Ordinal, I, Part::Allocation);
        for (unsigned I = 0; I < In.OrderPoints.size(); ++I) {
            const OrderPoint &O = In.OrderPoints[I];
            enqueue(Order, O.Anchor, O.Ordinal, I, O.Anchor == O.Where ? Part::PointBefore : Part::PointBehind);
        }
        llvm::sort(Order);
        for (const Event &E : Order)
            addEvent(E);
    }

    void enqueue(std::vector<Event> &Order, Instruction *Anchor, unsigned Ordinal, unsigned Index, Part What) const {
        if (In.DT.isReachableFromEntry(Anchor->getParent()))
            Order.push_back({Anchor, unitBefore(Anchor), Ordinal, Index, What});
    }

    void addEvent(const Event &E) {
        switch (E.What) {
        case Part::PointBefore:
        case Part::PointBehind:
            return addOrderPoint(E.Index);
        case Part::Access:
            return addAccess(E.Index);
        case Part::Allocation:
            return addAllocation(E.Index);
        }
    }

    void addOrderPoint(unsigned Index) {
        const OrderPoint &Point = In.OrderPoints[Index];
        RegisterExpression Address = Point.Address ? address(Point.Address, Point.Anchor) : RegisterExpression();
        Register Stamp = log({Point.Stamp, RootForm::Unsigned, 0}, Point.Anchor, true);
        Operation &O = add(Kind::Order, Point.Anchor);
        O.Index = Index;
        O.A = Address;
        O.B.Terms.emplace_back(Stamp, 1);
    }

    void addAccess(unsigned Index) {
        const Access &A = In.Accesses[Index];
        switch (A.Form) {
        case AccessForm::Single: {
            RegisterExpression Address = address(A.Pointer, A.Where);
            Operation &O = add(Kind::Single, A.Where);
            O.Index = Index;
            O.A = Address;
            return addValue(Index);
        }
        case AccessForm::Block: {
            RegisterExpression Address = address(A.Pointer, A.Where);
            RegisterExpression Length = integer(A.Length, RootForm::Unsigned, A.Where);
            Operation &O = add(Kind::Block, A.Where);
            O.Index = Index;
            O.A = Address;
            O.B = Length;
            return;
        }
        case AccessForm::Masked:
        case AccessForm::Gather:
            for (unsigned Lane = 0; Lane < A.Lanes; Lane += 64)
                addLanes(Index, Lane, std::min(A.Lanes - Lane, 64u));
        }
    }

    void addLanes(unsigned Index, unsigned First, unsigned Lanes) {
        const Access &A = In.Accesses[Index];
        Register Mask = log({A.Mask, RootForm::MaskBits, First}, A.Where, true);
        RegisterExpression Address;
        Register FirstLane = 0;
        if (A.Form == AccessForm::Masked) {
            Address = address(A.Pointer, A.Where);
        } else {
            // The lanes' registers must follow each other, also where some of them are known from elsewhere.
            FirstLane = P.Registers.size();
            for (unsigned Lane = First; Lane < First + Lanes; ++Lane) {
                Register Reg = P.addRegister({A.Pointer, RootForm::Lane, Lane}, true);
                add(Kind::LogRoot, A.Where).Target = Reg;
            }
        }
        Operation &O = add(A.Form == AccessForm::Masked ? Kind::Masked : Kind::Gather, A.Where);
        O.Index = Index;
        O.A = Address;
        O.Target = Mask;
        O.FirstLane = FirstLane;
        O.FirstLaneIndex = First;
        O.Lanes = Lanes;
        addValue(Index);
    }

    // ---- Values ----

    void addValue(unsigned Index) {
        const Access &A = In.Accesses[Index];
        if (!A.Shape)
            return;
        std::vector<RegisterExpression> Words;
        for (unsigned Word = 0; Word < A.Shape->words(); ++Word)
            Words.push_back(valueWord(A.Value, Word));
        Operation &O = add(Kind::Value, A.Value.Anchor);
        O.Index = Index;
        O.Words = std::move(Words);
    }

    // Only as many bits of the register count as the value has.
    RegisterExpression valueWord(const Content &C, unsigned Index) {
        Type *T = C.V->getType();
        if (T->isPointerTy())
            return address(C.V, C.Anchor);
        if (T->isIntegerTy() && T->getIntegerBitWidth() <= 64) {
            bool ZeroExtended = any_of(C.V->users(), [](const User *U) { return isa<ZExtInst>(U); });
            return integer(C.V, ZeroExtended ? RootForm::Unsigned : RootForm::Signed, C.Anchor);
        }
        Expression E;
        if (auto Known = constantWord(C.V, Index, DL))
            E.Constant = static_cast<int64_t>(*Known);
        else
            E.addTerm({C.V, RootForm::Word, Index}, 1);
        return ensureAll(E, C.Anchor);
    }

    RegisterExpression integer(Value *V, RootForm Extension, Instruction *Anchor) {
        return ensureAll(cheapestInteger(V, Extension, Anchor), Anchor);
    }

    void addAllocation(unsigned Index) {
        const AllocationCall &A = In.Allocations[Index];
        RegisterExpression One;
        One.Constant = 1;
        auto Integer = [&](Value *V) { return V ? integer(V, RootForm::Unsigned, A.Anchor) : One; };
        RegisterExpression Pointer = address(A.Pointer, A.Anchor);
        RegisterExpression Old = A.Old ? address(A.Old, A.Anchor) : RegisterExpression();
        RegisterExpression Size = Integer(A.Size), Count = Integer(A.Count);
        Operation &O = add(A.Operation == AllocationOperation::Allocate ? Kind::Allocate
                           : A.Operation == AllocationOperation::Free   ? Kind::Free
                                                                        : Kind::Reallocate,
                           A.Anchor);
        O.Index = Index;
        O.A = Pointer;
        O.B = Size;
        O.C = Count;
        O.D = Old;
    }

    // ---- What keeps loops cheap ----

    // A quiet loop that records is entered with the function known, so that its records need no global id.
    void addContexts() {
        DenseSet<Loop *> Done;
        for (unsigned U = 0, E = P.Units.size(); U != E; ++U) {
            if (P.Units[U].Operations.empty())
                continue;
            Loop *Outermost = outermostQuiet(P.Units[U].Block);
            if (Outermost && Done.insert(Outermost).second)
                add(Kind::Context, Outermost->getLoopPreheader()->getTerminator());
        }
    }

    // At the end they come last in their units: what the iteration records is computed from the values before the step.
    void addSteps() {
        for (const Operation &Step : Steps)
            P.Units[unitBefore(Step.Anchor)].Operations.push_back(Step);
        for (auto &[Head, Step] : HeadSteps) {
            auto &Operations = P.Units[Places.first(Head)].Operations;
            Step.Anchor = Operations.front().Anchor;
            Operations.insert(Operations.begin(), Step);
        }
    }

    void sortOperations() {
        for (Unit &U : P.Units)
            llvm::stable_sort(U.Operations, [](const Operation &A, const Operation &B) {
                return A.Anchor != B.Anchor && A.Anchor->comesBefore(B.Anchor);
            });
    }

    const PlanInput &In;
    const DataLayout &DL;
    Decomposer Decompose;
    Plan P;
    UnitIndex Places;
    DenseSet<const Loop *> QuietLoops;
    DenseMap<Root, Register> Numbers;
    unsigned Shared = 0;
    std::vector<DenseSet<Register>> SharedRoots; // of each unit: registers it records
    using CompositeKey = std::pair<GlobalVariable *, SmallVector<std::pair<Root, int64_t>, 2>>;
    std::vector<SmallVector<std::pair<CompositeKey, RegisterExpression>, 4>> Composites;
    DenseMap<Root, std::optional<Expectation>> Expected;
    DenseSet<unsigned> Busy; // units that access memory or allocate
    std::vector<Operation> Steps;
    std::vector<std::pair<BasicBlock *, Operation>> HeadSteps;
    std::optional<DerivedValues> Derived;
};

} // namespace

Plan makePlan(const PlanInput &In) { return Planner(In).run(); }

} // namespace trackway
