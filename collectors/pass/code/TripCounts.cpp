#include "code/TripCounts.h"

#include "LlvmVersion.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace trackway {

// The most that computing a count may cost, in the cost model's unit: a few additions and shifts, no division.
static constexpr unsigned Budget = 8;

TripCounts::TripCounts(Function &F, DominatorTree &DT, LoopInfo &LI)
    : Dominators(DT), LibraryNames(Triple(F.getParent()->getTargetTriple())), Library(LibraryNames, &F), Assumptions(F),
      Costs(F.getParent()->getDataLayout()), Evolution(F, Library, Assumptions, DT, LI) {}

static bool leavesAtItsEndOnly(const Loop &L) { return L.getLoopLatch() && L.getExitingBlock() == L.getLoopLatch(); }

const SCEV *TripCounts::knownTimes(const Loop &L) {
    if (!L.getLoopPreheader() || !leavesAtItsEndOnly(L))
        return nullptr;
    const SCEV *Count = Evolution.getBackedgeTakenCount(&L);
    bool IsKnown = !isa<SCEVCouldNotCompute>(Count) && Count->getType()->isIntegerTy() &&
                   Evolution.getTypeSizeInBits(Count->getType()) <= 64;
    return IsKnown ? Count : nullptr;
}

bool TripCounts::isCheap(const SCEV *Count, Loop &Before) {
    Instruction *At = Before.getLoopPreheader()->getTerminator();
    SCEVExpander Expander = expanderOf(Evolution, "trackway.count");
    return Expander.isSafeToExpandAt(Count, At) && !Expander.isHighCostExpansion(Count, &Before, Budget, &Costs, At);
}

std::optional<TripCounts::Sum> TripCounts::timesBackInAll(Loop &L, function_ref<bool(const Loop &)> IsGiven) {
    const SCEV *Times = IsGiven(L) ? knownTimes(L) : nullptr;
    if (!Times)
        return std::nullopt;
    auto *I64 = Type::getInt64Ty(Evolution.getContext());
    Sum S{&L, Evolution.getNoopOrZeroExtend(Times, I64)};
    if (!isCheap(S.Times, L))
        return std::nullopt;
    for (Loop *Outer = L.getParentLoop(); Outer; Outer = Outer->getParentLoop()) {
        const SCEV *OuterTimes = IsGiven(*Outer) ? knownTimes(*Outer) : nullptr;
        bool IsNest = OuterTimes && Evolution.isLoopInvariant(S.Times, Outer) &&
                      Dominators.dominates(S.Outermost->getLoopPreheader(), Outer->getLoopLatch());
        if (!IsNest)
            break;
        const SCEV *Rounds =
            Evolution.getAddExpr(Evolution.getNoopOrZeroExtend(OuterTimes, I64), Evolution.getOne(I64));
        const SCEV *Product = Evolution.getMulExpr(S.Times, Rounds);
        if (!isCheap(Product, *Outer))
            break;
        S = {Outer, Product};
    }
    return S;
}

Value *TripCounts::expand(const Sum &S) {
    Instruction *At = S.Outermost->getLoopPreheader()->getTerminator();
    SCEVExpander Expander = expanderOf(Evolution, "trackway.count");
    return Expander.expandCodeFor(S.Times, S.Times->getType(), At);
}

Value *TripCounts::timesBack(Loop &L, const DenseSet<const Loop *> &Hoisting) {
    const SCEV *Count = knownTimes(L);
    if (!Count)
        return nullptr;
    if (Evolution.getUnsignedRangeMax(Count).getActiveBits() <= 32)
        Count = Evolution.getTruncateOrZeroExtend(Count, Type::getInt32Ty(Evolution.getContext()));
    Loop *Before = &L;
    for (Loop *Outer = L.getParentLoop(); Outer && Evolution.isLoopInvariant(Count, Outer);
         Outer = Outer->getParentLoop())
        if (Hoisting.contains(Outer))
            Before = Outer;
    Instruction *At = Before->getLoopPreheader()->getTerminator();
    SCEVExpander Expander = expanderOf(Evolution, "trackway.count");
    if (!Expander.isSafeToExpandAt(Count, At) || Expander.isHighCostExpansion(Count, &L, Budget, &Costs, At))
        return nullptr;
    return Expander.expandCodeFor(Count, Count->getType(), At);
}

bool TripCounts::isBounded(const Loop &L, uint64_t Most) {
    uint64_t Times = 1;
    for (const Loop *Inner : L.getLoopsInPreorder()) {
        Times *= Evolution.getSmallConstantTripCount(Inner);
        if (Times == 0 || Times > Most)
            return false;
    }
    return true;
}

} // namespace trackway
