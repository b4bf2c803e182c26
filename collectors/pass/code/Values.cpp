#include "code/Values.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace trackway {

static bool isScalar(const Type *T) {
    if (auto *P = dyn_cast<PointerType>(T))
        return P->getAddressSpace() == 0;
    return T->isIntegerTy() || (T->isFloatingPointTy() && !T->isPPC_FP128Ty());
}

// The memory of other vectors isn't as dense as their values are.
static bool isDenseVector(const Type *T) {
    auto *Vector = dyn_cast<FixedVectorType>(T);
    return Vector && isScalar(Vector->getElementType()) && !Vector->getElementType()->isX86_FP80Ty();
}

static bool isAggregate(const Type *T) {
    if (auto *Array = dyn_cast<ArrayType>(T))
        return isScalar(Array->getElementType()) || isAggregate(Array->getElementType());
    auto *Struct = dyn_cast<StructType>(T);
    return Struct && all_of(Struct->elements(), [](Type *Member) { return isScalar(Member) || isAggregate(Member); });
}

// Lanes of one masked or gather operation at most.
static constexpr unsigned MaxLanes = 64;

// The masked intrinsics that this pass records, and which of their operands is stored; -1: they load.
static std::optional<int> maskedOperand(const Instruction &I) {
    auto *II = dyn_cast<IntrinsicInst>(&I);
    if (!II)
        return std::nullopt;
    switch (II->getIntrinsicID()) {
    case Intrinsic::masked_load:
    case Intrinsic::masked_expandload:
    case Intrinsic::masked_gather:
        return -1;
    case Intrinsic::masked_store:
    case Intrinsic::masked_compressstore:
    case Intrinsic::masked_scatter:
        return 0;
    default:
        return std::nullopt;
    }
}

static const Use *storedOperand(const Instruction &I) {
    if (isa<StoreInst>(I))
        return &I.getOperandUse(0);
    auto Masked = maskedOperand(I);
    return Masked == 0 ? &I.getOperandUse(0) : nullptr;
}

// The value that is loaded or stored; null for copies, fills and instructions that are no access.
static Type *accessedType(const Instruction &I) {
    if (const Use *Stored = storedOperand(I))
        return Stored->get()->getType();
    if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
        return Exchange->getCompareOperand()->getType();
    return isa<LoadInst, AtomicRMWInst>(I) || maskedOperand(I) ? I.getType() : nullptr;
}

// Whether the constant, or a part of it, may be anything.
static bool isUndefined(const Value *V) {
    auto *C = dyn_cast<Constant>(V);
    return C && (isa<UndefValue>(C) || C->containsUndefOrPoisonElement());
}

std::optional<ValueShape> shapeOfAccess(const Instruction &I, const DataLayout &DL) {
    Type *T = accessedType(I);
    if (!T || DL.getTypeStoreSize(T).isScalable() || DL.getTypeStoreSize(T) > MaxValueBytes)
        return std::nullopt;
    if (const Use *Stored = storedOperand(I); Stored && isUndefined(Stored->get()))
        return std::nullopt;
    if (isScalar(T))
        return ValueShape{ValueForm::Bits, contentBits(T), 1};
    if (isAggregate(T))
        return ValueShape{ValueForm::Bits, static_cast<unsigned>(DL.getTypeStoreSizeInBits(T)), 1};
    if (!isDenseVector(T))
        return std::nullopt;
    unsigned Lanes = cast<FixedVectorType>(T)->getNumElements();
    unsigned Bits = contentBits(T) / Lanes;
    // Each lane is an access of whole bytes, and there is one operation for all.
    if (maskedOperand(I) && (Bits % 8 != 0 || Lanes > MaxLanes))
        return std::nullopt;
    return ValueShape{ValueForm::Bits, Bits, Lanes};
}

unsigned contentBits(const Type *T) {
    if (auto *Vector = dyn_cast<FixedVectorType>(T))
        return Vector->getNumElements() * contentBits(Vector->getElementType());
    return T->isPointerTy() ? 64 : T->getPrimitiveSizeInBits().getFixedValue();
}

static Value *asInteger(IRBuilder<> &B, Value *V) {
    Type *T = V->getType();
    if (T->isPtrOrPtrVectorTy())
        V = B.CreatePtrToInt(V, T->getWithNewType(B.getInt64Ty()));
    return B.CreateBitCast(V, B.getIntNTy(contentBits(T)));
}

// Sets the bits of the members where they lie in memory; bits between them are 0.
static Value *gatherMembers(IRBuilder<> &B, Value *Member, uint64_t Offset, Value *Whole, const DataLayout &DL) {
    Type *T = Member->getType();
    if (isScalar(T)) {
        Value *Bits = B.CreateZExtOrTrunc(asInteger(B, Member), Whole->getType());
        return B.CreateOr(Whole, B.CreateShl(Bits, Offset * 8));
    }
    auto *Struct = dyn_cast<StructType>(T);
    uint64_t Count = Struct ? Struct->getNumElements() : T->getArrayNumElements();
    for (unsigned I = 0; I < Count; ++I) {
        uint64_t Distance = Struct ? DL.getStructLayout(Struct)->getElementOffset(I)
                                   : I * DL.getTypeAllocSize(T->getArrayElementType()).getFixedValue();
        Whole = gatherMembers(B, B.CreateExtractValue(Member, I), Offset + Distance, Whole, DL);
    }
    return Whole;
}

// Whether an undefined constant may be part of what the code computes.
static bool mayHoldUndefined(const Value *Computed) {
    constexpr size_t Enough = 64;
    SmallVector<const Value *, 16> Work{Computed};
    SmallPtrSet<const Value *, 16> Seen;
    while (!Work.empty()) {
        const Value *V = Work.pop_back_val();
        if (isUndefined(V) || Seen.size() == Enough)
            return true;
        auto *I = dyn_cast<Instruction>(V);
        if (I && !I->mayReadFromMemory() && !isa<CallBase, FreezeInst, AllocaInst>(I) && Seen.insert(I).second)
            Work.append(I->value_op_begin(), I->value_op_end());
    }
    return false;
}

// Makes an undefined value the same for all its users.
static void fix(Use &Stored) {
    if (isa<Constant>(Stored.get()) || !mayHoldUndefined(Stored.get()))
        return;
    IRBuilder<> B(cast<Instruction>(Stored.getUser()));
    Stored.set(B.CreateFreeze(Stored.get()));
}

Content exposeContent(Instruction &Access) {
    const Use *Stored = storedOperand(Access);
    Instruction *Anchor = Stored ? &Access : Access.getNextNode();
    if (Stored)
        fix(Access.getOperandUse(0));
    Value *V = Stored ? Stored->get() : &Access;
    IRBuilder<> B(Anchor);
    if (isa<AtomicCmpXchgInst>(Access))
        V = B.CreateExtractValue(V, 0);
    else if (maskedOperand(Access) == -1) // lanes that aren't loaded may be undefined
        V = B.CreateFreeze(V);
    if (isAggregate(V->getType())) {
        const DataLayout &DL = Access.getModule()->getDataLayout();
        auto *T = B.getIntNTy(DL.getTypeStoreSizeInBits(V->getType()).getFixedValue());
        V = gatherMembers(B, V, 0, ConstantInt::get(T, 0), DL);
    }
    return {V, Anchor};
}

Value *contentWord(IRBuilder<> &B, Value *V, unsigned Index, Type *T) {
    Type *From = V->getType();
    unsigned Bits = contentBits(From);
    if (From->isVectorTy() && Bits % 64 == 0) {
        if (From->isPtrOrPtrVectorTy())
            V = B.CreatePtrToInt(V, From->getWithNewType(B.getInt64Ty()));
        V = B.CreateBitCast(V, FixedVectorType::get(B.getInt64Ty(), Bits / 64));
        return B.CreateExtractElement(V, Index);
    }
    V = asInteger(B, V);
    return B.CreateZExtOrTrunc(Index ? B.CreateLShr(V, uint64_t(64) * Index) : V, T);
}

std::optional<uint64_t> constantWord(const Value *V, unsigned Index, const DataLayout &DL) {
    auto *C = const_cast<Constant *>(dyn_cast<Constant>(V));
    if (!C || C->getType()->isPtrOrPtrVectorTy())
        return std::nullopt;
    unsigned Bits = contentBits(C->getType());
    auto *T = Type::getIntNTy(C->getContext(), Bits);
    auto *Whole = dyn_cast_or_null<ConstantInt>(ConstantFoldCastOperand(Instruction::BitCast, C, T, DL));
    if (!Whole)
        return std::nullopt;
    return Whole->getValue().extractBitsAsZExtValue(std::min(64u, Bits - 64 * Index), 64 * Index);
}

} // namespace trackway
