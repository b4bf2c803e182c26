#include "count/CountedFunction.h"

#include "LlvmVersion.h"
#include "code/Calls.h"
#include "code/OurInstructions.h"
#include "code/TripCounts.h"
#include "count/CallTimes.h"
#include "count/TwoVersions.h"
#include "prepare/Preparation.h"
#include "regions/Regions.h"
#include "table/ModuleDescriptor.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace trackway {

namespace {

class Counter {
  public:
    Counter(Function &F, ArrayRef<NamedAccess> Accesses, uint32_t FirstCounter, const Returning &Calls,
            const CountingSymbols &Symbols, bool EntersRegions, function_ref<uint32_t(const Instruction &)> LocationOf)
        : F(F), C(F.getContext()), Accesses(Accesses), FirstCounter(FirstCounter), Calls(Calls), Symbols(Symbols),
          EntersRegions(EntersRegions), LocationOf(LocationOf) {}

    CountedFunction run() {
        prepare();
        std::optional<TwoVersions> Versions;
        if (EntersRegions && TwoVersions::canHave(F))
            Versions.emplace(F);
        Both = Versions ? &*Versions : nullptr;
        DominatorTree DT(F);
        LoopInfo LI(DT);
        for (Loop *L : LI.getLoopsInPreorder())
            if (!L->getLoopPreheader())
                InsertPreheaderForLoop(L, &DT, &LI, nullptr, false);
        for (Loop *L : LI.getLoopsInPreorder())
            if (isCallFree(*L) && !L->hasDedicatedExits())
                formDedicatedExitBlocks(L, &DT, &LI, nullptr, false);
        for (Loop *L : LI.getLoopsInPreorder())
            if (hasRareCalls(*L))
                WithRareCalls.insert(L);
        // Found before counting code stands between the program's.
        std::vector<CountedBlock> Blocks = describeBlocks();
        TripCounts Trips(F, DT, LI);
        Flow Solved = solve(LI, Trips);
        addDynamic(Blocks, Solved);
        addEdges(Solved, DT, LI, Trips);
        std::vector<TimedCallee> Callees = timedCallees(F, NextCounter);
        CountedFunction Result;
        for (const TimedCallee &Callee : Callees)
            Result.TimedCallees.push_back({Callee.Callee->getName().str(), Callee.FirstCounter});
        CountingCost Cost(Solved);
        insertCounting(F, {std::move(Additions), std::move(Callees)}, FirstCounter, Symbols, LI, Cost);
        Result.Steps = Cost.steps();
        if (Versions)
            Versions->join(Symbols);
        Result.Counters = NextCounter;
        Result.Derived = std::move(Solved.Derived);
        for (CountedBlock &B : Blocks)
            Result.Blocks.push_back(std::move(B));
        return Result;
    }

  private:
    // ---- Preparation ----

    bool mayNotContinue(const Instruction &I) const {
        auto *Call = dyn_cast<CallBase>(&I);
        return Call && Calls.mayNotReturn(*Call);
    }

    bool breaksFlow(const Instruction &I) const { return changesCounters(I) || mayNotContinue(I); }

    // Breaks of the flow come to the ends of their blocks.
    void prepare() {
        gatherAllocas(F);
        SmallVector<CallInst *, 1> Twice;
        for (Instruction &I : instructions(F))
            if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->hasFnAttr(Attribute::ReturnsTwice))
                Twice.push_back(Call);
        for (CallInst *Call : Twice)
            leaveRegionsBehind(*Call);
        DenseSet<const Instruction *> Anchors;
        for (const NamedAccess &N : Accesses)
            Anchors.insert(N.A.Anchor);
        SmallVector<Instruction *, 16> Splits;
        for (Instruction &I : instructions(F)) {
            if (I.isTerminator() || !breaksFlow(I))
                continue;
            auto *Call = cast<CallBase>(&I);
            Instruction *Next = nextInstruction(I);
            bool MustSplit = changesCounters(I) || !Next->isTerminator() || Anchors.contains(Next);
            if (MustSplit && !Call->isMustTailCall())
                Splits.push_back(I.getNextNode());
        }
        for (Instruction *I : Splits)
            SplitBlock(I->getParent(), I);
    }

    // ---- What is counted ----

    std::vector<CountedBlock> describeBlocks() {
        std::vector<CountedBlock> Blocks;
        DenseMap<const BasicBlock *, uint32_t> Index;
        for (BasicBlock &BB : F) {
            Index[&BB] = Blocks.size();
            const Instruction *First = firstWithLine(BB);
            Blocks.push_back({First ? LocationOf(*First) : 0, {}, instructionMix(BB), {}, callees(BB)});
            InOrder.push_back(&BB);
        }
        for (uint32_t I = 0; I < Accesses.size(); ++I)
            Blocks[Index.lookup(Accesses[I].A.anchor()->getParent())].Accesses.push_back(
                {I, isDynamic(Accesses[I].A), {}, {}});
        return Blocks;
    }

    static const Instruction *firstWithLine(const BasicBlock &BB) {
        for (const Instruction &I : BB)
            if (I.getDebugLoc() && I.getDebugLoc().getLine() != 0 && !isa<DbgInfoIntrinsic>(I) && !isOurs(I))
                return &I;
        return nullptr;
    }

    static std::vector<std::string> callees(const BasicBlock &BB) {
        std::vector<std::string> Names;
        for (const Instruction &I : BB) {
            auto *Call = dyn_cast<CallBase>(&I);
            if (!Call || !endsUnit(I) || Call->isInlineAsm())
                continue;
            const Function *Callee = Call->getCalledFunction();
            if (Callee && Callee->getName().starts_with("__trackway_"))
                continue;
            if (!Callee || Callee->isDeclaration())
                Names.push_back(Callee ? Callee->getName().str() : "");
        }
        return Names;
    }

    static bool isDynamic(const Access &A) { return A.Form != AccessForm::Single; }

    // ---- Flow ----

    // Whether an iteration that was begun goes on to its end.
    bool hasRareCalls(const Loop &L) const {
        return none_of(L.blocks(), [&](const BasicBlock *BB) {
            return BB->isEHPad() || isa<UnreachableInst, InvokeInst, IndirectBrInst, CallBrInst>(BB->getTerminator()) ||
                   any_of(*BB, [&](const Instruction &I) { return breaksFlow(I); });
        });
    }

    std::optional<TripCounts::Sum> countedAhead(const BasicBlock &Latch, const BasicBlock &Head, const LoopInfo &LI,
                                                TripCounts &Trips) {
        Loop *L = LI.getLoopFor(&Head);
        if (!L || L->getHeader() != &Head || L->getLoopLatch() != &Latch)
            return std::nullopt;
        return Trips.timesBackInAll(*L, [&](const Loop &Given) { return WithRareCalls.contains(&Given); });
    }

    Flow solve(const LoopInfo &LI, TripCounts &Trips) {
        auto Ahead = [&](const BasicBlock &Latch, const BasicBlock &Head) -> const BasicBlock * {
            auto Sum = countedAhead(Latch, Head, LI, Trips);
            return Sum ? Sum->Outermost->getLoopPreheader() : nullptr;
        };
        std::vector<FlowEdge> Edges =
            flowEdges(F, LI, {[&](const Instruction &I) { return mayNotContinue(I); }, changesCounters, Ahead});
        Flow Solved = solveFlow(std::move(Edges));
        NextCounter = Solved.Counted.size();
        return Solved;
    }

    // ---- Additions ----

    void addEdges(const Flow &Solved, DominatorTree &DT, LoopInfo &LI, TripCounts &Trips) {
        // Multiplied out before blocks are split.
        std::vector<std::optional<TripCounts::Sum>> Sums;
        for (uint32_t Edge : Solved.Counted) {
            const FlowEdge &E = Solved.Edges[Edge];
            Sums.push_back(E.From && E.To && !E.IsBlock ? countedAhead(*E.From, *E.To, LI, Trips) : std::nullopt);
        }
        std::vector<Addition> Ahead;
        for (uint32_t I = 0; I < Sums.size(); ++I)
            if (auto &Sum = Sums[I]) {
                BasicBlock &Preheader = *Sum->Outermost->getLoopPreheader();
                if (Value *Amount = expand(*Sum, *Preheader.getTerminator(), Trips))
                    Ahead.push_back({I, Preheader.getTerminator(), Amount, executionsOf(Preheader, Solved)});
                else
                    Sum.reset();
            }
        for (uint32_t I = 0; I < Sums.size(); ++I)
            if (!Sums[I]) {
                const FlowEdge &E = Solved.Edges[Solved.Counted[I]];
                Additions.push_back({I, placeOf(E, DT, LI), one(), sumOf(I, 1), E.Cost});
            }
        Additions.insert(Additions.end(), Ahead.begin(), Ahead.end());
    }

    // With two versions, the computation may not stand before a mark that leads here from the other version. Null if it
    // depends on an outer loop's earlier iterations.
    Value *expand(const TripCounts::Sum &Sum, Instruction &Before, TripCounts &Trips) {
        Value *Times = Trips.expand(Sum);
        return Both ? computedHere(Times, Before) : Times;
    }

    Value *computedHere(Value *V, Instruction &Before) {
        auto *I = dyn_cast<Instruction>(V);
        if (!I || Both->isOfBoth(*I))
            return V;
        if (isa<PHINode>(I))
            return nullptr;
        SmallVector<Value *, 3> Operands;
        for (Value *Operand : I->operands()) {
            Operands.push_back(computedHere(Operand, Before));
            if (!Operands.back())
                return nullptr;
        }
        Instruction *Here = I->clone();
        for (unsigned Index = 0; Index < Operands.size(); ++Index)
            Here->setOperand(Index, Operands[Index]);
        Here->insertBefore(&Before);
        return Here;
    }

    // The instruction before which the edge can be counted.
    Instruction *placeOf(const FlowEdge &E, DominatorTree &DT, LoopInfo &LI) {
        if (E.IsBlock)
            return startOf(*E.To);
        if (!E.To)
            return endOf(*E.From);
        if (!E.From || E.To->getUniquePredecessor())
            return startOf(*E.To);
        if (E.From->getUniqueSuccessor())
            return E.From->getTerminator();
        return SplitBlockPredecessors(E.To, {E.From}, ".counted", &DT, &LI)->getTerminator();
    }

    // Before what changes the counters, and before a call that must stand at the end.
    static Instruction *endOf(BasicBlock &BB) {
        if (CallInst *Tail = BB.getTerminatingMustTailCall())
            return Tail;
        Instruction *Terminator = BB.getTerminator();
        Instruction *Last = previousInstruction(*Terminator);
        return Last && changesCounters(*Last) ? Last : Terminator;
    }

    Value *one() const { return ConstantInt::get(Type::getInt64Ty(C), 1); }

    // None if it can't be reached.
    static CountSum executionsOf(const BasicBlock &BB, const Flow &Solved) {
        auto It = Solved.Executions.find(&BB);
        return It == Solved.Executions.end() ? CountSum() : CountSum{{It->second, 1}};
    }

    uint32_t addCounter(Instruction &Before, Value *Amount, const CountSum &Executions) {
        Additions.push_back({NextCounter, &Before, Amount, Executions});
        return NextCounter++;
    }

    static CountSum sumOf(uint32_t Counter, int64_t Factor) { return {{{false, Counter}, Factor}}; }

    static CountSum scaled(CountSum Sum, int64_t Factor) {
        for (CountTerm &T : Sum)
            T.Factor *= Factor;
        return Sum;
    }

    void addDynamic(std::vector<CountedBlock> &Blocks, const Flow &Solved) {
        for (uint32_t I = 0; I < Blocks.size(); ++I) {
            CountedBlock &B = Blocks[I];
            B.Executions = executionsOf(*InOrder[I], Solved);
            for (CountedAccess &Counted : B.Accesses)
                if (Counted.IsDynamic)
                    count(Accesses[Counted.Index].A, B.Executions, Counted);
        }
    }

    void count(const Access &A, const CountSum &Executions, CountedAccess &To) {
        A.Form == AccessForm::Block ? countBlock(A, Executions, To) : countLanes(A, Executions, To);
    }

    // A block of no length is no access.
    void countBlock(const Access &A, const CountSum &Executions, CountedAccess &To) {
        if (auto *Length = dyn_cast<ConstantInt>(A.Length)) {
            To.Accesses = scaled(Executions, !Length->isZero());
            To.Bytes = scaled(Executions, Length->getSExtValue());
            return;
        }
        // Both sides of a copy are as long, and so are those of a comparison.
        Instruction *Before = A.anchor();
        auto &[Times, Bytes] = OfBlock[{Before, A.Length}];
        if (Times.empty()) {
            IRBuilder<> B(Before);
            Value *Length = B.CreateZExtOrTrunc(A.Length, B.getInt64Ty());
            Value *Is = B.CreateZExt(B.CreateICmpNE(Length, B.getInt64(0)), B.getInt64Ty());
            Bytes = sumOf(addCounter(*Before, Length, Executions), 1);
            Times = sumOf(addCounter(*Before, Is, Executions), 1);
        }
        To.Accesses = Times;
        To.Bytes = Bytes;
    }

    void countLanes(const Access &A, const CountSum &Executions, CountedAccess &To) {
        if (auto *Mask = dyn_cast<Constant>(A.Mask); Mask && isKnown(*Mask, A.Lanes)) {
            To.Accesses = scaled(Executions, activeLanes(*Mask, A.Lanes));
        } else {
            IRBuilder<> B(A.Where);
            Value *Bits = B.CreateBitCast(A.Mask, B.getIntNTy(A.Lanes));
            Value *Count = B.CreateUnaryIntrinsic(Intrinsic::ctpop, Bits);
            To.Accesses = sumOf(addCounter(*A.Where, B.CreateZExtOrTrunc(Count, B.getInt64Ty()), Executions), 1);
        }
        To.Bytes = scaled(To.Accesses, static_cast<int64_t>(A.Size));
    }

    static bool isKnown(Constant &Mask, unsigned Lanes) {
        for (unsigned Lane = 0; Lane < Lanes; ++Lane)
            if (!isa_and_nonnull<ConstantInt>(Mask.getAggregateElement(Lane)))
                return false;
        return true;
    }

    static int64_t activeLanes(Constant &Mask, unsigned Lanes) {
        int64_t Count = 0;
        for (unsigned Lane = 0; Lane < Lanes; ++Lane)
            Count += Mask.getAggregateElement(Lane)->isOneValue();
        return Count;
    }

    // ---- Code ----

    Function &F;
    LLVMContext &C;
    ArrayRef<NamedAccess> Accesses;
    uint32_t FirstCounter;
    const Returning &Calls;
    const CountingSymbols &Symbols;
    bool EntersRegions;
    function_ref<uint32_t(const Instruction &)> LocationOf;
    const TwoVersions *Both = nullptr;
    DenseSet<const Loop *> WithRareCalls;
    std::vector<const BasicBlock *> InOrder;
    DenseMap<std::pair<const Instruction *, const Value *>, std::pair<CountSum, CountSum>> OfBlock;
    std::vector<Addition> Additions;
    uint32_t NextCounter = 0;
};

} // namespace

CountedFunction countFunction(Function &F, ArrayRef<NamedAccess> Accesses, uint32_t FirstCounter,
                              const Returning &Calls, const CountingSymbols &Symbols, bool EntersRegions,
                              function_ref<uint32_t(const Instruction &)> LocationOf) {
    return Counter(F, Accesses, FirstCounter, Calls, Symbols, EntersRegions, LocationOf).run();
}

} // namespace trackway
