#include "code/AccessWork.h"

#include "code/Calls.h"
#include "code/InstructionMix.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace trackway {

namespace {

// Values that are looked at for one address, at most: what is farther away has most likely arrived.
constexpr unsigned MostValues = 64;

constexpr uint32_t DivisionWork = 16;
constexpr uint32_t CallWork = 8;

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

uint32_t workOf(const Instruction &I) {
    if (becomesNoCode(I))
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
        return II->getIntrinsicID() == Intrinsic::sqrt ? DivisionWork : 1;
    return isa<CallBase>(I) ? CallWork : 1;
}

} // namespace

std::vector<AccessWork> workOfAccesses(const Function &F, ArrayRef<const Access *> Accesses) {
    std::vector<AccessWork> Works(Accesses.size());
    AccessNumbers LoadOf, FirstOf;
    for (auto [Number, A] : enumerate(Accesses)) {
        FirstOf.try_emplace(A->Where, Number);
        if (givesLoadedValue(*A))
            LoadOf.try_emplace(A->Where, Number);
    }
    for (auto [A, Work] : zip(Accesses, Works))
        findLoads(A->Pointer, LoadOf, Work);
    for (const BasicBlock &BB : F) {
        uint32_t Since = 0;
        AccessWork *Last = nullptr;
        for (const Instruction &I : BB) {
            Since += workOf(I);
            auto It = FirstOf.find(&I);
            if (It == FirstOf.end())
                continue;
            Last = &Works[It->second];
            Last->Instructions += std::exchange(Since, 0);
        }
        if (Last)
            Last->Instructions += Since;
    }
    return Works;
}

} // namespace trackway
