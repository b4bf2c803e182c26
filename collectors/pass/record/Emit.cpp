#include "record/Emit.h"

#include "LlvmVersion.h"
#include "code/Synchronisation.h"
#include "record/Expect.h"
#include "record/KeptArguments.h"
#include "record/SharedSlots.h"

#include "llvm/ADT/bit.h"
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

namespace {

class Emitter {
  public:
    Emitter(Function &F, const Plan &P, const LoopInfo &LI, uint32_t FirstSegment, const RuntimeSymbols &Runtime)
        : F(F), P(P), Runtime(Runtime), FirstSegment(FirstSegment), Ptr(PointerType::getUnqual(F.getContext())) {
        numberSegments(LI);
    }

    void completeFlow(std::vector<FlowPiece> &Flow) const {
        for (unsigned U = 0; U < Flow.size(); ++U)
            if (P.Units[U].hasRecord()) {
                Flow[U].Segment = Recordings[U].Segment;
                Flow[U].Continues = Recordings[U].Continues;
            }
    }

    std::vector<Segment> run() {
        markSecondReturns();
        noteReturnsFromAnywhere();
        std::optional<SharedSlots> Cut;
        if (P.KeepsFrameSmall) {
            keepArguments();
            Cut.emplace(F);
        }
        findHeads();
        IRBuilder<> Entry(&F.getEntryBlock(), F.getEntryBlock().begin());
        Cursor = Entry.CreateAlloca(Ptr, nullptr, "trackway.cursor");
        RecordStart = Entry.CreateAlloca(Ptr, nullptr, "trackway.record");
        std::vector<Instruction *> Later = publishOnEdges();
        for (unsigned U = 0; U < P.Units.size(); ++U)
            if (!P.Units[U].Operations.empty())
                emitUnit(U);
        for (Instruction *I : Later)
            publishBefore(I);
        if (Cut) {
            Cut->share([&](const Instruction &I) { return takesRegisters(I); });
            return std::move(Segments);
        }
        std::vector<AllocaInst *> Variables{Cursor, RecordStart};
        for (auto &[R, Variable] : Memory)
            Variables.push_back(Variable);
        DominatorTree DT(F);
        PromoteMemToReg(Variables, DT);
        return std::move(Segments);
    }

  private:
    // After the second return of a __builtin_setjmp, the values that recording uses must be where they were at the
    // first. LLVM gives spilled values places of their own only if a call is marked so.
    void markSecondReturns() {
        for (Instruction &I : instructions(F))
            if (auto *Call = dyn_cast<IntrinsicInst>(&I))
                if (Call->getIntrinsicID() == Intrinsic::eh_sjlj_setjmp)
                    Call->addFnAttr(Attribute::ReturnsTwice);
    }

    // Notes the places to which unwinding may lead after a thread was cancelled at any instruction.
    void noteReturnsFromAnywhere() {
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

    bool noticesReturn(const Instruction &I) const {
        auto *Call = dyn_cast<CallBase>(&I);
        FunctionCallee CameBack = Runtime.CameBack;
        return Call && Call->getCalledOperand() == CameBack.getCallee();
    }

    // Whether it is code of our own that is no branch, and yet leaves values in no register, or not in all.
    bool takesRegisters(const Instruction &I) const {
        auto *Call = dyn_cast<CallBase>(&I);
        return noticesReturn(I) || (Call && readsClock(*Call));
    }

    // ---- Where records begin ----

    // A record begins at its unit's first operation. If frames are to stay small, it begins at the unit's begin: there
    // hardly any value lives that the branches of a check or a correction could cut off.
    void findHeads() {
        for (unsigned U = 0; U < P.Units.size(); ++U) {
            const Unit &Own = P.Units[U];
            Instruction *First = Own.Operations.empty() ? nullptr : Own.Operations.front().Anchor;
            bool IsPiece = U > 0 && P.Units[U - 1].Block == Own.Block && !P.Units[U - 1].EndsInCall;
            Heads.push_back(First && P.KeepsFrameSmall && !IsPiece ? begin(U) : First);
        }
    }

    Instruction *begin(unsigned U) const {
        BasicBlock *BB = P.Units[U].Block;
        bool IsFirst = U == 0 || P.Units[U - 1].Block != BB;
        Instruction *I = IsFirst ? &*BB->getFirstInsertionPt() : P.Units[U - 1].End->getNextNode();
        while (isa<AllocaInst>(I) || noticesReturn(*I) || (Kept && Kept->isAhead(*I)))
            I = I->getNextNode();
        return I;
    }

    // If no unit records the stores of arguments, the check can wait until they are stored.
    void keepArguments() {
        Kept.emplace(F);
        bool AreRecorded = any_of(P.Units, [&](const Unit &U) {
            return any_of(U.Operations, [&](const Operation &O) { return Kept->isStore(*O.Anchor); });
        });
        if (AreRecorded)
            Kept->storeAgain();
    }

    static constexpr unsigned MaxLocalIds = 255;
    static constexpr unsigned StreamEnd = 4; // bytes of the id that ends a stream, 0 like a fresh buffer

    // ---- Segments ----

    struct Recording {
        std::optional<unsigned> Continues; // unit whose record it takes the place of
        bool IsLocal = false;              // its id is one byte
        unsigned Segment = 0;
        unsigned Correction = 0;     // segment; 0: the unit expects nothing
        unsigned NearCorrection = 0; // segment; 0: the unit has none
        unsigned Resume = 0;         // segment; 0: the unit doesn't check
        unsigned End = 0;            // of the record, in bytes from its start
        bool CorrectsFirst = false;  // what is expected can be compared before anything is stored
    };

    // 0: none.
    struct LocalIds {
        uint8_t Record = 0, Correction = 0, NearCorrection = 0;
    };

    static constexpr unsigned idBytes(bool IsLocal) { return IsLocal ? 1 : 4; }

    void numberSegments(const LoopInfo &LI) {
        Recordings.resize(P.Units.size());
        std::vector<LocalIds> Ids = giveLocalIds(LI);
        for (unsigned U = 0; U < P.Units.size(); ++U) {
            const Unit &Own = P.Units[U];
            if (Own.hasRecord())
                addSegments(U, Ids[U]);
            if (!Own.Operations.empty() && Own.Checks && Own.FunctionKnown)
                Recordings[U].Resume = addSegment(0, resumeOperations(Own));
        }
    }

    // Units of the deepest loops get the ids of one byte. A record that continues another has an id of the same width.
    std::vector<LocalIds> giveLocalIds(const LoopInfo &LI) {
        std::vector<LocalIds> Ids(P.Units.size());
        std::vector<unsigned> ByDepth;
        for (unsigned U = 0; U < P.Units.size(); ++U)
            if (P.Units[U].hasRecord())
                ByDepth.push_back(U);
        llvm::stable_sort(ByDepth, [&](unsigned A, unsigned B) {
            return LI.getLoopDepth(P.Units[A].Block) > LI.getLoopDepth(P.Units[B].Block);
        });
        unsigned NextLocal = 1;
        auto NextId = [&] { return NextLocal <= MaxLocalIds ? NextLocal++ : 0; };
        for (unsigned U : ByDepth) {
            const Unit &Own = P.Units[U];
            bool BehindGlobal = Own.Continues && !Recordings[*Own.Continues].IsLocal;
            Ids[U].Record = Own.FunctionKnown && !BehindGlobal ? NextId() : 0;
            Recordings[U].IsLocal = Ids[U].Record != 0;
            if (Own.Continues && Recordings[*Own.Continues].IsLocal == Recordings[U].IsLocal)
                Recordings[U].Continues = Own.Continues;
            // It comes before the record, where the function is no better known.
            if (Recordings[U].IsLocal && mayCorrectNear(U))
                Ids[U].NearCorrection = NextId();
            if (Recordings[U].IsLocal && hasExpectations(P, Own))
                Ids[U].Correction = NextId();
        }
        return Ids;
    }

    unsigned addSegment(uint8_t LocalId, std::vector<Operation> Operations) {
        Segments.push_back({LocalId, std::move(Operations)});
        return Segments.size() - 1;
    }

    void addSegments(unsigned U, LocalIds Ids) {
        Recording &R = Recordings[U];
        std::vector<Operation> Operations = recordOperations(P, P.Units[U]);
        R.End = R.Continues ? Recordings[*R.Continues].End : idBytes(R.IsLocal);
        R.End += rootBytes(Operations);
        if (R.Continues) {
            const std::vector<Operation> &Prefix = Segments[Recordings[*R.Continues].Segment].Operations;
            Operations.insert(Operations.begin(), Prefix.begin(), Prefix.end());
        }
        R.Segment = addSegment(Ids.Record, std::move(Operations));
        if (hasExpectations(P, P.Units[U])) {
            R.CorrectsFirst = correctsFirst(U);
            std::vector<Operation> Correction;
            if (!R.CorrectsFirst)
                Correction = skip(R.End + StreamEnd - idBytes(Ids.Correction != 0));
            append_range(Correction, correctionOperations(P, P.Units[U]));
            R.Correction = addSegment(Ids.Correction, std::move(Correction));
            if (mayCorrectNear(U))
                R.NearCorrection = addSegment(Ids.NearCorrection, nearCorrectionOperations(P, P.Units[U]));
        }
    }

    bool correctsFirst(unsigned U) const { return !Recordings[U].Continues && isKnownAtHead(P.Units[U]); }

    bool mayCorrectNear(unsigned U) const {
        return correctsFirst(U) && !nearCorrectionOperations(P, P.Units[U]).empty();
    }

    // Whether all that is expected is.
    bool isKnownAtHead(const Unit &U) const {
        const Instruction *Head = U.Operations.front().Anchor;
        return all_of(U.Operations, [&](const Operation &O) {
            auto *I = expectationOf(P, U, O) ? dyn_cast<Instruction>(P.Registers[O.Target].V) : nullptr;
            return !I || I->getParent() != Head->getParent() || I->comesBefore(Head);
        });
    }

    // Roots that are never read.
    std::vector<Operation> skip(unsigned Bytes) const {
        std::vector<Operation> Operations;
        for (unsigned Width = 8; Bytes > 0; Bytes -= Width) {
            while (Width > Bytes)
                Width /= 2;
            Operation O;
            O.K = Operation::Kind::LogRoot;
            O.Anchor = nullptr;
            O.Target = P.Skipped[Log2_32(Width)];
            Operations.push_back(O);
        }
        return Operations;
    }

    unsigned rootBytes(ArrayRef<Operation> Operations) const {
        unsigned Bytes = 0;
        for (const Operation &O : Operations)
            if (O.K == Operation::Kind::LogRoot)
                Bytes += P.Registers[O.Target].width();
        return Bytes;
    }

    static std::vector<Operation> resumeOperations(const Unit &U) {
        std::vector<Operation> Operations;
        for (Register R : U.Resume) {
            Operation O;
            O.K = Operation::Kind::LogRoot;
            O.Anchor = nullptr;
            O.Target = R;
            Operations.push_back(O);
        }
        Operations.insert(Operations.end(), U.ResumeSteps.begin(), U.ResumeSteps.end());
        for (Register R : U.ResumeForgets) {
            Operation O;
            O.K = Operation::Kind::Forget;
            O.Anchor = nullptr;
            O.Target = R;
            Operations.push_back(O);
        }
        return Operations;
    }

    // ---- Cursor in memory ----

    Value *threadField(IRBuilder<> &B, unsigned Field) {
        Value *Thread = B.CreateThreadLocalAddress(Runtime.Thread);
        return B.CreateStructGEP(Runtime.Thread->getValueType(), Thread, Field);
    }

    // Volatile, since optimisations that follow take the program's own allocation functions, strlen and the like for
    // those of the C library, of which they know that they change nothing that can be seen here.
    Value *loadThreadField(IRBuilder<> &B, unsigned Field) {
        return B.CreateLoad(Ptr, threadField(B, Field), /*isVolatile=*/true);
    }

    void publishBefore(Instruction *I) {
        IRBuilder<> B(I);
        B.CreateStore(B.CreateLoad(Ptr, Cursor), threadField(B, 0), /*isVolatile=*/true);
    }

    // On edges into blocks of their own the store comes before the block's records, elsewhere after the records that
    // are anchored at the same instruction: so those wait until the units are done.
    std::vector<Instruction *> publishOnEdges() {
        std::vector<Instruction *> Later = P.PublishBefore;
        for (auto &[Terminator, Successor] : P.PublishOnEdge) {
            BasicBlock *To = Terminator->getSuccessor(Successor);
            if (Terminator->getNumSuccessors() > 1 && To->getSinglePredecessor())
                publishBefore(&*To->getFirstInsertionPt());
            else
                Later.push_back(edgeEnd(Terminator, Successor));
        }
        return Later;
    }

    // An instruction that is executed last whenever the edge is taken. Where the edge can't be split that is the
    // branch itself: what it stores is right on its other edges too.
    static Instruction *edgeEnd(Instruction *Terminator, unsigned Successor) {
        if (Terminator->getNumSuccessors() > 1)
            if (BasicBlock *Split = SplitCriticalEdge(Terminator, Successor))
                return Split->getTerminator();
        return Terminator;
    }

    // ---- Records ----

    void emitUnit(unsigned Index) {
        const Unit &U = P.Units[Index];
        Instruction *Head = Heads[Index];
        IRBuilder<> B(Head);
        if (!U.ContextKnown || U.Repairs)
            B.CreateStore(loadThreadField(B, 0), Cursor);
        if (U.Checks)
            emitCheck(Index, Head);
        B.SetInsertPoint(Head);
        if (U.Repairs)
            emitResume(Index, Head);
        if (!U.hasRecord())
            return;
        const Recording &R = Recordings[Index];
        if (R.CorrectsFirst)
            emitCorrectionFirst(Index, Head);
        B.SetInsertPoint(Head);
        if (!R.Continues)
            B.CreateStore(B.CreateLoad(Ptr, Cursor), RecordStart);
        emitRecord(Index, B.CreateLoad(Ptr, RecordStart), B);
        for (const Operation &O : U.Operations)
            if (O.K == Operation::Kind::Forget)
                forget(O.Target, O.Anchor);
    }

    // The id is stored at the record's start, at the unit's head; each root is stored at its anchor, past the roots
    // before it.
    void emitRecord(unsigned Index, Value *Start, IRBuilder<> &Head) {
        const Unit &U = P.Units[Index];
        const Recording &R = Recordings[Index];
        unsigned Offset = idBytes(R.IsLocal);
        if (R.Continues)
            Offset = Recordings[*R.Continues].End;
        storeId(R.Segment, Start, Head);
        storeRoots(recordOperations(P, U), Start, Offset, nullptr);
        Head.CreateStore(at(Head, Start, R.End), Cursor);
        if (R.Correction && !R.CorrectsFirst)
            emitCorrection(Index, Start);
    }

    Instruction *placeOf(const Operation &O) const { return Kept ? Kept->placeFor(O.Anchor) : O.Anchor; }

    // Each root at its place, or all of them at one.
    void storeRoots(ArrayRef<Operation> Operations, Value *Start, unsigned Offset, Instruction *Place) {
        for (const Operation &O : Operations)
            if (O.K == Operation::Kind::LogRoot) {
                IRBuilder<> At(Place ? Place : placeOf(O));
                // A value of many uses is taken for one that crosses blocks.
                Value *Begin = P.KeepsFrameSmall ? At.CreateLoad(Ptr, Place ? Cursor : RecordStart) : Start;
                storeRoot(At, O.Target, Begin, Offset);
                Offset += P.Registers[O.Target].width();
            }
    }

    // Stores a record as a whole and returns its end.
    Value *storeRecord(unsigned Segment, Value *Start, Instruction *Place) {
        IRBuilder<> B(Place);
        storeId(Segment, Start, B);
        unsigned Id = idBytes(Segments[Segment].LocalId != 0);
        storeRoots(Segments[Segment].Operations, Start, Id, Place);
        return at(B, Start, Id + rootBytes(Segments[Segment].Operations));
    }

    // Volatile, since an optimiser would drop an id that all ways replace: it counts where none of them is reached.
    void storeId(unsigned Segment, Value *Start, IRBuilder<> &B) {
        if (uint8_t LocalId = Segments[Segment].LocalId)
            B.CreateAlignedStore(B.getInt8(LocalId), Start, Align(1), /*isVolatile=*/true);
        else
            storeGlobalId(B, Start, Segment);
    }

    // ---- Expectations ----

    // if (an expectation failed) { store what makes them hold }
    void emitCorrectionFirst(unsigned Index, Instruction *Head) {
        const Unit &U = P.Units[Index];
        IRBuilder<> B(Head);
        Instruction *Cold = SplitBlockAndInsertIfThen(differs(U, B), Head, false, unlikely(F.getContext()));
        Instruction *Far = Recordings[Index].NearCorrection ? emitNearCorrection(Index, Cold) : Cold;
        IRBuilder<> C(Far);
        C.CreateStore(storeRecord(Recordings[Index].Correction, C.CreateLoad(Ptr, Cursor), Far), Cursor);
        rememberAll(U, Head, Cold);
    }

    // if (4 bytes hold by how much the root is off) { store that } else { what stands before the result }
    Instruction *emitNearCorrection(unsigned Index, Instruction *Cold) {
        unsigned Segment = Recordings[Index].NearCorrection;
        IRBuilder<> B(Cold);
        Value *Difference = offBy(P.Units[Index], B);
        Value *Near = B.CreateTrunc(Difference, B.getInt32Ty());
        Value *IsNear = B.CreateICmpEQ(B.CreateSExt(Near, B.getInt64Ty()), Difference);
        Instruction *Then, *Else;
        SplitBlockAndInsertIfThenElse(IsNear, Cold, &Then, &Else);
        IRBuilder<> C(Then);
        Value *Start = C.CreateLoad(Ptr, Cursor);
        storeId(Segment, Start, C);
        unsigned Id = idBytes(Segments[Segment].LocalId != 0);
        C.CreateAlignedStore(Near, at(C, Start, Id), Align(1));
        C.CreateStore(at(C, Start, Id + rootBytes(Segments[Segment].Operations)), Cursor);
        return Else;
    }

    // The only root of the unit that is expected, less what is expected.
    Value *offBy(const Unit &U, IRBuilder<> &B) {
        auto Bits = [&](Value *V) { return V->getType()->isPointerTy() ? B.CreatePtrToInt(V, B.getInt64Ty()) : V; };
        for (const Operation &O : U.Operations)
            if (const Expectation *E = expectationOf(P, U, O)) {
                Value *Now = P.Registers[O.Target].V;
                return B.CreateSub(Bits(Now), Bits(likely(*E, Now->getType(), B)));
            }
        return nullptr;
    }

    // Handles roots that become known only later. If an expectation failed, the code stores what makes it hold, and the
    // record again, past the record and an id that ends the stream. Then a single store turns the record into the
    // correction, which skips it.
    //
    // So the buffer's content changes with one store, and is whole at whatever instruction this thread is stopped for
    // good.
    void emitCorrection(unsigned Index, Value *Start) {
        const Unit &U = P.Units[Index];
        const Recording &R = Recordings[Index];
        Instruction *Last = lastRoot(U);
        IRBuilder<> B(Last);
        Instruction *Cold = SplitBlockAndInsertIfThen(differs(U, B), Last, false, unlikely(F.getContext()));
        std::vector<Operation> Roots = correctionOperations(P, U);
        IRBuilder<> C(Cold);
        storeRoots(Roots, Start, R.End + StreamEnd, Cold);
        Value *Copy = at(C, Start, R.End + StreamEnd + rootBytes(Roots));
        copyRecord(C, Start, Copy, R.End);
        keepOrder(C);
        storeId(R.Correction, Start, C);
        C.CreateStore(Copy, RecordStart);
        C.CreateStore(at(C, Copy, R.End), Cursor);
        rememberAll(U, Last, Cold);
    }

    static Instruction *lastRoot(const Unit &U) {
        for (const Operation &O : reverse(U.Operations))
            if (O.K == Operation::Kind::LogRoot)
                return O.Anchor;
        return nullptr;
    }

    static void copyRecord(IRBuilder<> &B, Value *From, Value *To, unsigned Length) {
        for (unsigned Done = 0; Done < Length;) {
            unsigned Bytes = bit_floor(std::min(Length - Done, 8U));
            Value *Part = B.CreateAlignedLoad(B.getIntNTy(8 * Bytes), at(B, From, Done), Align(1));
            B.CreateAlignedStore(Part, at(B, To, Done), Align(1));
            Done += Bytes;
        }
    }

    // The recorder may read the buffer when this thread is stopped. The fence is no instruction, but keeps the compiler
    // from moving stores across it.
    static void keepOrder(IRBuilder<> &B) {
        B.CreateFence(AtomicOrdering::SequentiallyConsistent, SyncScope::SingleThread);
    }

    // Whether some root isn't what was expected.
    Value *differs(const Unit &U, IRBuilder<> &B) {
        Value *Any = nullptr;
        for (const Operation &O : U.Operations)
            if (const Expectation *E = expectationOf(P, U, O)) {
                Value *Now = comparable(*E, P.Registers[O.Target], B);
                Value *Differs = B.CreateICmpNE(Now, likely(*E, Now->getType(), B));
                Any = Any ? B.CreateOr(Any, Differs) : Differs;
            }
        return Any;
    }

    Value *likely(const Expectation &E, Type *T, IRBuilder<> &B) {
        Value *Last = B.CreateLoad(T, memory(E, T, B), E.OutlivesCalls);
        if (E.Step == 0)
            return Last;
        return T->isPointerTy() ? B.CreateConstGEP1_64(B.getInt8Ty(), Last, E.Step)
                                : B.CreateAdd(Last, ConstantInt::getSigned(T, E.Step));
    }

    // A value that a thread remembers without a step changes only if an expectation failed.
    void rememberAll(const Unit &U, Instruction *Behind, Instruction *Failed) {
        for (const Operation &O : U.Operations)
            if (const Expectation *E = expectationOf(P, U, O)) {
                IRBuilder<> B(E->OutlivesCalls && E->Step == 0 ? Failed : Behind);
                Value *Now = comparable(*E, P.Registers[O.Target], B);
                B.CreateStore(Now, memory(*E, Now->getType(), B), E->OutlivesCalls);
            }
    }

    // Remembers what a fresh buffer's decoder knows.
    void rememberResumed(const Unit &U, Instruction *Before) {
        for (Register R : U.ResumeForgets)
            forget(R, Before);
        for (Register R : U.Resume)
            if (const auto &E = P.Expectations[R]; E && E->Remembered == R && E->In->contains(U.Block)) {
                Value *Now = P.Registers[R].V;
                IRBuilder<> B(Before);
                B.CreateStore(Now, memory(*E, Now->getType(), B));
            }
    }

    // The part of the root that is compared.
    static Value *comparable(const Expectation &E, const Root &R, IRBuilder<> &B) {
        if (E.K == Expectation::Kind::SameValue)
            return R.V;
        return B.CreateTrunc(B.CreateLShr(B.CreatePtrToInt(R.V, B.getInt64Ty()), 32), B.getInt32Ty());
    }

    // The program's memory for what the decoder holds in the register `Remembered`.
    Value *memory(const Expectation &E, Type *T, IRBuilder<> &At) {
        if (E.OutlivesCalls) {
            unsigned Place = E.Remembered - FirstStreamRegister;
            return Place < StreamHighHalves
                       ? At.CreateConstInBoundsGEP1_64(T, threadField(At, 2), Place)
                       : At.CreateConstInBoundsGEP1_64(T, threadField(At, 3), Place - StreamHighHalves);
        }
        AllocaInst *&Variable = Memory[E.Remembered];
        if (!Variable) {
            IRBuilder<> B(&F.getEntryBlock(), F.getEntryBlock().begin());
            Variable = B.CreateAlloca(T, nullptr, "trackway.expected");
        }
        return Variable;
    }

    void forget(Register Remembered, Instruction *Before) {
        for (unsigned R = 0; R < P.Expectations.size(); ++R)
            if (const auto &E = P.Expectations[R]; E && E->Remembered == Remembered) {
                IRBuilder<> B(Before);
                Type *T = P.Registers[R].V->getType();
                B.CreateStore(Constant::getNullValue(T), memory(*E, T, B));
            }
    }

    // if (cursor >= limit) { cursor = flush(cursor); record again what must be known }
    void emitCheck(unsigned Index, Instruction *Head) {
        const Unit &U = P.Units[Index];
        IRBuilder<> B(Head);
        Value *Limit = loadThreadField(B, 1);
        Value *IsFull = B.CreateICmpUGE(B.CreateLoad(Ptr, Cursor), Limit);
        MDNode *Unlikely = unlikely(F.getContext());
        Instruction *Cold = SplitBlockAndInsertIfThen(IsFull, Head, false, Unlikely);
        IRBuilder<> C(Cold);
        C.CreateStore(callFlush(C, C.CreateLoad(Ptr, Cursor)), Cursor);
        if (U.FunctionKnown && !U.Repairs)
            emitResume(Index, Cold);
    }

    CallInst *callFlush(IRBuilder<> &B, Value *Full) {
        FunctionCallee Flush = P.KeepsFrameSmall ? Runtime.flushInSmallFrame(F) : Runtime.Flush;
        CallInst *Call = B.CreateCall(Flush, {Full});
        Call->setCallingConv(cast<Function>(Flush.getCallee())->getCallingConv());
        Call->setDoesNotThrow();
        return Call;
    }

    void emitResume(unsigned Index, Instruction *Before) {
        IRBuilder<> B(Before);
        Value *Start = B.CreateLoad(Ptr, Cursor);
        B.CreateStore(storeRecord(Recordings[Index].Resume, Start, Before), Cursor);
        rememberResumed(P.Units[Index], Before);
    }

    void storeGlobalId(IRBuilder<> &B, Value *Start, unsigned Segment) {
        Value *Base = B.CreateLoad(B.getInt32Ty(), Runtime.ModuleRecord);
        Value *Id = B.CreateAdd(Base, B.getInt32((FirstSegment + Segment) << 8));
        B.CreateAlignedStore(Id, Start, Align(1), /*isVolatile=*/true);
    }

    static Value *at(IRBuilder<> &B, Value *Start, unsigned Offset) {
        return B.CreateConstInBoundsGEP1_32(B.getInt8Ty(), Start, Offset);
    }

    void storeRoot(IRBuilder<> &B, Register R, Value *Start, unsigned Offset) {
        B.CreateAlignedStore(rootValue(B, P.Registers[R]), at(B, Start, Offset), Align(1));
    }

    static Value *rootValue(IRBuilder<> &B, const Root &R) {
        Type *Width = B.getIntNTy(R.width() * 8);
        switch (R.Form) {
        case RootForm::Lane:
            return B.CreateExtractElement(R.V, R.Index);
        case RootForm::MaskBits: {
            unsigned Lanes = cast<FixedVectorType>(R.V->getType())->getNumElements();
            Value *Bits = B.CreateBitCast(R.V, B.getIntNTy(Lanes));
            if (R.Index)
                Bits = B.CreateLShr(Bits, R.Index);
            return B.CreateZExtOrTrunc(Bits, Width);
        }
        case RootForm::Word:
            return contentWord(B, R.V, R.Index, Width);
        case RootForm::LowHalf:
        case RootForm::HighHalf: {
            Value *Bits = B.CreatePtrToInt(R.V, B.getInt64Ty());
            return B.CreateTrunc(R.Form == RootForm::LowHalf ? Bits : B.CreateLShr(Bits, 32), Width);
        }
        case RootForm::Unsigned:
        case RootForm::Signed:
            if (R.V->getType()->isPointerTy())
                return R.V;
            return R.Form == RootForm::Signed ? B.CreateSExtOrTrunc(R.V, Width) : B.CreateZExtOrTrunc(R.V, Width);
        }
        llvm_unreachable("a root has one of these forms");
    }

    Function &F;
    const Plan &P;
    const RuntimeSymbols &Runtime;
    uint32_t FirstSegment;
    Type *Ptr;
    AllocaInst *Cursor = nullptr;
    AllocaInst *RecordStart = nullptr; // of the record that others may continue
    std::vector<Instruction *> Heads;  // by unit
    std::optional<KeptArguments> Kept; // only where frames are to stay small
    std::vector<Segment> Segments;
    std::vector<Recording> Recordings;        // by unit
    MapVector<Register, AllocaInst *> Memory; // what the decoder knows, by the register that holds it
};

} // namespace

std::vector<Segment> emitPlan(Function &F, const Plan &P, const LoopInfo &LI, uint32_t FirstSegment,
                              const RuntimeSymbols &Runtime, std::vector<FlowPiece> &Flow) {
    Emitter E(F, P, LI, FirstSegment, Runtime);
    E.completeFlow(Flow);
    return E.run();
}

} // namespace trackway
