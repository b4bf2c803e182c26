#include "record/Derived.h"

#include "record/RareCallLoops.h"

#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace trackway {

DerivedValues::DerivedValues(const LoopInfo &LI, const DenseSet<const Loop *> &SteadyLoops,
                             const Decomposer &Decompose) {
    // A latch that belongs to an inner loop too would step with each iteration of that loop.
    for (Loop *L : LI.getLoopsInPreorder())
        if (SteadyLoops.contains(L) && L->getLoopLatch() && LI.getLoopFor(L->getLoopLatch()) == L)
            addCandidates(*L, *outermostOf(L, SteadyLoops), Decompose);
    // Candidates lean on each other: drop those that lean on none, until all that are left stand.
    for (bool Changed = true; Changed;) {
        Changed = false;
        Values.remove_if([&](const auto &Entry) {
            bool Drop = !isComputable(Entry.first, Entry.second);
            Changed |= Drop;
            return Drop;
        });
    }
}

void DerivedValues::addCandidates(Loop &L, const Loop &Outermost, const Decomposer &Decompose) {
    for (PHINode &Phi : L.getHeader()->phis()) {
        Value *Next = Phi.getIncomingValueForBlock(L.getLoopLatch());
        if (Phi.getType()->isPointerTy())
            addCandidate({&Phi, RootForm::Unsigned, 0}, Next, L, Outermost, Decompose);
        if (!Phi.getType()->isIntegerTy() || Phi.getType()->getIntegerBitWidth() > 64)
            continue;
        addCandidate({&Phi, RootForm::Unsigned, 0}, Next, L, Outermost, Decompose);
        if (Phi.getType()->getIntegerBitWidth() < 64)
            addCandidate({&Phi, RootForm::Signed, 0}, Next, L, Outermost, Decompose);
    }
}

void DerivedValues::addCandidate(const Root &R, Value *Next, Loop &L, const Loop &Outermost,
                                 const Decomposer &Decompose) {
    DerivedValue D{&L, &Outermost, cast<PHINode>(R.V)->getIncomingValueForBlock(L.getLoopPreheader()), {}, false, 0};
    D.Next = R.V->getType()->isPointerTy() ? Decompose.full(Next) : Decompose.integer(Next, R.Form == RootForm::Signed);
    SmallVector<BasicBlock *, 4> Exiting;
    L.getExitingBlocks(Exiting);
    if (!is_contained(Exiting, L.getLoopLatch())) {
        D.KnownAfter = true;
    } else if (all_equal(Exiting) && !D.Next.Symbol && D.Next.Terms.size() == 1 && D.Next.Terms[0].first == R &&
               D.Next.Terms[0].second == 1) {
        D.KnownAfter = true;
        D.StepAfter = D.Next.Constant;
    }
    Values.insert({R, D});
}

bool DerivedValues::isComputable(const Root &R, const DerivedValue &D) const {
    return all_of(D.Next.Terms, [&](const std::pair<Root, int64_t> &Term) {
        const Root &T = Term.first;
        if (T == R || !T.isWithin(*D.L))
            return true;
        // The other values at the head of the same loop step at the same place: their order would matter.
        const DerivedValue *Inner = find(T);
        return Inner && Inner->L != D.L && D.L->contains(Inner->L) && Inner->KnownAfter &&
               !Inner->L->contains(D.L->getLoopLatch());
    });
}

const DerivedValue *DerivedValues::find(const Root &R) const {
    auto It = Values.find(R);
    return It == Values.end() ? nullptr : &It->second;
}

const DerivedValue *DerivedValues::findFor(const Root &R, const BasicBlock *BB) const {
    const DerivedValue *D = find(R);
    if (!D || !(D->L->contains(BB) || (D->KnownAfter && D->Outermost->contains(BB))))
        return nullptr;
    return D;
}

} // namespace trackway
