#include "SpinWaits.h"

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

// What a loop does to wait politely, or to see what others wrote.
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

class Finder {
  public:
    Finder(const Loop &L, const DominatorTree &DT) : L(L), DT(DT) {}

    // The load, if the loop consists of nothing else that matters.
    LoadInst *find() {
        BasicBlock *Exiting = L.getExitingBlock(), *Latch = L.getLoopLatch();
        if (!L.isInnermost() || !L.getLoopPreheader() || !Exiting || !Latch || !L.getExitBlock() ||
            L.getExitBlock()->isEHPad() || !isa<BranchInst>(Exiting->getTerminator()))
            return nullptr;
        for (BasicBlock *BB : L.blocks())
            for (Instruction &I : *BB)
                if (!isHarmless(I))
                    return nullptr;
        bool IsOnceInEach = Load && DT.dominates(Load, Exiting->getTerminator()) && DT.dominates(Exiting, Latch);
        if (!IsOnceInEach || !(Waits || Load->isVolatile() || Load->isAtomic()) ||
            !L.isLoopInvariant(Load->getPointerOperand()) ||
            !decides(*cast<BranchInst>(Exiting->getTerminator())->getCondition(), 0))
            return nullptr;
        return Load;
    }

  private:
    bool isHarmless(Instruction &I) {
        if (isa<FenceInst>(I))
            return Waits = true;
        if (auto *Call = dyn_cast<CallBase>(&I); Call && isPause(*Call))
            return Waits = true, isa<CallInst>(I);
        if (auto *Found = dyn_cast<LoadInst>(&I)) {
            bool IsFirst = !Load;
            Load = Found;
            return IsFirst;
        }
        if (auto *II = dyn_cast<IntrinsicInst>(&I))
            return II->isAssumeLikeIntrinsic() || isa<DbgInfoIntrinsic>(II) || isPausingIntrinsic(*II);
        return !I.mayReadOrWriteMemory() && !isa<CallBase>(I) && !I.mayThrow();
    }

    // The processor's own.
    bool isPausingIntrinsic(const IntrinsicInst &II) {
        bool Pauses = II.getCalledFunction()->getName() == "llvm.x86.sse2.pause";
        Waits |= Pauses;
        return Pauses;
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
    LoadInst *Load = nullptr;
    bool Waits = false;
};

SpinWait count(Loop &L, LoadInst &Load, DominatorTree &DT, LoopInfo &LI) {
    BasicBlock *Header = L.getHeader(), *Before = L.getLoopPreheader(), *Latch = L.getLoopLatch();
    IRBuilder<> B(Header, Header->begin());
    PHINode *Earlier = B.CreatePHI(B.getInt64Ty(), 2, "trackway.waited");
    B.SetInsertPoint(Header, Header->getFirstInsertionPt());
    Value *Times = B.CreateAdd(Earlier, B.getInt64(1));
    Earlier->addIncoming(B.getInt64(0), Before);
    Earlier->addIncoming(Times, Latch);

    SpinWait W{&Load, {}, Before->getTerminator(), nullptr, Times};
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

std::vector<SpinWait> countSpinWaits(Function &F, function_ref<bool(const LoadInst &)> MayBeTaken) {
    std::vector<SpinWait> Found;
    DominatorTree DT(F);
    LoopInfo LI(DT);
    for (Loop *L : LI.getLoopsInPreorder()) {
        if (!L->isInnermost())
            continue;
        if (!L->getLoopPreheader())
            InsertPreheaderForLoop(L, &DT, &LI, nullptr, false);
        LoadInst *Load = Finder(*L, DT).find();
        if (Load && MayBeTaken(*Load))
            Found.push_back(count(*L, *Load, DT, LI));
    }
    return Found;
}

bool isCallOfSpinWait(const CallBase &Call) { return Call.hasFnAttr(CallAttribute); }

} // namespace trackway
