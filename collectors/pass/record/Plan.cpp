#include "record/Plan.h"

#include "LlvmVersion.h"
#include "code/Calls.h"
#include "record/CallMarks.h"
#include "record/Expect.h"
#include "record/FoldLoops.h"
#include "record/Paths.h"
#include "record/RareCallLoops.h"
#include "record/RecordedRoots.h"
#include "record/Units.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/DJB.h"

using namespace llvm;

namespace trackway {

Register Plan::addRegister(const Root &R, bool IsUnitLocal) {
    Registers.push_back(R);
    Registers.back().chooseWidth();
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
        : In(In), DL(In.F.getParent()->getDataLayout()), Decompose(DL), Places(cutUnits(In.F, P.Units)),
          RareCallLoops(findRareCallLoops(In.F, In.LI, In.Frequencies, !In.KeepsFrameSmall)),
          SteadyLoops(findSteadyLoops(In.F, In.LI, RareCallLoops, !In.KeepsFrameSmall)),
          Roots(In, P, Places, SteadyLoops, Decompose) {}

    Plan run() {
        P.KeepsFrameSmall = In.KeepsFrameSmall;
        P.Window = djbHash(In.F.getName()) % Windows;
        findKeptRegisters();
        addContextsAfterCalls();
        addEntry();
        addEvents();
        addExits();
        addContexts();
        sortOperations();
        Roots.addSteps();
        foldLoops(P, In, Places, SteadyLoops,
                  [&](Value *Count, Instruction *Anchor) { return Roots.integer(Count, RootForm::Unsigned, Anchor); });
        mergeCallMarks(P, Places, In.F);
        liftSets(P, In, Places);
        splitLongUnits(P);
        addExpectations(P, In.F, In.LI, SteadyLoops, Decompose);
        solveAvailability(P, In);
        findPaths(P);
        P.Feasible &= StreamRegisters + P.Registers.size() <= MaxRegisters;
        return std::move(P);
    }

  private:
    using Kind = Operation::Kind;
    // As many as the stream has registers. Functions near each other have mostly different ones.
    static constexpr unsigned Windows = sizeof(trackway_cells::high_halves) / sizeof(uint32_t);

    // ---- Units ----

    bool isInRareCallLoop(const BasicBlock *BB) const { return outermostOf(In.LI.getLoopFor(BB), RareCallLoops); }

    // The activations within one of a function that calls itself would take its registers each time.
    void findKeptRegisters() {
        bool IsRecursive = callsItself(In.F);
        for (Unit &U : P.Units)
            U.KeepsRegisters = U.EndsInCall && !In.KeepsFrameSmall &&
                               !cast<CallBase>(U.End)->hasFnAttr(Attribute::ReturnsTwice) &&
                               (!IsRecursive || isInRareCallLoop(U.Block));
    }

    // After each call in a loop with rare calls, so that the rest of the loop needs no global ids.
    void addContextsAfterCalls() {
        for (unsigned U = 0; U + 1 < P.Units.size(); ++U)
            if (P.Units[U].EndsInCall && isInRareCallLoop(P.Units[U].Block))
                Roots.add(Kind::Context, P.Units[U].End->getNextNode());
    }

    unsigned unitBefore(Instruction *Anchor) const { return Places.before(Anchor); }

    // ---- Function entry and exit ----

    void addEntry() {
        if (In.RecordCalls)
            Roots.add(Kind::Enter, firstOrdinary(In.F.getEntryBlock()));
    }

    // After what the call before a return did, which is recorded before the return, too.
    void addExits() {
        if (!In.RecordCalls)
            return;
        for (BasicBlock &BB : In.F)
            if (isa<ReturnInst>(BB.getTerminator()) && In.DT.isReachableFromEntry(&BB))
                Roots.add(Kind::Exit, exitAnchor(BB));
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
        auto *Previous = dyn_cast_or_null<CallInst>(previousInstruction(*Return));
        return Previous && Previous->isTailCall() && endsUnit(*Previous) ? Previous : Return;
    }

    // ---- Accesses ----

    // What is anchored at an instruction, in this order: first what follows the instruction before it. What a function
    // does to a lock comes after it has got it, or before it lets it go. A block is copied before it is freed.
    enum class Part { Wait, ReadOfReallocated, Allocation, PointBehind, Library, PointBefore, Access };

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
        for (const AllocationCall &A : In.Allocations)
            if (A.Operation == AllocationOperation::Reallocate)
                Reallocating.insert(A.Call);
        // In the order of the units, so that what dominates comes first.
        std::vector<Event> Order;
        for (unsigned I = 0; I < In.Accesses.size(); ++I) {
            const SpinWait *W = waitWith(In.Accesses[I]);
            Instruction *Anchor = W ? W->After : In.Accesses[I].anchor();
            enqueue(Order, Anchor, In.Accesses[I].Ordinal, I, W ? Part::Wait : partOf(In.Accesses[I]));
        }
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

    Part partOf(const Access &A) const {
        if (!A.Anchor)
            return Part::Access;
        return A.Kind == AccessKind::LibraryRead && Reallocating.contains(A.Where) ? Part::ReadOfReallocated
                                                                                   : Part::Library;
    }

    const SpinWait *waitWith(const Access &A) const {
        const auto *W = find_if(In.Waits, [&](const SpinWait &W) { return W.has(A.Where); });
        return W == In.Waits.end() ? nullptr : W;
    }

    void enqueue(std::vector<Event> &Order, Instruction *Anchor, unsigned Ordinal, unsigned Index, Part What) const {
        if (In.DT.isReachableFromEntry(Anchor->getParent()))
            Order.push_back({Anchor, unitBefore(Anchor), Ordinal, Index, What});
    }

    void addEvent(const Event &E) {
        switch (E.What) {
        case Part::Wait:
            return addWait(E.Index);
        case Part::PointBefore:
        case Part::PointBehind:
            return addOrderPoint(E.Index);
        case Part::ReadOfReallocated:
        case Part::Library:
        case Part::Access:
            return addAccess(E.Index);
        case Part::Allocation:
            return addAllocation(E.Index);
        }
    }

    void addOrderPoint(unsigned Index) {
        const OrderPoint &Point = In.OrderPoints[Index];
        RegisterExpression Address = Point.Address ? Roots.address(Point.Address, Point.Anchor) : RegisterExpression();
        Register Stamp = Roots.log({Point.Stamp, RootForm::Unsigned, 0}, Point.Anchor, true);
        Operation &O = Roots.add(Kind::Order, Point.Anchor);
        O.Index = Index;
        O.Address = Address;
        O.Stamp.Terms.emplace_back(Stamp, 1);
    }

    // All the loads of a loop that waits, when it is over. They come one after the other, so the first one brings the
    // others along.
    void addWait(unsigned Index) {
        const SpinWait &W = *waitWith(In.Accesses[Index]);
        if (!Recorded.insert(&W).second)
            return;
        std::vector<Operation> Loads;
        for (unsigned I = Index; I < In.Accesses.size() && Loads.size() < W.Loads.size(); ++I) {
            if (!W.has(In.Accesses[I].Where))
                continue;
            Operation Load;
            Load.K = Kind::Single;
            Load.Anchor = W.After;
            Load.Index = I;
            Load.Address = Roots.address(In.Accesses[I].Pointer, W.After);
            Loads.push_back(Load);
        }
        RegisterExpression Times = Roots.integer(W.Times, RootForm::Unsigned, W.After);
        Operation &Repeat = Roots.add(Kind::Repeat, W.After);
        Repeat.Count = Times;
        Repeat.Body.assign(Loads.begin(), Loads.end());
    }

    void addAccess(unsigned Index) {
        const Access &A = In.Accesses[Index];
        switch (A.Form) {
        case AccessForm::Single: {
            RegisterExpression Address = Roots.address(A.Pointer, A.Where);
            Operation &O = Roots.add(Kind::Single, A.Where);
            O.Index = Index;
            O.Address = Address;
            return addValue(Index);
        }
        case AccessForm::Block: {
            RegisterExpression Address = Roots.address(A.Pointer, A.anchor());
            RegisterExpression Length = Roots.integer(A.Length, RootForm::Unsigned, A.anchor());
            Operation &O = Roots.add(Kind::Block, A.anchor());
            O.Index = Index;
            O.Address = Address;
            O.Size = Length;
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
        Register Mask = Roots.log({A.Mask, RootForm::MaskBits, First}, A.Where, true);
        RegisterExpression Address;
        Register FirstLane = 0;
        if (A.Form == AccessForm::Masked) {
            Address = Roots.address(A.Pointer, A.Where);
        } else {
            // The lanes' registers must follow each other, also where some of them are known from elsewhere.
            FirstLane = P.Registers.size();
            for (unsigned Lane = First; Lane < First + Lanes; ++Lane) {
                Register Reg = P.addRegister({A.Pointer, RootForm::Lane, Lane}, true);
                Roots.add(Kind::LogRoot, A.Where).Target = Reg;
            }
        }
        Operation &O = Roots.add(A.Form == AccessForm::Masked ? Kind::Masked : Kind::Gather, A.Where);
        O.Index = Index;
        O.Address = Address;
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
        Operation &O = Roots.add(Kind::Value, A.Value.Anchor);
        O.Index = Index;
        O.Words = std::move(Words);
    }

    // Only as many bits of the register count as the value has.
    RegisterExpression valueWord(const Content &C, unsigned Index) {
        Type *T = C.V->getType();
        if (T->isPointerTy())
            return Roots.address(C.V, C.Anchor);
        if (T->isIntegerTy() && T->getIntegerBitWidth() <= 64) {
            bool ZeroExtended = any_of(C.V->users(), [](const User *U) { return isa<ZExtInst>(U); });
            return Roots.integer(C.V, ZeroExtended ? RootForm::Unsigned : RootForm::Signed, C.Anchor);
        }
        Expression E;
        if (auto Known = constantWord(C.V, Index, DL))
            E.Constant = static_cast<int64_t>(*Known);
        else
            E.addTerm({C.V, RootForm::Word, Index}, 1);
        return Roots.ensureAll(E, C.Anchor);
    }

    void addAllocation(unsigned Index) {
        const AllocationCall &A = In.Allocations[Index];
        RegisterExpression One;
        One.Constant = 1;
        auto Integer = [&](Value *V) { return V ? Roots.integer(V, RootForm::Unsigned, A.Anchor) : One; };
        RegisterExpression Pointer = Roots.address(A.Pointer, A.Anchor);
        RegisterExpression Old = A.Old ? Roots.address(A.Old, A.Anchor) : RegisterExpression();
        RegisterExpression Size = Integer(A.Size), Count = Integer(A.Count);
        Operation &O = Roots.add(A.Operation == AllocationOperation::Allocate ? Kind::Allocate
                                 : A.Operation == AllocationOperation::Free   ? Kind::Free
                                                                              : Kind::Reallocate,
                                 A.Anchor);
        O.Index = Index;
        O.Address = Pointer;
        O.Size = Size;
        O.Count = Count;
        O.Old = Old;
    }

    // ---- What keeps loops cheap ----

    // A loop with rare calls that records is entered with the function known, so that its records need no global id.
    void addContexts() {
        DenseSet<const Loop *> Done;
        for (unsigned U = 0, E = P.Units.size(); U != E; ++U) {
            if (P.Units[U].Operations.empty())
                continue;
            const Loop *Outermost = outermostOf(In.LI.getLoopFor(P.Units[U].Block), RareCallLoops);
            if (Outermost && Done.insert(Outermost).second)
                Roots.add(Kind::Context, Outermost->getLoopPreheader()->getTerminator());
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
    const Decomposer Decompose;
    Plan P;
    const UnitIndex Places;
    const DenseSet<const Loop *> RareCallLoops, SteadyLoops;
    RecordedRoots Roots;
    DenseSet<const SpinWait *> Recorded;
    DenseSet<const Instruction *> Reallocating;
};

} // namespace

Plan makePlan(const PlanInput &In) { return Planner(In).run(); }

} // namespace trackway
