#include "code/InstructionMix.h"

#include "code/Calls.h"
#include "code/OurInstructions.h"

#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

#include <optional>

using namespace llvm;

namespace trackway {

enum Kind : unsigned { Load, Store, Atomic, Integer, Float, Vector, Branch, Call };

static bool isVector(const Instruction &I) {
    return I.getType()->isVectorTy() || any_of(I.operands(), [](const Use &U) { return U->getType()->isVectorTy(); });
}

static bool isFloat(const Instruction &I) {
    return I.getType()->isFloatingPointTy() ||
           any_of(I.operands(), [](const Use &U) { return U->getType()->isFloatingPointTy(); });
}

bool becomesNoCode(const Instruction &I) {
    if (isa<PHINode, BitCastInst, IntToPtrInst, PtrToIntInst, FreezeInst, AllocaInst, UnreachableInst>(I))
        return true;
    if (auto *G = dyn_cast<GetElementPtrInst>(&I))
        return G->hasAllConstantIndices();
    auto *II = dyn_cast<IntrinsicInst>(&I);
    return II && (II->isAssumeLikeIntrinsic() || isa<DbgInfoIntrinsic>(II));
}

static std::optional<Kind> kindOf(const Instruction &I) {
    if (isOurs(I) || becomesNoCode(I))
        return std::nullopt;
    if (isa<AtomicRMWInst, AtomicCmpXchgInst>(I) || (isa<LoadInst, StoreInst>(I) && I.isAtomic()))
        return Atomic;
    if (isa<LoadInst>(I))
        return Load;
    if (isa<StoreInst>(I))
        return Store;
    if (endsUnit(I))
        return Call;
    if (I.isTerminator())
        return Branch;
    if (isVector(I))
        return Vector;
    return isFloat(I) ? Float : Integer;
}

InstructionMix instructionMix(const BasicBlock &BB) {
    InstructionMix Mix{};
    for (const Instruction &I : BB)
        if (std::optional<Kind> K = kindOf(I))
            ++Mix[*K];
    return Mix;
}

} // namespace trackway
