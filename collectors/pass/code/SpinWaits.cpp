#include "code/SpinWaits.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace trackway {

namespace {

constexpr StringRef CallAttribute = "trackway.spin.wait";

} // namespace

bool isPause(const CallBase &Call) {
    if (auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand()))
        return StringSwitch<bool>(StringRef(Asm->getAsmString()).trim())
            .Cases("", "pause", "rep; nop", "rep;nop", "rep nop", "yield", true)
            .Default(false);
    const Function *Callee = Call.getCalledFunction();
    return Callee && StringSwitch<bool>(Callee->getName())
                         .Cases("__kmpc_flush", "sched_yield", "pthread_yield", "thrd_yield", true)
                         .Default(false);
}

namespace {

class Finder {
  public:
    Finder(const Loop &L, const DominatorTree &DT, const OwnVariables &Own) : L(L), DT(DT), Own(Own) {}

    // The loads, if the loop consists of nothing else that matters; else none.
    SmallVector<LoadInst *, 2> find() {
        BasicBlock *Exiting = L.getExitingBlock(), *Latch = L.getLoopLatch();
        if (!L.isInnermost() || !L.getLoopPreheader() || !Exiting || !Latch || !L.getExitBlock() ||
            L.getExitBlock()->isEHPad() || !isa<BranchInst>(Exiting->getTerminator()))
            return {};
        for (BasicBlock *BB : L.blocks())
            for (Instruction &I : *BB)
                if (!isHarmless(I))
                    return {};
        auto IsOnceInEach = [&](LoadInst *I) { return DT.dominates(I, Exiting->getTerminator()); };
        if (Loads.empty() || !all_of(Loads, IsOnceInEach) || !DT.dominates(Exiting, Latch))
            return {};
        llvm::sort(Loads, [&](LoadInst *One, LoadInst *Other) { return DT.dominates(One, Other); });
        Load = Loads.back();
        bool IsKnown = all_of(drop_end(Loads), [&](LoadInst *I) { return isOwn(*I); });
        if (!IsKnown || !(Waits || Load->isVolatile() || Load->isAtomic()) ||
            !isSameEachTime(*Load->getPointerOperand(), 0) ||
            !decides(*cast<BranchInst>(Exiting->getTerminator())->getCondition(), 0))
            return {};
        return Loads;
    }

  private:
    bool isHarmless(Instruction &I) {
        if (isa<FenceInst>(I))
            return Waits = true;
        if (auto *Call = dyn_cast<CallBase>(&I); Call && isPause(*Call))
            return Waits = true, isa<CallInst>(I);
        if (auto *Found = dyn_cast<LoadInst>(&I))
            return Loads.push_back(Found), Loads.size() <= MaxLoads;
        if (auto *II = dyn_cast<IntrinsicInst>(&I))
            return II->isAssumeLikeIntrinsic() || isa<DbgInfoIntrinsic>(II) || isPausingIntrinsic(*II) ||
                   II->getIntrinsicID() == Intrinsic::threadlocal_address;
        return !I.mayReadOrWriteMemory() && !isa<CallBase>(I) && !I.mayThrow();
    }

    // The processor's own.
    bool isPausingIntrinsic(const IntrinsicInst &II) {
        bool Pauses = II.getCalledFunction()->getName() == "llvm.x86.sse2.pause";
        Waits |= Pauses;
        return Pauses;
    }

    // A loop without stores finds such a variable as it was.
    bool isOwn(const LoadInst &I) const {
        auto *Address = dyn_cast<IntrinsicInst>(I.getPointerOperand());
        return Address && Address->getIntrinsicID() == Intrinsic::threadlocal_address && I.isSimple() &&
               Own.contains(dyn_cast<GlobalVariable>(Address->getArgOperand(0)));
    }

    // Loads other than the last one were found to be of this thread's own variables.
    bool isSameEachTime(const Value &V, unsigned Depth) const {
        constexpr unsigned MaxDepth = 6;
        auto *I = dyn_cast<Instruction>(&V);
        if (!I || !L.contains(I))
            return true;
        if (isa<LoadInst>(I))
            return I != Load;
        return Depth < MaxDepth && (isa<GetElementPtrInst>(I) || isa<CastInst>(I) || isa<BinaryOperator>(I)) &&
               all_of(I->operands(), [&](const Use &U) { return isSameEachTime(*U.get(), Depth + 1); });
    }

    // Whether the loaded value decides on the condition.
    bool decides(const Value &V, unsigned Depth) const {
        constexpr unsigned MaxDepth = 6;
        auto *I = dyn_cast<Instruction>(&V);
        if (!I || !L.contains(I) || isa<PHINode>(I) || Depth > MaxDepth)
            return false;
        return I == Load || any_of(I->operands(), [&](const Use &U) { return decides(*U.get(), Depth + 1); });
    }

    const Loop &L;
    const DominatorTree &DT;
    const OwnVariables &Own;
    static constexpr unsigned MaxLoads = 3;
    SmallVector<LoadInst *, 2> Loads;
    LoadInst *Load = nullptr; // the last one, of what the loop waits for
    bool Waits = false;
};

SpinWait count(Loop &L, ArrayRef<LoadInst *> Loads, DominatorTree &DT, LoopInfo &LI) {
    BasicBlock *Header = L.getHeader(), *Before = L.getLoopPreheader(), *Latch = L.getLoopLatch();
    IRBuilder<> B(Header, Header->begin());
    PHINode *Earlier = B.CreatePHI(B.getInt64Ty(), 2, "trackway.waited");
    B.SetInsertPoint(Header, Header->getFirstInsertionPt());
    Value *Times = B.CreateAdd(Earlier, B.getInt64(1));
    Earlier->addIncoming(B.getInt64(0), Before);
    Earlier->addIncoming(Times, Latch);

    SpinWait W{{Loads.begin(), Loads.end()}, {}, Before->getTerminator(), nullptr, Times};
    for (BasicBlock *BB : L.blocks())
        for (Instruction &I : *BB) {
            W.Body.push_back(&I);
            if (auto *Call = dyn_cast<CallBase>(&I); Call && isPause(*Call))
                Call->addFnAttr(Attribute::get(I.getContext(), CallAttribute));
        }
    BasicBlock *Exit = L.getExitBlock();
    BasicBlock *After = SplitBlockPredecessors(Exit, {L.getExitingBlock()}, ".waited", &DT, &LI);
    W.After = After->getTerminator();
    return W;
}

} // namespace

static bool isAccessOf(const User &U, const Value &Address) {
    auto *Store = dyn_cast<StoreInst>(&U);
    return isa<LoadInst>(U) || (Store && Store->getValueOperand() != &Address);
}

static bool isOnlyAccessed(const GlobalVariable &Variable) {
    return all_of(Variable.users(), [](const User *Use) {
        auto *Address = dyn_cast<IntrinsicInst>(Use);
        return Address && Address->getIntrinsicID() == Intrinsic::threadlocal_address &&
               all_of(Address->users(), [&](const User *U) { return isAccessOf(*U, *Address); });
    });
}

OwnVariables ownVariables(const Module &M) {
    OwnVariables Own;
    for (const GlobalVariable &Variable : M.globals())
        if (Variable.isThreadLocal() && Variable.hasLocalLinkage() && isOnlyAccessed(Variable))
            Own.insert(&Variable);
    return Own;
}

std::vector<SpinWait> countSpinWaits(Function &F, const OwnVariables &Own,
                                     function_ref<bool(const LoadInst &)> MayBeTaken) {
    std::vector<SpinWait> Found;
    DominatorTree DT(F);
    LoopInfo LI(DT);
    for (Loop *L : LI.getLoopsInPreorder()) {
        if (!L->isInnermost())
            continue;
        if (!L->getLoopPreheader())
            InsertPreheaderForLoop(L, &DT, &LI, nullptr, false);
        SmallVector<LoadInst *, 2> Loads = Finder(*L, DT, Own).find();
        if (!Loads.empty() && all_of(Loads, [&](LoadInst *Load) { return MayBeTaken(*Load); }))
            Found.push_back(count(*L, Loads, DT, LI));
    }
    return Found;
}

bool isCallOfSpinWait(const CallBase &Call) { return Call.hasFnAttr(CallAttribute); }

} // namespace trackway
