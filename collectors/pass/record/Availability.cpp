// Data flow over units: what the decoder knows at each point, and what follows from it.
#include "record/Expect.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace trackway {

namespace {

class Availability {
  public:
    Availability(Plan &P, const PlanInput &In) : P(P), In(In), Bits(bitOf(P.Registers.size())) {
        ReversePostOrderTraversal<Function *> Traversal(&In.F);
        Order.assign(Traversal.begin(), Traversal.end());
        for (unsigned I = 0; I < Order.size(); ++I)
            Position[Order[I]] = I;
        for (unsigned U = P.Units.size(); U-- > 0;)
            FirstUnit[P.Units[U].Block] = U;
        Local.resize(Bits);
        for (unsigned R = 0; R < P.Registers.size(); ++R) {
            if (P.UnitLocal[R])
                Local.set(bitOf(R));
            if (P.KnownIn[R])
                Counters.push_back(R);
        }
    }

    void run() {
        solveAvailable();
        dropKnownRoots();
        ReturnsKnown = true;
        solveAvailable();
        if (!allReturnsKnow()) {
            ReturnsKnown = false;
            solveAvailable();
        }
        for (unsigned Round = 0; Round < MaxRounds && restoreContexts(); ++Round)
            solveAvailable();
        dropKnownContexts();
        solveLive();
        placeChecks();
        placePublications();
    }

  private:
    // Bits of the sets: the decoder knows the function and the cursor's variable is up to date; the decoder knows the
    // function; and for each register, that it holds its root.
    static constexpr unsigned ContextBit = 0, FunctionBit = 1;
    static unsigned bitOf(Register R) { return R + 2; }

    template <typename Fn> void forUnits(BasicBlock *BB, Fn Visit) {
        for (unsigned U = FirstUnit.lookup(BB); U < P.Units.size() && P.Units[U].Block == BB; ++U)
            Visit(P.Units[U]);
    }

    static bool defines(const Operation &O) { return O.K == Operation::Kind::LogRoot || O.K == Operation::Kind::Set; }

    // ---- Forward, must ----

    static void define(const Operation &O, BitVector &Known) {
        if (defines(O))
            Known.set(bitOf(O.Target));
        for (const Operation &Inner : O.Body)
            define(Inner, Known);
    }

    void transfer(const Unit &U, BitVector &Known) const {
        if (!U.Operations.empty())
            setContext(Known);
        for (const Operation &O : U.Operations)
            define(O, Known);
        Known.reset(Local);
        if (U.EndsInCall)
            leave(U, Known);
    }

    static void setContext(BitVector &Known) {
        Known.set(ContextBit);
        Known.set(FunctionBit);
    }

    void leave(const Unit &U, BitVector &Known) const {
        if (!U.KeepsRegisters)
            Known.reset();
        Known.reset(ContextBit);
        Known.reset(FunctionBit);
        if (ReturnsKnown && isOwnCall(U.End))
            Known.set(FunctionBit);
    }

    // Whether what returns is an activation of this very function, and of this version of it.
    bool isOwnCall(const Instruction *I) const {
        auto *Call = dyn_cast<CallInst>(I);
        return Call && Call->getCalledOperand() == &In.F && !In.F.isInterposable() && In.F.hasExactDefinition();
    }

    // Whether the last record before each return is one of this function.
    bool allReturnsKnow() const {
        return all_of(Order, [&](BasicBlock *BB) {
            return !isa<ReturnInst>(BB->getTerminator()) || KnownOut.find(BB)->second.test(FunctionBit);
        });
    }

    // ---- Contexts after calls ----

    // If only rare predecessors lack the context, because of calls, it is restored on their edges. That is cheaper than
    // a global id and a check on every way.
    bool restoreContexts() {
        bool Changed = false;
        findWanting();
        for (BasicBlock *BB : Order) {
            if (!Wanting.contains(BB) || knownOnEntry(BB).test(ContextBit))
                continue;
            for (BasicBlock *From : rareWaysWithoutContext(BB)) {
                Operation O;
                O.K = Operation::Kind::Context;
                O.Anchor = From->getTerminator();
                lastUnit(From).Operations.push_back(O);
                Changed = true;
            }
        }
        return Changed;
    }

    // Blocks that record, or lead to one that does without a call on the way.
    void findWanting() {
        for (bool Changed = true; Changed;) {
            Changed = false;
            for (BasicBlock *BB : reverse(Order))
                if (!Wanting.contains(BB) && wantsContext(BB))
                    Changed = Wanting.insert(BB).second;
        }
    }

    bool wantsContext(BasicBlock *BB) const {
        const Unit &U = P.Units[FirstUnit.lookup(BB)];
        if (!U.Operations.empty() || U.EndsInCall)
            return !U.Operations.empty();
        return any_of(successors(BB), [&](BasicBlock *To) { return Wanting.contains(To); });
    }

    SmallVector<BasicBlock *, 8> rareWaysWithoutContext(BasicBlock *BB) {
        uint64_t With = 0, Without = 0;
        SmallVector<BasicBlock *, 8> Ways;
        for (BasicBlock *From : predecessors(BB)) {
            auto It = KnownOut.find(From);
            if (It == KnownOut.end())
                continue;
            if (It->second.test(ContextBit)) {
                With += In.Frequencies.of(From);
                continue;
            }
            Without += In.Frequencies.of(From);
            if (lastUnit(From).EndsInCall)
                return {};
            if (!is_contained(Ways, From))
                Ways.push_back(From);
        }
        if (Without * RareFactor > With)
            Ways.clear();
        return Ways;
    }

    Unit &lastUnit(BasicBlock *BB) {
        unsigned Last = FirstUnit.lookup(BB);
        while (Last + 1 < P.Units.size() && P.Units[Last + 1].Block == BB)
            ++Last;
        return P.Units[Last];
    }

    // Counters end at the border of their loop; they may be set before its preheader.
    void restrict(BasicBlock *BB, BitVector &Known) const {
        for (Register R : Counters)
            if (!P.KnownIn[R]->contains(BB) && P.KnownIn[R]->getLoopPreheader() != BB)
                Known.reset(bitOf(R));
    }

    BitVector knownOnEntry(BasicBlock *BB) const {
        if (BB == &In.F.getEntryBlock())
            return BitVector(Bits);
        BitVector Known(Bits, true);
        for (BasicBlock *Predecessor : predecessors(BB))
            if (auto It = KnownOut.find(Predecessor); It != KnownOut.end())
                Known &= It->second;
        restrict(BB, Known);
        return Known;
    }

    void solveAvailable() {
        for (BasicBlock *BB : Order)
            KnownOut[BB] = BitVector(Bits, true);
        for (bool Changed = true; Changed;) {
            Changed = false;
            for (BasicBlock *BB : Order) {
                BitVector Known = knownOnEntry(BB);
                forUnits(BB, [&](Unit &U) { transfer(U, Known); });
                BitVector &Out = KnownOut[BB];
                if (Out != Known) {
                    Out = std::move(Known);
                    Changed = true;
                }
            }
        }
    }

    // Dropping them changes nothing of which roots are known. But what a unit without operations doesn't record tells
    // the decoder nothing of the function: so contexts are solved afterwards.
    void dropKnownRoots() {
        for (BasicBlock *BB : Order) {
            BitVector Known = knownOnEntry(BB);
            forUnits(BB, [&](Unit &U) {
                BitVector Now = Known;
                erase_if(U.Operations, [&](const Operation &O) {
                    if (O.K == Operation::Kind::LogRoot && Now.test(bitOf(O.Target)))
                        return true;
                    if (defines(O))
                        Now.set(bitOf(O.Target));
                    return false;
                });
                transfer(U, Known);
            });
        }
    }

    // Dropping a context that is known changes nothing of what is known.
    void dropKnownContexts() {
        for (BasicBlock *BB : Order) {
            BitVector Known = knownOnEntry(BB);
            forUnits(BB, [&](Unit &U) {
                U.ContextKnown = Known.test(ContextBit);
                U.FunctionKnown = Known.test(FunctionBit);
                erase_if(U.Operations,
                         [&](const Operation &O) { return O.K == Operation::Kind::Context && U.ContextKnown; });
                KnownAt[&U] = Known;
                transfer(U, Known);
                if (U.EndsInCall && (U.ContextKnown || !U.Operations.empty()))
                    P.PublishBefore.push_back(U.End);
            });
        }
    }

    // ---- Backward, may ----

    static void transferBackward(const Operation &O, BitVector &Live) {
        if (defines(O))
            Live.reset(bitOf(O.Target));
        forRegistersRead(O, [&](Register R) { Live.set(bitOf(R)); });
    }

    BitVector liveOnEntry(BasicBlock *BB, bool Remember) {
        BitVector Live(Bits);
        for (BasicBlock *Successor : successors(BB))
            if (auto It = LiveIn.find(Successor); It != LiveIn.end())
                Live |= It->second;
        unsigned First = FirstUnit.lookup(BB), Last = First;
        while (Last + 1 < P.Units.size() && P.Units[Last + 1].Block == BB)
            ++Last;
        for (unsigned U = Last + 1; U-- > First;) {
            if (P.Units[U].EndsInCall && !P.Units[U].KeepsRegisters)
                Live.reset();
            for (const Operation &O : reverse(P.Units[U].Operations))
                transferBackward(O, Live);
            if (Remember)
                LiveAt[&P.Units[U]] = Live;
        }
        return Live;
    }

    void solveLive() {
        for (bool Changed = true; Changed;) {
            Changed = false;
            for (BasicBlock *BB : reverse(Order)) {
                BitVector Live = liveOnEntry(BB, false);
                BitVector &Known = LiveIn[BB];
                if (Known != Live) {
                    Known = std::move(Live);
                    Changed = true;
                }
            }
        }
        for (BasicBlock *BB : Order)
            liveOnEntry(BB, true);
    }

    // ---- Checks ----

    // A unit tests for the end of the buffer if the records since the last test might otherwise outgrow the slack. At
    // the target of a backward edge nothing is known of them.
    void placeChecks() {
        constexpr unsigned Unknown = CheckBudget + 1;
        std::vector<unsigned> UsedOut(Order.size(), 0);
        for (unsigned I = 0; I < Order.size(); ++I) {
            unsigned Used = 0;
            for (BasicBlock *Predecessor : predecessors(Order[I])) {
                auto It = Position.find(Predecessor);
                if (It == Position.end())
                    continue;
                Used = std::max(Used, It->second >= I ? Unknown : UsedOut[It->second]);
            }
            forUnits(Order[I], [&](Unit &U) {
                if (U.Operations.empty())
                    return;
                unsigned Bytes = 4 + U.payloadBytes(P.Registers);
                if (hasExpectations(P, U)) // a correction, which repeats the record with what it continues
                    Bytes = 2 * Bytes + 2 * 4 + MaxPathPayload;
                if (Bytes > CheckBudget)
                    P.Feasible = false;
                U.Checks = !U.ContextKnown || Used + Bytes > CheckBudget;
                unsigned ResumeBytes = U.Checks ? placeResume(U) : 0;
                if (U.resumesActivation())
                    Bytes += ResumeBytes;
                Used = std::min(U.Checks ? Bytes : Used + Bytes, Unknown);
            });
            UsedOut[I] = Used;
        }
    }

    static Operation stepBy(Register R, int64_t Delta) {
        Operation O;
        O.K = Operation::Kind::Step;
        O.Anchor = nullptr;
        O.Target = R;
        O.Delta = Delta;
        return O;
    }

    // Whether the unit begins an iteration with the register's step.
    static bool steps(const Unit &U, Register R) {
        return any_of(U.Operations, [&](const Operation &O) {
            return O.Target == R && (O.K == Operation::Kind::Step || O.K == Operation::Kind::Set);
        });
    }

    unsigned placeResume(Unit &U) {
        BitVector Needed = KnownAt[&U];
        Needed &= LiveAt[&U];
        unsigned Bytes = 4;
        for (unsigned R = 0; R < P.Registers.size(); ++R)
            if (Needed.test(bitOf(R))) {
                U.Resume.push_back(R);
                auto &[Stepping, Ahead] = P.StepAfter[R];
                if (Stepping && Ahead != 0 && !Stepping->contains(U.Block) && P.KnownIn[R]->contains(U.Block))
                    U.ResumeSteps.push_back(stepBy(R, Ahead));
                if (const auto &Undo = P.UndoStep[R]; Undo && steps(U, R))
                    U.ResumeSteps.push_back(*Undo);
                Bytes += P.Registers[R].width();
            }
        for (const auto &E : P.Expectations)
            if (E && E->In && E->In->contains(U.Block) && !is_contained(U.Resume, E->Remembered))
                U.ResumeForgets.push_back(E->Remembered);
        if (Bytes > MaxResumePayload)
            P.Feasible = false;
        return Bytes;
    }

    // ---- Publications ----

    // If the cursor's variable is up to date on some paths only, memory must be up to date. So the cursor is stored on
    // the edges that lead there, and before calls and returns.
    void placePublications() {
        for (BasicBlock *BB : Order) {
            if (!KnownOut[BB].test(ContextBit))
                continue;
            Instruction *Terminator = BB->getTerminator();
            if (isa<ReturnInst, ResumeInst>(Terminator)) {
                P.PublishBefore.push_back(Terminator);
                continue;
            }
            SmallVector<unsigned, 2> Losing;
            for (unsigned S = 0; S < Terminator->getNumSuccessors(); ++S)
                if (!knownOnEntry(Terminator->getSuccessor(S)).test(ContextBit))
                    Losing.push_back(S);
            if (Losing.size() == Terminator->getNumSuccessors() || isa<IndirectBrInst>(Terminator)) {
                if (!Losing.empty())
                    P.PublishBefore.push_back(Terminator);
                continue;
            }
            for (unsigned S : Losing)
                P.PublishOnEdge.emplace_back(Terminator, S);
        }
    }

    static constexpr unsigned MaxRounds = 3;
    static constexpr uint64_t RareFactor = 2;

    Plan &P;
    const PlanInput &In;
    unsigned Bits;
    bool ReturnsKnown = false; // the last record before this function returns is one of it
    SmallPtrSet<BasicBlock *, 16> Wanting;
    BitVector Local;                // registers of one unit
    std::vector<Register> Counters; // registers that a loop steps
    std::vector<BasicBlock *> Order;
    DenseMap<BasicBlock *, unsigned> Position, FirstUnit;
    DenseMap<BasicBlock *, BitVector> KnownOut, LiveIn;
    DenseMap<const Unit *, BitVector> KnownAt, LiveAt;
};

} // namespace

void solveAvailability(Plan &P, const PlanInput &In) { Availability(P, In).run(); }

} // namespace trackway
