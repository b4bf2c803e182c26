#include "record/Expect.h"

#include "record/RareCallLoops.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"

#include <map>

using namespace llvm;

namespace trackway {

// Chains of pointers are followed so far.
static constexpr unsigned MaxChain = 4;

static bool comesFromOnePlace(Value *V, const Loop &L, const Decomposer &Decompose, unsigned Depth);

// Whether the loop doesn't change where the value is loaded from, unless it changes what leads there in memory.
static bool isLoadedFromOnePlace(const LoadInst &Load, const Loop &L, const Decomposer &Decompose, unsigned Depth) {
    Expression Where = Decompose.full(const_cast<Value *>(Load.getPointerOperand()));
    return all_of(Where.Terms, [&](const std::pair<Root, int64_t> &Term) {
        return !Term.first.isWithin(L) || comesFromOnePlace(Term.first.V, L, Decompose, Depth + 1);
    });
}

static bool comesFromOnePlace(Value *V, const Loop &L, const Decomposer &Decompose, unsigned Depth) {
    if (Depth == MaxChain)
        return false;
    if (auto *Load = dyn_cast<LoadInst>(V))
        return isLoadedFromOnePlace(*Load, L, Decompose, Depth);
    // Loaded at the end of an iteration for the next one.
    auto *Phi = dyn_cast<PHINode>(V);
    if (!Phi || Phi->getParent() != L.getHeader())
        return false;
    return all_of(Phi->blocks(), [&](BasicBlock *From) {
        Value *Incoming = Phi->getIncomingValueForBlock(From);
        return !L.contains(From) || Incoming == Phi || comesFromOnePlace(Incoming, L, Decompose, Depth + 1);
    });
}

// A pointer without the constants that were added to it, and their sum.
static std::pair<const Value *, APInt> baseOf(const Value *Pointer, const DataLayout &DL) {
    APInt Offset(DL.getIndexTypeSizeInBits(Pointer->getType()), 0);
    const Value *Base = Pointer->stripAndAccumulateConstantOffsets(DL, Offset, /*AllowNonInbounds=*/true);
    return {Base, Offset};
}

// What the loop stores where the value is loaded from.
static SmallVector<Value *, 4> storedBack(const LoadInst &Load, const Loop &L) {
    const DataLayout &DL = Load.getModule()->getDataLayout();
    auto Place = baseOf(Load.getPointerOperand(), DL);
    SmallVector<Value *, 4> Stored;
    for (BasicBlock *BB : L.blocks())
        for (Instruction &I : *BB)
            if (auto *Store = dyn_cast<StoreInst>(&I))
                if (Store->getValueOperand()->getType() == Load.getType() &&
                    baseOf(Store->getPointerOperand(), DL) == Place)
                    Stored.push_back(Store->getValueOperand());
    return Stored;
}

// The step that most of the values are away from the root, if it is one.
static std::optional<int64_t> mostlyStep(const Root &R, ArrayRef<Value *> Next, const Decomposer &Decompose) {
    std::map<int64_t, unsigned> Votes;
    for (Value *V : Next) {
        bool IsPointer = V->getType()->isPointerTy();
        Expression E = IsPointer ? Decompose.full(V) : Decompose.integer(V, R.Form == RootForm::Signed);
        if (!E.Symbol && E.Terms.size() == 1 && E.Terms[0] == std::make_pair(R, int64_t(1)))
            ++Votes[E.Constant];
    }
    for (auto &[Step, Count] : Votes)
        if (size_t(2) * Count > Next.size() && (Step == 0 || R.width() == 8))
            return Step;
    return std::nullopt;
}

// The values that a phi at the loop's head takes at the ends of its iterations, through the joins on the way.
static SmallVector<Value *, 16> nextValues(const PHINode &Head, const Loop &L) {
    SmallVector<Value *, 16> Next, Work;
    SmallPtrSet<Value *, 8> Joins;
    for (BasicBlock *From : Head.blocks())
        if (L.contains(From))
            Work.push_back(Head.getIncomingValueForBlock(From));
    while (!Work.empty()) {
        Value *V = Work.pop_back_val();
        auto *Join = dyn_cast<PHINode>(V);
        if (!Join || Join == &Head || !L.contains(Join))
            Next.push_back(V);
        else if (Joins.insert(Join).second)
            append_range(Work, Join->incoming_values());
    }
    return Next;
}

// The step by which most paths through the loop advance a value that it carries.
static std::optional<int64_t> commonStep(const Root &R, const Loop &L, const Decomposer &Decompose) {
    auto *Head = dyn_cast<PHINode>(R.V);
    if (!Head || Head->getParent() != L.getHeader())
        return std::nullopt;
    return mostlyStep(R, nextValues(*Head, L), Decompose);
}

// The step by which the loop mostly advances a value that it loads from one place: 0 if it doesn't store there.
static std::optional<int64_t> stepInMemory(const Root &R, const Loop &L, const Decomposer &Decompose) {
    if (!comesFromOnePlace(R.V, L, Decompose, 0))
        return std::nullopt;
    auto *Load = dyn_cast<LoadInst>(R.V);
    SmallVector<Value *, 4> Stored = Load ? storedBack(*Load, L) : SmallVector<Value *, 4>();
    return Stored.empty() ? 0 : mostlyStep(R, Stored, Decompose);
}

static std::optional<Expectation> expectedHighHalf(const Root &R) {
    if (!R.V->getType()->isPointerTy())
        return std::nullopt;
    return Expectation{Expectation::Kind::SameHighHalf, 0, nullptr};
}

std::optional<Expectation> expected(const Root &R, const LoopInfo &LI, const DenseSet<const Loop *> &SteadyLoops,
                                    const Decomposer &Decompose) {
    using Kind = Expectation::Kind;
    if (R.Form != RootForm::Unsigned && R.Form != RootForm::Signed)
        return std::nullopt;
    auto *I = dyn_cast<Instruction>(R.V);
    const Loop *L = I ? LI.getLoopFor(I->getParent()) : nullptr;
    const Loop *Outermost = outermostOf(L, SteadyLoops);
    if (Outermost && R.width() >= 4) {
        if (auto Step = stepInMemory(R, *L, Decompose))
            return Expectation{Kind::SameValue, *Step, Outermost};
        if (auto Step = commonStep(R, *L, Decompose))
            return Expectation{Kind::SameValue, *Step, Outermost};
    }
    return expectedHighHalf(R);
}

bool holdsIn(const Expectation &E, const BasicBlock *BB) { return !E.In || E.In->contains(BB); }

namespace {

class Expecter {
  public:
    Expecter(Plan &P, const LoopInfo &LI, const DenseSet<const Loop *> &SteadyLoops, const Decomposer &Decompose)
        : P(P), LI(LI), SteadyLoops(SteadyLoops), Decompose(Decompose) {}

    void run() {
        P.Expectations.resize(P.Registers.size());
        P.Elsewhere.resize(P.Registers.size());
        DenseSet<Register> Seen;
        std::vector<Candidate> Candidates;
        for (const Unit &U : P.Units)
            for (const Operation &O : U.Operations)
                if (O.K == Operation::Kind::LogRoot && Seen.insert(O.Target).second)
                    if (auto E = expected(P.Registers[O.Target], LI, SteadyLoops, Decompose);
                        E && mayExpect(O.Target, *E))
                        Candidates.push_back({O.Target, *E, depth(P.Registers[O.Target])});
        llvm::stable_sort(Candidates, [](const Candidate &A, const Candidate &B) { return A.Depth > B.Depth; });
        DenseMap<const Loop *, unsigned> Count;
        for (Candidate &C : Candidates) {
            auto Half = expectedHighHalf(P.Registers[C.R]);
            if (!C.E.In || Count[C.E.In]++ < MaxExpectations)
                P.Expectations[C.R] = withRegisters(C.R, C.E);
            if (C.E.In && Half)
                P.Elsewhere[C.R] = withRegisters(C.R, *Half);
        }
        for (const Unit &U : P.Units)
            dropUsedBefore(U);
    }

  private:
    // Each keeps a variable alive throughout its loop: more than this cost the program more than they save.
    static constexpr unsigned MaxExpectations = 16;

    struct Candidate {
        Register R;
        Expectation E;
        unsigned Depth;
    };

    // A register that the decoder steps by itself doesn't keep what the program remembers of it.
    bool mayExpect(Register R, const Expectation &E) const {
        // It must be known before the unit's first instruction whether the expectation holds.
        if (P.KeepsFrameSmall && (E.K != Expectation::Kind::SameHighHalf || !P.Registers[R].isAlwaysAtHand()))
            return false;
        return E.K != Expectation::Kind::SameValue || !P.KnownIn[R];
    }

    unsigned depth(const Root &R) const {
        auto *I = dyn_cast<Instruction>(R.V);
        return I ? LI.getLoopDepth(I->getParent()) : 0;
    }

    Expectation withRegisters(Register R, Expectation E) {
        Root Whole = P.Registers[R];
        if (E.K == Expectation::Kind::SameHighHalf) {
            E.Low = newRegister({Whole.V, RootForm::LowHalf, 0});
            E.High = newRegister({Whole.V, RootForm::HighHalf, 0});
            E.Remembered = FirstStreamRegister + HighHalves++ % StreamRegisters;
        } else {
            Value *Any = PoisonValue::get(Type::getInt32Ty(Whole.V->getContext()));
            E.Near = newRegister({Any, RootForm::Signed, 0});
            E.Remembered = R;
            forgetBefore(*E.In, R);
        }
        return E;
    }

    // A correction comes before the unit's record: nothing in front of the root may use what it sets.
    void dropUsedBefore(const Unit &U) {
        SmallSet<Register, 16> Touched;
        for (const Operation &O : U.Operations) {
            if (const Expectation *E = expectationOf(P, U, O)) {
                if (Touched.contains(E->Remembered))
                    forget(O.Target, E);
                else
                    Touched.insert(E->Remembered);
            }
            forRegistersTouched(O, [&](Register R) { Touched.insert(R); });
        }
    }

    void forget(Register R, const Expectation *E) {
        auto &Elsewhere = P.Elsewhere[R];
        if (Elsewhere && E == &*Elsewhere)
            Elsewhere.reset();
        else
            P.Expectations[R].reset();
    }

    Register newRegister(const Root &R) {
        P.Expectations.emplace_back();
        P.Elsewhere.emplace_back();
        return P.addRegister(R, true);
    }

    // The loop begins with 0 on both sides.
    void forgetBefore(const Loop &L, Register R) {
        BasicBlock *Before = L.getLoopPreheader();
        for (Unit &U : reverse(P.Units))
            if (U.Block == Before) {
                Operation O;
                O.K = Operation::Kind::Forget;
                O.Anchor = Before->getTerminator();
                O.Target = R;
                U.Operations.push_back(O);
                return;
            }
    }

    Plan &P;
    const LoopInfo &LI;
    const DenseSet<const Loop *> &SteadyLoops;
    const Decomposer &Decompose;
    unsigned HighHalves = 0; // that the function has in registers of the stream
};

} // namespace

void addExpectations(Plan &P, const Function &F, const LoopInfo &LI, const DenseSet<const Loop *> &SteadyLoops,
                     const Decomposer &Decompose) {
    Expecter(P, LI, SteadyLoops, Decompose).run();
    for (unsigned I = 0; I < P.Skipped.size(); ++I) {
        Value *Any = PoisonValue::get(IntegerType::get(F.getContext(), 8U << I));
        P.Skipped[I] = P.addRegister({Any, RootForm::Unsigned, 0}, true);
    }
    P.Expectations.resize(P.Registers.size());
    P.Elsewhere.resize(P.Registers.size());
}

const Expectation *expectationOf(const Plan &P, const Unit &U, const Operation &O) {
    if (O.K != Operation::Kind::LogRoot)
        return nullptr;
    for (const auto *E : {&P.Expectations[O.Target], &P.Elsewhere[O.Target]})
        if (*E && holdsIn(**E, U.Block))
            return &**E;
    return nullptr;
}

bool hasExpectations(const Plan &P, const Unit &U) {
    return any_of(U.Operations, [&](const Operation &O) { return expectationOf(P, U, O); });
}

static Operation operation(Operation::Kind K, const Operation &Like, Register Target) {
    Operation O;
    O.K = K;
    O.Anchor = Like.Anchor;
    O.Target = Target;
    return O;
}

// register = Σ terms
static Operation set(const Operation &Like, Register Target, ArrayRef<std::pair<Register, int64_t>> Terms) {
    Operation O = operation(Operation::Kind::Set, Like, Target);
    O.NewValue.Terms.assign(Terms.begin(), Terms.end());
    return O;
}

static Operation step(const Operation &Like, Register Target, int64_t Delta) {
    Operation O = operation(Operation::Kind::Step, Like, Target);
    O.Delta = Delta;
    return O;
}

std::vector<Operation> recordOperations(const Plan &P, const Unit &U) {
    std::vector<Operation> Result;
    for (const Operation &O : U.Operations) {
        const Expectation *E = expectationOf(P, U, O);
        if (!E) {
            Result.push_back(O);
        } else if (E->K == Expectation::Kind::SameHighHalf) {
            Result.push_back(operation(Operation::Kind::LogRoot, O, E->Low));
            Result.push_back(set(O, O.Target, {{E->Remembered, 1}, {E->Low, 1}}));
        } else {
            if (E->Step != 0)
                Result.push_back(step(O, E->Remembered, E->Step));
        }
    }
    return Result;
}

std::vector<Operation> correctionOperations(const Plan &P, const Unit &U) {
    std::vector<Operation> Result;
    for (const Operation &O : U.Operations) {
        const Expectation *E = expectationOf(P, U, O);
        if (!E)
            continue;
        if (E->K == Expectation::Kind::SameHighHalf) {
            Result.push_back(operation(Operation::Kind::LogRoot, O, E->High));
            Result.push_back(set(O, E->Remembered, {{E->High, int64_t(1) << 32}}));
        } else {
            Result.push_back(O);
            if (E->Step != 0)
                Result.push_back(step(O, E->Remembered, -E->Step));
        }
    }
    return Result;
}

std::vector<Operation> nearCorrectionOperations(const Plan &P, const Unit &U) {
    std::vector<Operation> Result;
    for (const Operation &O : U.Operations) {
        const Expectation *E = expectationOf(P, U, O);
        if (!E)
            continue;
        if (!Result.empty() || E->K != Expectation::Kind::SameValue || P.Registers[O.Target].width() < 8)
            return {};
        Result.push_back(operation(Operation::Kind::LogRoot, O, E->Near));
        Result.push_back(set(O, E->Remembered, {{E->Remembered, 1}, {E->Near, 1}}));
    }
    return Result;
}

} // namespace trackway
