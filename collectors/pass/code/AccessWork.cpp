#include "code/AccessWork.h"

#include "code/Calls.h"
#include "code/InstructionMix.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

#include "llvm/Support/raw_ostream.h"

#include <numeric>
#include <optional>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace trackway {

namespace {

// Values that are looked at for one address, at most: what is farther away has most likely arrived.
constexpr unsigned MostValues = 64;

constexpr uint32_t DivisionWork = 16;
constexpr uint32_t CallWork = 8;
// More than an instruction becomes, but for absurd vectors.
constexpr uint32_t MostWork = 64;
// What a core does while it waits for a value.
constexpr uint32_t InstructionsPerCycle = 5;

using AccessNumbers = DenseMap<const Instruction *, uint32_t>;

bool givesLoadedValue(const Access &A) {
    return A.Part == 0 && !A.Where->getType()->isVoidTy() && isa<LoadInst, AtomicRMWInst, AtomicCmpXchgInst>(A.Where);
}

// An intrinsic function computes in line.
bool isComputed(const Instruction &I) { return isa<IntrinsicInst>(I) || !isa<CallBase>(I); }

// Walks from an address to the loads that it follows from.
void findLoads(const Value *Address, const AccessNumbers &LoadOf, AccessWork &Work) {
    SmallVector<const Value *, 16> Open{Address};
    SmallPtrSet<const Value *, 16> Seen;
    while (!Open.empty() && Seen.size() < MostValues) {
        const Value *V = Open.pop_back_val();
        if (!Seen.insert(V).second)
            continue;
        if (isa<Argument>(V))
            Work.FromElsewhere = true;
        auto *I = dyn_cast<Instruction>(V);
        if (!I)
            continue;
        if (auto It = LoadOf.find(I); It != LoadOf.end())
            Work.Loads.push_back(It->second);
        else if (!isComputed(*I))
            Work.FromElsewhere = true;
        else if (!isa<LoadInst, AllocaInst>(I))
            append_range(Open, I->operand_values());
    }
}

// A jump is one instruction with the comparison just before it, and none where the next block follows anyway.
bool isPartOfAnother(const Instruction &I) {
    auto *Jump = dyn_cast<BranchInst>(&I);
    if (!Jump)
        return false;
    if (Jump->isUnconditional())
        return true;
    auto *Condition = dyn_cast<ICmpInst>(Jump->getCondition());
    return Condition && Condition->hasOneUse() && Condition->getParent() == I.getParent();
}

constexpr auto CostKind = TargetTransformInfo::TCK_SizeAndLatency;

// A product with a constant of two bits becomes a shift and an addition, which for single numbers mostly are one
// instruction.
bool isSimpleProduct(const Instruction &I) {
    const APInt *Factor;
    return match(&I, m_Mul(m_Value(), m_APInt(Factor))) && Factor->popcount() <= 2;
}

// Instructions of the processor for each register that a value takes; none if only the compiler's costs tell. For
// processors in general, they count simple operations on vectors as the slowest of them executes them.
std::optional<unsigned> instructionsByRegister(const Instruction &I) {
    if (isSimpleProduct(I))
        return I.getType()->isVectorTy() ? 2 : 1;
    if (I.getOpcode() == Instruction::Mul)
        return std::nullopt;
    if (isa<BinaryOperator, UnaryOperator, CmpInst, SelectInst, LoadInst, StoreInst>(I))
        return 1;
    return std::nullopt;
}

// The registers that a value takes. Code generation takes structures and arrays apart, so targets only know their
// elements.
unsigned registersOf(Type *T, const TargetTransformInfo &Costs) {
    if (auto *Structure = dyn_cast<StructType>(T))
        return std::accumulate(Structure->element_begin(), Structure->element_end(), 0u,
                               [&](unsigned Sum, Type *Element) { return Sum + registersOf(Element, Costs); });
    if (auto *Array = dyn_cast<ArrayType>(T))
        return std::min<uint64_t>(Array->getNumElements() * registersOf(Array->getElementType(), Costs), MostWork);
    bool IsNumber = T->isIntOrIntVectorTy() || T->isFPOrFPVectorTy() || T->isPtrOrPtrVectorTy();
    return IsNumber ? std::max(Costs.getNumberOfParts(T), 1u) : 1;
}

// The address of an element that a loop's variable counts: code generation counts the address instead.
bool isCounted(const Instruction &I) {
    auto *Address = dyn_cast<GetElementPtrInst>(&I);
    return Address && all_of(Address->indices(), [](const Use &Index) { return isa<Constant, PHINode>(Index); });
}

uint32_t workOf(const Instruction &I, const TargetTransformInfo &Costs) {
    if (becomesNoCode(I) || isPartOfAnother(I) || isCounted(I))
        return 0;
    switch (I.getOpcode()) {
    case Instruction::SDiv:
    case Instruction::UDiv:
    case Instruction::SRem:
    case Instruction::URem:
        // Of a constant it becomes a multiplication.
        return isa<Constant>(I.getOperand(1)) ? 3 : DivisionWork;
    case Instruction::FDiv:
    case Instruction::FRem:
        return DivisionWork;
    default:
        break;
    }
    if (auto *II = dyn_cast<IntrinsicInst>(&I))
        if (II->getIntrinsicID() == Intrinsic::sqrt)
            return DivisionWork;
    if (isa<CallBase>(I) && !isa<IntrinsicInst>(I))
        return CallWork;
    if (std::optional<unsigned> ByRegister = instructionsByRegister(I)) {
        Type *Whole = isa<StoreInst, CmpInst>(I) ? I.getOperand(0)->getType() : I.getType();
        return std::min(*ByRegister * registersOf(Whole, Costs), MostWork);
    }
    InstructionCost Cost = Costs.getInstructionCost(&I, CostKind);
    uint32_t Instructions = 0;
    while (Instructions < MostWork && Cost > Instructions)
        ++Instructions;
    return Cost.isValid() ? Instructions : 1;
}

// Cycles from the operands to the value, as on common processors. What a load waits for isn't known here.
unsigned latencyOf(const Instruction &I) {
    if (becomesNoCode(I) || I.getType()->isVoidTy())
        return 0;
    switch (I.getOpcode()) {
    case Instruction::FAdd:
    case Instruction::FSub:
    case Instruction::FMul:
        return 4;
    case Instruction::Mul:
        // Of a constant it mostly becomes an addition of an address.
        return isa<Constant>(I.getOperand(1)) ? 1 : 3;
    case Instruction::FDiv:
    case Instruction::FRem:
        return 13;
    case Instruction::SDiv:
    case Instruction::UDiv:
    case Instruction::SRem:
    case Instruction::URem:
        return isa<Constant>(I.getOperand(1)) ? 5 : 12;
    default:
        return isa<CallBase>(I) && !isa<IntrinsicInst>(I) ? 0 : 1;
    }
}

// The longest way within a loop from a value that it carries to another one, in cycles.
class Chains {
  public:
    Chains(const Loop &L, const PHINode &From) : L(L), From(From) {}

    // None if the value doesn't follow from `From`.
    std::optional<unsigned> to(const Value *V) {
        if (V == &From)
            return 0;
        auto *I = dyn_cast<Instruction>(V);
        if (!I || !L.contains(I) || isa<LoadInst>(I) || (I->getParent() == L.getHeader() && isa<PHINode>(I)))
            return std::nullopt;
        auto [It, New] = Known.try_emplace(I, std::nullopt);
        if (!New)
            return It->second;
        std::optional<unsigned> Longest;
        for (const Value *Operand : I->operand_values())
            if (std::optional<unsigned> Before = to(Operand))
                Longest = std::max(Longest.value_or(0), *Before + latencyOf(*I));
        return Known[I] = Longest;
    }

  private:
    const Loop &L;
    const PHINode &From;
    DenseMap<const Instruction *, std::optional<unsigned>> Known;
};

// The cycles that an iteration of a loop takes at least, because a value follows from that of the last one.
unsigned cyclesOfRecurrence(const Loop &L) {
    const BasicBlock *Latch = L.getLoopLatch();
    unsigned Most = 0;
    if (Latch)
        for (const PHINode &Phi : L.getHeader()->phis())
            Most = std::max(Most, Chains(L, Phi).to(Phi.getIncomingValueForBlock(Latch)).value_or(0));
    return Most;
}

// Gives the time that innermost loops wait for themselves to the last access of their iterations.
void addRecurrences(const Function &F, const DenseMap<const BasicBlock *, AccessWork *> &LastOf,
                    const DenseMap<const BasicBlock *, uint32_t> &WorkOf) {
    DominatorTree DT(const_cast<Function &>(F));
    LoopInfo LI(DT);
    for (const Loop *L : LI.getLoopsInPreorder()) {
        if (!L->isInnermost())
            continue;
        uint32_t All = 0;
        AccessWork *Last = nullptr;
        for (const BasicBlock *BB : L->blocks()) {
            All += WorkOf.lookup(BB);
            if (AccessWork *Of = LastOf.lookup(BB))
                Last = Of;
        }
        if (Last)
            Last->Waits += std::max(All, InstructionsPerCycle * cyclesOfRecurrence(*L)) - All;
    }
}

} // namespace

std::vector<AccessWork> workOfAccesses(const Function &F, ArrayRef<const Access *> Accesses,
                                       const TargetTransformInfo &Costs) {
    std::vector<AccessWork> Works(Accesses.size());
    AccessNumbers LoadOf, FirstOf;
    for (auto [Number, A] : enumerate(Accesses)) {
        FirstOf.try_emplace(A->Where, Number);
        if (givesLoadedValue(*A))
            LoadOf.try_emplace(A->Where, Number);
    }
    for (auto [A, Work] : zip(Accesses, Works))
        findLoads(A->Pointer, LoadOf, Work);
    DenseMap<const BasicBlock *, AccessWork *> LastOf;
    DenseMap<const BasicBlock *, uint32_t> WorkOf;
    for (const BasicBlock &BB : F) {
        uint32_t Since = 0;
        AccessWork *Last = nullptr;
        for (const Instruction &I : BB) {
            uint32_t Own = workOf(I, Costs);
            Since += Own;
            WorkOf[&BB] += Own;
            auto It = FirstOf.find(&I);
            if (It == FirstOf.end())
                continue;
            Last = &Works[It->second];
            Last->Instructions += std::exchange(Since, 0);
        }
        if (Last) {
            Last->Instructions += Since;
            LastOf[&BB] = Last;
        }
    }
    addRecurrences(F, LastOf, WorkOf);
    return Works;
}

void printWork(raw_ostream &OS, ArrayRef<AccessWork> Works) {
    for (auto [Number, Work] : enumerate(Works)) {
        OS << "  work " << Number << ": " << Work.Instructions << " instructions";
        if (Work.Waits)
            OS << ", waits for " << Work.Waits;
        for (uint32_t Load : Work.Loads)
            OS << ", after " << Load;
        OS << (Work.FromElsewhere ? ", from elsewhere\n" : "\n");
    }
}

} // namespace trackway
