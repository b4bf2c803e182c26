#include "code/Synchronisation.h"

#include "code/Synchronisers.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace trackway {

bool hasClock(const Module &M) { return Triple(M.getTargetTriple()).getArch() == Triple::x86_64; }

Instruction *afterCall(CallBase &Call) {
    auto *Invoke = dyn_cast<InvokeInst>(&Call);
    if (!Invoke)
        return Call.getNextNode();
    BasicBlock *Normal = Invoke->getNormalDest();
    if (!Normal->getSinglePredecessor())
        Normal = SplitEdge(Invoke->getParent(), Normal);
    return &*Normal->getFirstInsertionPt();
}

// Marks the store that puts a stamp's clock into memory.
static constexpr char ClockMetadata[] = "trackway.clock";

namespace {

// What an instruction does to the order between threads.
struct Effect {
    Instruction *Where;
    bool Releases;
    bool Acquires;
    Synchroniser By;
    Value *Address;
};

Effect byAtomic(Instruction &I, AtomicOrdering Ordering, Value *Pointer) {
    bool Writes = !isa<LoadInst>(I), Reads = !isa<StoreInst>(I);
    return {&I, Writes && isReleaseOrStronger(Ordering), Reads && isAcquireOrStronger(Ordering), Synchroniser::Atomic,
            Pointer};
}

// Nothing can stand after a call that must be a tail call.
std::optional<Effect> byCall(CallBase &Call) {
    auto Known = synchronisingCall(Call);
    if (!Known)
        return std::nullopt;
    bool Returns = !Call.isMustTailCall() && !isa<CallBrInst>(Call);
    return Effect{&Call, Known->Releases, Known->Acquires && Returns, Known->By,
                  Known->Address >= 0 ? Call.getArgOperand(Known->Address) : nullptr};
}

// Relaxed operations order nothing but those on the same address.
std::optional<Effect> effectOf(Instruction &I) {
    if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isAtomic())
        return byAtomic(I, Load->getOrdering(), Load->getPointerOperand());
    if (auto *Store = dyn_cast<StoreInst>(&I); Store && Store->isAtomic())
        return byAtomic(I, Store->getOrdering(), Store->getPointerOperand());
    if (auto *Update = dyn_cast<AtomicRMWInst>(&I))
        return byAtomic(I, Update->getOrdering(), Update->getPointerOperand());
    if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
        return byAtomic(I, Exchange->getMergedOrdering(), Exchange->getPointerOperand());
    if (auto *Fence = dyn_cast<FenceInst>(&I); Fence && Fence->getSyncScopeID() != SyncScope::SingleThread)
        return Effect{&I, isReleaseOrStronger(Fence->getOrdering()), isAcquireOrStronger(Fence->getOrdering()),
                      Synchroniser::Fence, nullptr};
    if (auto *Call = dyn_cast<CallBase>(&I))
        return byCall(*Call);
    return std::nullopt;
}

class Stamper {
  public:
    Stamper(Function &F, const DenseMap<const Instruction *, uint32_t> &Numbers, ArrayRef<SpinWait> Waits,
            bool KeepsFrameSmall)
        : F(F), Numbers(Numbers), KeepsFrameSmall(KeepsFrameSmall) {
        for (const SpinWait &W : Waits)
            for (const Instruction *I : W.Body)
                WaitAround[I] = &W;
    }

    std::vector<OrderPoint> run() {
        std::vector<Effect> Effects;
        std::vector<Instruction *> Returns;
        for (BasicBlock &BB : F)
            for (Instruction &I : BB) {
                if (auto E = effectOf(I))
                    Effects.push_back(*E);
                if (isa<ReturnInst>(I))
                    Returns.push_back(&I);
            }
        bool IsBody = isThreadsBody(F);
        if (IsBody)
            stamp({firstOrdinary(), false, true, Synchroniser::ParallelRegion, nullptr}, firstOrdinary(), true);
        for (const Effect &E : Effects) {
            const SpinWait *Wait = WaitAround.lookup(E.Where);
            if (E.Releases)
                stamp(E, Wait ? Wait->Before : E.Where, false);
            if (E.Acquires)
                stamp(E, Wait ? Wait->After : following(*E.Where), true);
        }
        for (Instruction *Return : Returns)
            if (IsBody && !Return->getParent()->getTerminatingMustTailCall())
                stamp({Return, true, false, Synchroniser::ParallelRegion, nullptr}, Return, false);
        return std::move(Points);
    }

  private:
    Instruction *firstOrdinary() const {
        auto It = F.getEntryBlock().getFirstInsertionPt();
        while (isa<AllocaInst>(*It))
            ++It;
        return &*It;
    }

    static Instruction *following(Instruction &I) {
        auto *Call = dyn_cast<CallBase>(&I);
        return Call ? afterCall(*Call) : I.getNextNode();
    }

    void stamp(const Effect &E, Instruction *Before, bool IsAcquire) {
        IRBuilder<> B(Before);
        B.SetCurrentDebugLocation(E.Where->getDebugLoc());
        Value *Stamp = IsAcquire
                           ? timeAfter(B)
                           : B.CreateIntrinsic(Intrinsic::readcyclecounter, ArrayRef<Type *>(), ArrayRef<Value *>());
        if (KeepsFrameSmall)
            Stamp = throughMemory(B, Stamp);
        Points.push_back({E.Where, Numbers.lookup(E.Where), IsAcquire, E.By, E.Address, Stamp, Before});
    }

    // The counter may be read before earlier instructions are complete, so after an acquire it is made to wait for
    // them. A release needs nothing: its store becomes visible to others after it retires, and the counter is read
    // before that.
    Value *timeAfter(IRBuilder<> &B) const {
        bool HasFence = !F.getFnAttribute("target-features").getValueAsString().contains("-sse2");
        if (!HasFence)
            return B.CreateExtractValue(
                B.CreateIntrinsic(Intrinsic::x86_rdtscp, ArrayRef<Type *>(), ArrayRef<Value *>()), 0);
        B.CreateIntrinsic(Intrinsic::x86_sse2_lfence, ArrayRef<Type *>(), ArrayRef<Value *>());
        return B.CreateIntrinsic(Intrinsic::readcyclecounter, ArrayRef<Type *>(), ArrayRef<Value *>());
    }

    Value *throughMemory(IRBuilder<> &B, Value *Clock) {
        if (!Memory)
            Memory = IRBuilder<>(&F.getEntryBlock(), F.getEntryBlock().begin())
                         .CreateAlloca(Clock->getType(), nullptr, "trackway.clock");
        B.CreateStore(Clock, Memory)->setMetadata(ClockMetadata, MDNode::get(F.getContext(), {}));
        return B.CreateLoad(Clock->getType(), Memory);
    }

    Function &F;
    const DenseMap<const Instruction *, uint32_t> &Numbers;
    const bool KeepsFrameSmall;
    AllocaInst *Memory = nullptr;
    DenseMap<const Instruction *, const SpinWait *> WaitAround;
    std::vector<OrderPoint> Points;
};

} // namespace

std::vector<OrderPoint> insertStamps(Function &F, const DenseMap<const Instruction *, uint32_t> &Numbers,
                                     ArrayRef<SpinWait> Waits, bool KeepsFrameSmall) {
    return Stamper(F, Numbers, Waits, KeepsFrameSmall).run();
}

StoreInst *storeOfClock(CallBase &Call) {
    bool IsClock = Call.getIntrinsicID() == Intrinsic::readcyclecounter && Call.hasOneUse();
    auto *Store = IsClock ? dyn_cast<StoreInst>(Call.user_back()) : nullptr;
    return Store && Store->hasMetadata(ClockMetadata) ? Store : nullptr;
}

bool readsClock(const CallBase &Call) {
    Intrinsic::ID Id = Call.getIntrinsicID();
    return Id == Intrinsic::readcyclecounter || Id == Intrinsic::x86_rdtscp;
}

} // namespace trackway
