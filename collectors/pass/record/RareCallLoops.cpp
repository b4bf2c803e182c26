#include "record/RareCallLoops.h"

#include "code/Calls.h"

#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/InstrTypes.h"

using namespace llvm;

namespace trackway {

static constexpr uint64_t IterationsPerCall = 16;

static bool returnsOnceToTheNext(const Instruction &I) {
    return !I.isTerminator() && !cast<CallBase>(I).hasFnAttr(Attribute::ReturnsTwice);
}

DenseSet<const Loop *> findRareCallLoops(Function &F, DominatorTree &DT, LoopInfo &LI, bool MayCall) {
    DenseSet<const Loop *> WithRareCalls;
    if (LI.empty())
        return WithRareCalls;
    BranchProbabilityInfo Probabilities(F, LI, nullptr, &DT);
    BlockFrequencyInfo Frequencies(F, Probabilities, LI);
    DenseMap<const Loop *, uint64_t> Calls; // how often a loop calls, in the unit of the frequencies
    DenseSet<const Loop *> Loud;
    for (BasicBlock &BB : F)
        for (Instruction &I : BB)
            if (endsUnit(I))
                for (const Loop *L = LI.getLoopFor(&BB); L; L = L->getParentLoop()) {
                    Calls[L] += Frequencies.getBlockFreq(&BB).getFrequency();
                    if (!MayCall || !returnsOnceToTheNext(I))
                        Loud.insert(L);
                }
    for (const Loop *L : LI.getLoopsInPreorder()) {
        uint64_t Iterations = Frequencies.getBlockFreq(L->getHeader()).getFrequency();
        if (L->getLoopPreheader() && !Loud.contains(L) && Calls.lookup(L) <= Iterations / IterationsPerCall)
            WithRareCalls.insert(L);
    }
    return WithRareCalls;
}

const Loop *outermostWithRareCalls(const Loop *L, const DenseSet<const Loop *> &WithRareCalls) {
    const Loop *Outermost = nullptr;
    for (; L; L = L->getParentLoop())
        if (WithRareCalls.contains(L))
            Outermost = L;
    return Outermost;
}

} // namespace trackway
