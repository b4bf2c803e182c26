#include "record/KeptArguments.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace trackway {

static const Value *withoutCasts(const Value *V) {
    while (auto *Cast = dyn_cast<CastInst>(V))
        V = Cast->getOperand(0);
    return V;
}

// A run of instructions in which nothing reads what is stored, nor stores over it: so moving the stores to its end
// changes nothing.
KeptArguments::KeptArguments(Function &F) : DL(F.getParent()->getDataLayout()) {
    BasicBlock &Entry = F.getEntryBlock();
    SmallVector<Store, 8> Run;
    SmallVector<Instruction *, 16> Passed;
    for (Instruction &I : make_range(Entry.getFirstInsertionPt(), Entry.end())) {
        std::optional<Store> S = inFrame(I);
        if (S ? any_of(Run, [&](const Store &Other) { return overlap(*S, Other); })
              : !isa<AllocaInst, CastInst, GetElementPtrInst, DbgInfoIntrinsic>(I))
            return;
        Passed.push_back(&I);
        if (!S)
            continue;
        Run.push_back(*S);
        if (!S->IsArgument)
            continue;
        Stores = Run;
        Ahead.insert(Passed.begin(), Passed.end());
        Passed.clear();
        Begin = I.getNextNode();
    }
}

std::optional<KeptArguments::Store> KeptArguments::inFrame(Instruction &I) const {
    auto *S = dyn_cast<StoreInst>(&I);
    if (!S || !S->isSimple())
        return std::nullopt;
    Value *Pointer = S->getPointerOperand();
    APInt Offset(DL.getIndexTypeSizeInBits(Pointer->getType()), 0);
    auto *Slot = dyn_cast<AllocaInst>(Pointer->stripAndAccumulateConstantOffsets(DL, Offset, false));
    TypeSize Size = DL.getTypeStoreSize(S->getValueOperand()->getType());
    if (!Slot || !Slot->isStaticAlloca() || Slot->getType() != Pointer->getType() || Size.isScalable())
        return std::nullopt;
    int64_t Begin = Offset.getSExtValue();
    int64_t End = Begin + static_cast<int64_t>(Size.getFixedValue());
    return Store{S, Slot, Begin, End, isa<Argument>(withoutCasts(S->getValueOperand()))};
}

bool KeptArguments::overlap(const Store &A, const Store &B) {
    return A.Slot == B.Slot && A.Offset < B.End && B.Offset < A.End;
}

bool KeptArguments::isStore(const Instruction &I) const {
    return any_of(Stores, [&](const Store &S) { return S.I == &I; });
}

void KeptArguments::storeAgain() {
    Instruction *LastCopy = nullptr; // the last of the stores is one of an argument
    for (const Store &S : Stores) {
        if (S.IsArgument)
            LastCopy = copyAhead(*S.I);
        storeFromFrame(S);
    }
    Begin = LastCopy->getNextNode();
}

Instruction *KeptArguments::copyAhead(StoreInst &S) {
    IRBuilder<> B(&S);
    Instruction *Copy = B.CreateAlignedStore(S.getValueOperand(), S.getPointerOperand(), S.getAlign());
    Ahead.insert(Copy);
    return Copy;
}

// The address is computed anew, since one that outlived the check would take a place on the stack, too.
void KeptArguments::storeFromFrame(const Store &S) {
    Ahead.erase(S.I);
    S.I->moveBefore(Begin);
    IRBuilder<> B(S.I);
    Value *Place = S.Offset ? B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), S.Slot, S.Offset) : S.Slot;
    S.I->setOperand(1, Place);
    if (S.IsArgument)
        S.I->setOperand(0, B.CreateAlignedLoad(S.I->getValueOperand()->getType(), Place, S.I->getAlign()));
}

} // namespace trackway
