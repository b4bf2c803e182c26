#include "code/Labels.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace trackway {

static SmallVector<BlockAddress *, 8> addressesOfBlocks(const Function &F) {
    SmallVector<BlockAddress *, 8> Addresses;
    for (const BasicBlock &BB : F)
        if (BlockAddress *A = BB.hasAddressTaken() ? BlockAddress::lookup(&BB) : nullptr)
            Addresses.push_back(A);
    return Addresses;
}

SmallVector<GlobalVariable *, 2> labelTables(const Function &F) {
    SmallVector<GlobalVariable *, 2> Tables;
    SmallVector<const User *, 8> Work;
    SmallPtrSet<const User *, 8> Seen;
    for (BlockAddress *A : addressesOfBlocks(F))
        Work.push_back(A);
    while (!Work.empty()) {
        const User *U = Work.pop_back_val();
        if (!Seen.insert(U).second)
            continue;
        if (auto *G = dyn_cast<GlobalVariable>(U)) {
            Tables.push_back(const_cast<GlobalVariable *>(G));
        } else if (isa<Constant>(U)) {
            Work.append(U->user_begin(), U->user_end());
        }
    }
    return Tables;
}

namespace {

// Follows labels, their differences, and pointers to what holds them, through a function.
class LabelFlow {
  public:
    explicit LabelFlow(const Function &F) : F(F) {}

    bool staysInside() {
        for (BlockAddress *A : addressesOfBlocks(F))
            follow(A);
        while (!Work.empty()) {
            const Value *V = Work.pop_back_val();
            for (const Use &U : V->uses())
                if (!mayBeUsed(U))
                    return false;
        }
        return true;
    }

  private:
    void follow(const Value *V) {
        if (Seen.insert(V).second)
            Work.push_back(V);
    }

    bool mayBeUsed(const Use &U) {
        if (auto *G = dyn_cast<GlobalValue>(U.getUser())) {
            follow(G);
            return isa<GlobalVariable>(G);
        }
        if (isa<Constant>(U.getUser())) {
            follow(U.getUser());
            return true;
        }
        auto *I = dyn_cast<Instruction>(U.getUser());
        return I && I->getFunction() == &F && mayBeUsedBy(*I, U);
    }

    bool mayBeUsedBy(const Instruction &I, const Use &U) {
        if (isa<IndirectBrInst, CmpInst>(I))
            return true;
        if (isa<GetElementPtrInst, CastInst, PHINode, SelectInst, BinaryOperator, FreezeInst, LoadInst>(I)) {
            follow(&I);
            return true;
        }
        if (auto *Store = dyn_cast<StoreInst>(&I))
            return U.getOperandNo() == StoreInst::getPointerOperandIndex() || isKeptAt(Store->getPointerOperand());
        if (auto *Copy = dyn_cast<MemTransferInst>(&I))
            return U.getOperandNo() == 0 || isKeptAt(Copy->getRawDest());
        return I.isLifetimeStartOrEnd() || isa<DbgInfoIntrinsic>(I);
    }

    // What is stored there is followed from there.
    bool isKeptAt(const Value *Pointer) {
        const Value *Object = Pointer->stripInBoundsOffsets();
        if (auto *GEP = dyn_cast<GEPOperator>(Object))
            Object = GEP->getPointerOperand();
        if (!isa<AllocaInst, GlobalVariable>(Object))
            return false;
        follow(Object);
        return true;
    }

    const Function &F;
    SmallVector<const Value *, 16> Work;
    SmallPtrSet<const Value *, 16> Seen;
};

} // namespace

bool keepsLabels(const Function &F) { return LabelFlow(F).staysInside(); }

} // namespace trackway
