#include "record/Emit.h"

#include "LlvmVersion.h"
#include "code/LibraryEffects.h"
#include "code/Synchronisation.h"
#include "record/Activation.h"
#include "record/Corrections.h"
#include "record/Expect.h"
#include "record/KeptArguments.h"
#include "record/RememberedRoots.h"
#include "record/SharedSlots.h"
#include "record/StreamWriter.h"
#include "record/UnitSegments.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace trackway {

// ---- Second returns ----

// After the second return of a __builtin_setjmp, the values that recording uses must be where they were at the
// first. LLVM gives spilled values places of their own only if a call is marked so.
static void markSecondReturns(Function &F) {
    for (Instruction &I : instructions(F))
        if (auto *Call = dyn_cast<IntrinsicInst>(&I))
            if (Call->getIntrinsicID() == Intrinsic::eh_sjlj_setjmp)
                Call->addFnAttr(Attribute::ReturnsTwice);
}

// Notes the places to which unwinding may lead after a thread was cancelled at any instruction.
static void noteReturnsFromAnywhere(Function &F, const RuntimeSymbols &Runtime) {
    std::vector<Instruction *> Places;
    for (Instruction &I : instructions(F)) {
        auto *Call = dyn_cast<CallBase>(&I);
        if (isa<LandingPadInst>(I))
            Places.push_back(I.getNextNode());
        else if (Call && Call->hasFnAttr(Attribute::ReturnsTwice))
            Places.push_back(afterCall(*Call));
    }
    for (Instruction *I : Places)
        IRBuilder<>(I).CreateCall(Runtime.CameBack);
}

static bool noticesReturn(const Instruction &I, const RuntimeSymbols &Runtime) {
    auto *Call = dyn_cast<CallBase>(&I);
    FunctionCallee CameBack = Runtime.CameBack;
    return Call && Call->getCalledOperand() == CameBack.getCallee();
}

// ---- Small frames ----

// If no unit records the stores of arguments, the check can wait until they are stored.
static KeptArguments keepArguments(Function &F, const Plan &P) {
    KeptArguments Kept(F);
    bool AreRecorded = any_of(P.Units, [&](const Unit &U) {
        return any_of(U.Operations, [&](const Operation &O) { return Kept.isStore(*O.Anchor); });
    });
    if (AreRecorded)
        Kept.storeAgain();
    return Kept;
}

// Whether it is code of our own that is no branch, and yet leaves values in no register, or not in all.
static bool takesRegisters(const Instruction &I, const RuntimeSymbols &Runtime) {
    auto *Call = dyn_cast<CallBase>(&I);
    return noticesReturn(I, Runtime) || (Call && (readsClock(*Call) || findsExtent(*Call)));
}

// Reading the clock takes two registers away, whose values would be spilled. Out of line it takes none.
static void readClockOutOfLine(Function &F, const RuntimeSymbols &Runtime) {
    SmallVector<std::pair<CallInst *, StoreInst *>, 8> Reads;
    for (Instruction &I : instructions(F))
        if (auto *Call = dyn_cast<CallInst>(&I))
            if (StoreInst *Store = storeOfClock(*Call))
                Reads.emplace_back(Call, Store);
    for (auto [Read, Store] : Reads) {
        IRBuilder<> B(Store);
        Runtime.callReadClock(B, Store->getPointerOperand());
        Store->eraseFromParent();
        Read->eraseFromParent();
    }
}

// ---- Where records begin ----

static Instruction *beginOf(unsigned U, const Plan &P, const KeptArguments &Kept, const RuntimeSymbols &Runtime) {
    BasicBlock *BB = P.Units[U].Block;
    bool IsFirst = U == 0 || P.Units[U - 1].Block != BB;
    Instruction *I = IsFirst ? &*BB->getFirstInsertionPt() : P.Units[U - 1].End->getNextNode();
    while (isa<AllocaInst>(I) || noticesReturn(*I, Runtime) || Kept.isAhead(*I))
        I = I->getNextNode();
    return I;
}

// A record begins at its unit's first operation. If frames are to stay small, it begins at the unit's begin: there
// hardly any value lives that the branches of a check or a correction could cut off. Null for units that do nothing.
static std::vector<Instruction *> findHeads(const Plan &P, const KeptArguments *Kept, const RuntimeSymbols &Runtime) {
    std::vector<Instruction *> Heads;
    for (unsigned U = 0; U < P.Units.size(); ++U) {
        const Unit &Own = P.Units[U];
        Instruction *First = Own.Operations.empty() ? nullptr : Own.Operations.front().Anchor;
        bool IsPiece = U > 0 && P.Units[U - 1].Block == Own.Block && !P.Units[U - 1].EndsInCall;
        Heads.push_back(First && Kept && !IsPiece ? beginOf(U, P, *Kept, Runtime) : First);
    }
    return Heads;
}

// ---- The cursor in memory ----

static void publishBefore(Instruction *I, const StreamWriter &Stream) {
    IRBuilder<> B(I);
    Stream.publishCursor(B);
}

// An instruction that is executed last whenever the edge is taken. Where the edge can't be split that is the
// branch itself: what it stores is right on its other edges too.
static Instruction *edgeEnd(Instruction *Terminator, unsigned Successor) {
    if (Terminator->getNumSuccessors() > 1)
        if (BasicBlock *Split = SplitCriticalEdge(Terminator, Successor))
            return Split->getTerminator();
    return Terminator;
}

// On edges into blocks of their own the store comes before the block's records, elsewhere after the records that
// are anchored at the same instruction: so the result waits until the units are done.
static std::vector<Instruction *> publishOnEdges(const Plan &P, const StreamWriter &Stream) {
    std::vector<Instruction *> Later = P.PublishBefore;
    for (auto &[Terminator, Successor] : P.PublishOnEdge) {
        BasicBlock *To = Terminator->getSuccessor(Successor);
        if (Terminator->getNumSuccessors() > 1 && To->getSinglePredecessor())
            publishBefore(&*To->getFirstInsertionPt(), Stream);
        else
            Later.push_back(edgeEnd(Terminator, Successor));
    }
    return Later;
}

// ---- Units ----

namespace {

// Inserts the code of one unit after the other: its check, its correction and its record.
class UnitEmitter {
  public:
    UnitEmitter(Function &F, const Plan &P, const PlanSegments &Segments, const StreamWriter &Stream,
                const RuntimeSymbols &Runtime)
        : F(F), P(P), Segments(Segments), Stream(Stream), Runtime(Runtime), Remembered(F, P, Stream),
          Correcting(P, Segments, Stream, Remembered), Own(F, P, Stream) {}

    void emit(unsigned Index, Instruction *Head) {
        const Unit &U = P.Units[Index];
        IRBuilder<> B(Head);
        if (!U.ContextKnown)
            Stream.fetchCursor(B);
        if (U.Checks)
            emitCheck(Index, Head);
        if (!U.ContextKnown && !U.resumesActivation())
            Own.begin(Head);
        if (Segments.ofUnit(Index).CorrectsFirst)
            Correcting.insertBeforeRecord(Index, Head);
        emitRecord(Index, Head);
        for (const Operation &O : U.Operations)
            if (O.K == Operation::Kind::Forget)
                Remembered.forget(O.Target, O.Anchor);
    }

    // The variables of all units, to be promoted.
    std::vector<AllocaInst *> variables() const {
        std::vector<AllocaInst *> All = Remembered.variables();
        All.insert(All.begin(), Stream.variables().begin(), Stream.variables().end());
        append_range(All, Own.variables());
        return All;
    }

  private:
    // if (cursor >= limit or the registers were lost) { cursor = flush(cursor); record again what must be known }
    void emitCheck(unsigned Index, Instruction *Head) {
        const Unit &U = P.Units[Index];
        IRBuilder<> B(Head);
        Value *Limit = Stream.limit(B);
        Value *IsFull = B.CreateICmpUGE(Stream.cursor(B), Limit);
        Instruction *Cold = U.resumesActivation()
                                ? Own.insertIfLost(IsFull, Head)
                                : SplitBlockAndInsertIfThen(IsFull, Head, false, unlikely(Head->getContext()));
        IRBuilder<> C(Cold);
        Stream.setCursor(C, callFlush(C, Stream.cursor(C)));
        if (!U.resumes())
            return;
        emitResume(Index, Cold);
        Own.begin(Cold);
    }

    CallInst *callFlush(IRBuilder<> &B, Value *Full) {
        FunctionCallee Flush = P.KeepsFrameSmall ? Runtime.flushInSmallFrame(F) : Runtime.Flush;
        CallInst *Call = B.CreateCall(Flush, {Full});
        Call->setCallingConv(cast<Function>(Flush.getCallee())->getCallingConv());
        Call->setDoesNotThrow();
        return Call;
    }

    void emitResume(unsigned Index, Instruction *Before) {
        Stream.storeRecord(Segments.ofUnit(Index).Resume, Before);
        Remembered.rememberResumed(P.Units[Index], Before);
    }

    // The id is stored at the record's start, at the unit's head; each root is stored at its anchor, past the roots
    // before it.
    void emitRecord(unsigned Index, Instruction *Head) {
        const UnitSegments &S = Segments.ofUnit(Index);
        IRBuilder<> B(Head);
        if (!S.Continues)
            Stream.setRecordStart(B, Stream.cursor(B));
        Value *Start = Stream.recordStart(B);
        Stream.storeId(S.Record, Start, B);
        Stream.storeRoots(recordOperations(P, P.Units[Index]), Start, S.Begin, nullptr);
        Stream.setCursor(B, StreamWriter::at(B, Start, S.End));
        if (S.Correction && !S.CorrectsFirst)
            Correcting.insertAfterRecord(Index, Start);
    }

    Function &F;
    const Plan &P;
    const PlanSegments &Segments;
    const StreamWriter &Stream;
    const RuntimeSymbols &Runtime;
    RememberedRoots Remembered;
    Corrections Correcting;
    Activation Own;
};

} // namespace

std::vector<Segment> emitPlan(Function &F, const Plan &P, BlockFrequencies &Frequencies, uint32_t FirstSegment,
                              const RuntimeSymbols &Runtime, std::vector<FlowPiece> &Flow) {
    PlanSegments Segments(P, Frequencies);
    Segments.completeFlow(Flow);
    markSecondReturns(F);
    noteReturnsFromAnywhere(F, Runtime);
    std::optional<KeptArguments> Kept;
    std::optional<SharedSlots> Cut;
    if (P.KeepsFrameSmall) {
        Kept.emplace(keepArguments(F, P));
        Cut.emplace(F);
    }
    const KeptArguments *KeptIfSmall = Kept ? &*Kept : nullptr;
    std::vector<Instruction *> Heads = findHeads(P, KeptIfSmall, Runtime);
    StreamWriter Stream(F, P, Segments, FirstSegment, Runtime, KeptIfSmall);
    std::vector<Instruction *> Later = publishOnEdges(P, Stream);
    UnitEmitter Units(F, P, Segments, Stream, Runtime);
    for (unsigned U = 0; U < P.Units.size(); ++U)
        if (!P.Units[U].Operations.empty())
            Units.emit(U, Heads[U]);
    for (Instruction *I : Later)
        publishBefore(I, Stream);
    if (Cut) {
        readClockOutOfLine(F, Runtime);
        Cut->share([&](const Instruction &I) { return takesRegisters(I, Runtime); });
        return Segments.take();
    }
    DominatorTree DT(F);
    PromoteMemToReg(Units.variables(), DT);
    return Segments.take();
}

} // namespace trackway
