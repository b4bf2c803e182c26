#include "record/RareCallLoops.h"

#include "code/Calls.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/InstrTypes.h"

using namespace llvm;

namespace trackway {

static constexpr uint64_t IterationsPerCall = 16;

static bool returnsOnceToTheNext(const Instruction &I) {
    return !I.isTerminator() && !cast<CallBase>(I).hasFnAttr(Attribute::ReturnsTwice);
}

DenseSet<const Loop *> findRareCallLoops(const Function &F, const LoopInfo &LI, BlockFrequencies &Frequencies,
                                         bool MayCall) {
    DenseSet<const Loop *> WithRareCalls;
    if (LI.empty())
        return WithRareCalls;
    DenseMap<const Loop *, uint64_t> Calls; // how often a loop calls, in the unit of the frequencies
    DenseSet<const Loop *> Loud;
    for (const BasicBlock &BB : F)
        for (const Instruction &I : BB)
            if (endsUnit(I))
                for (const Loop *L = LI.getLoopFor(&BB); L; L = L->getParentLoop()) {
                    Calls[L] += Frequencies.of(&BB);
                    if (!MayCall || !returnsOnceToTheNext(I))
                        Loud.insert(L);
                }
    for (const Loop *L : LI.getLoopsInPreorder())
        if (L->getLoopPreheader() && !Loud.contains(L) &&
            Calls.lookup(L) <= Frequencies.of(L->getHeader()) / IterationsPerCall)
            WithRareCalls.insert(L);
    return WithRareCalls;
}

static bool mayReturnTwice(const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    return Call && Call->hasFnAttr(Attribute::ReturnsTwice);
}

DenseSet<const Loop *> findSteadyLoops(const Function &F, const LoopInfo &LI, DenseSet<const Loop *> RareCallLoops,
                                       bool MayCall) {
    DenseSet<const Loop *> Steady = std::move(RareCallLoops);
    if (!MayCall || callsItself(F))
        return Steady;
    for (const Loop *L : LI.getLoopsInPreorder())
        if (L->getLoopPreheader() &&
            none_of(L->blocks(), [](const BasicBlock *BB) { return any_of(*BB, mayReturnTwice); }))
            Steady.insert(L);
    return Steady;
}

const Loop *outermostOf(const Loop *L, const DenseSet<const Loop *> &Loops) {
    const Loop *Outermost = nullptr;
    for (; L; L = L->getParentLoop())
        if (Loops.contains(L))
            Outermost = L;
    return Outermost;
}

} // namespace trackway
