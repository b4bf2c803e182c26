#include "TripCounts.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace trackway {

// What computing a count may cost, in the unit of the cost model: a few additions and shifts, no division.
static constexpr unsigned Budget = 8;

TripCounts::TripCounts(Function &F, DominatorTree &DT, LoopInfo &LI)
    : LibraryNames(Triple(F.getParent()->getTargetTriple())), Library(LibraryNames, &F), Assumptions(F),
      Costs(F.getParent()->getDataLayout()), Evolution(F, Library, Assumptions, DT, LI) {}

static bool leavesAtItsEndOnly(const Loop &L) { return L.getLoopLatch() && L.getExitingBlock() == L.getLoopLatch(); }

Value *TripCounts::timesBack(Loop &L, const DenseSet<const Loop *> &Hoisting) {
    if (!L.getLoopPreheader() || !leavesAtItsEndOnly(L))
        return nullptr;
    const SCEV *Count = Evolution.getBackedgeTakenCount(&L);
    if (isa<SCEVCouldNotCompute>(Count) || !Count->getType()->isIntegerTy() ||
        Evolution.getTypeSizeInBits(Count->getType()) > 64)
        return nullptr;
    if (Evolution.getUnsignedRangeMax(Count).getActiveBits() <= 32)
        Count = Evolution.getTruncateOrZeroExtend(Count, Type::getInt32Ty(Evolution.getContext()));
    Loop *Before = &L;
    for (Loop *Outer = L.getParentLoop(); Outer && Evolution.isLoopInvariant(Count, Outer);
         Outer = Outer->getParentLoop())
        if (Hoisting.contains(Outer))
            Before = Outer;
    Instruction *At = Before->getLoopPreheader()->getTerminator();
    SCEVExpander Expander(Evolution, L.getHeader()->getModule()->getDataLayout(), "trackway.count");
    if (!Expander.isSafeToExpandAt(Count, At) || Expander.isHighCostExpansion(Count, &L, Budget, &Costs, At))
        return nullptr;
    return Expander.expandCodeFor(Count, Count->getType(), At);
}

} // namespace trackway
