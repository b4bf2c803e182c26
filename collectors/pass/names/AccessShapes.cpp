#include "names/AccessShapes.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace trackway {

namespace {

using Bits = std::optional<std::pair<uint64_t, uint64_t>>;

Bits runOfOnes(const APInt &Mask) {
    unsigned First, Count;
    if (!Mask.isShiftedMask(First, Count))
        return std::nullopt;
    return std::make_pair(uint64_t(First), uint64_t(Count));
}

// `and`, whose result goes back to memory: the bits that it clears are about to be written.
bool isForWriting(const Instruction &Masked) {
    return any_of(Masked.users(), [](const User *U) {
        return isa<StoreInst>(U) || (match(U, m_Or(m_Value(), m_Value())) &&
                                     any_of(U->users(), [](const User *V) { return isa<StoreInst>(V); }));
    });
}

// The bits of a loaded storage unit that one use of it looks at, as clang reads bit-fields.
Bits bitsUsedBy(const User &Use, const Value &Loaded) {
    unsigned Width = Loaded.getType()->getIntegerBitWidth();
    const APInt *Amount, *Mask;
    if (match(&Use, m_And(m_Specific(&Loaded), m_APInt(Mask))))
        return runOfOnes(isForWriting(cast<Instruction>(Use)) ? ~*Mask : *Mask);
    if (match(&Use, m_LShr(m_Specific(&Loaded), m_APInt(Amount)))) {
        uint64_t First = Amount->getZExtValue();
        const User *Next = Use.hasOneUse() ? *Use.user_begin() : nullptr;
        if (Next && match(Next, m_And(m_Specific(&Use), m_APInt(Mask))) && Mask->isMask())
            return std::make_pair(First, uint64_t(Mask->getActiveBits()));
        return std::make_pair(First, Width - First);
    }
    if (match(&Use, m_AShr(m_Specific(&Loaded), m_APInt(Amount))))
        return std::make_pair(Amount->getZExtValue(), Width - Amount->getZExtValue());
    if (match(&Use, m_Shl(m_Specific(&Loaded), m_APInt(Amount))) && Use.hasOneUse()) {
        const APInt *Back;
        if (match(*Use.user_begin(), m_AShr(m_Specific(&Use), m_APInt(Back))) && Back->uge(*Amount))
            return std::make_pair((*Back - *Amount).getZExtValue(), Width - Back->getZExtValue());
    }
    return std::nullopt;
}

Bits bitsRead(const LoadInst &Load) {
    if (!Load.getType()->isIntegerTy() || !Load.hasOneUse())
        return std::nullopt;
    return bitsUsedBy(**Load.user_begin(), Load);
}

Bits bitsWritten(const StoreInst &Store) {
    const Value *Stored = Store.getValueOperand();
    if (!Stored->getType()->isIntegerTy())
        return std::nullopt;
    const Value *Kept = nullptr;
    const APInt *Mask;
    auto OldBits = m_And(m_Load(m_Specific(Store.getPointerOperand())), m_APInt(Mask));
    if (match(Stored, m_c_Or(m_CombineAnd(OldBits, m_Value(Kept)), m_Value())) || match(Stored, OldBits))
        return runOfOnes(~*Mask);
    return std::nullopt;
}

AccessPart simple(const Value *Pointer, const Type *Accessed, const DataLayout &Layout, Bits Wanted = std::nullopt) {
    uint64_t Size = Layout.getTypeStoreSize(const_cast<Type *>(Accessed)).getKnownMinValue();
    return {Pointer, 0, {Size, Accessed, Wanted}};
}

AccessShape block(const AnyMemIntrinsic &Call) {
    const auto *Length = dyn_cast<ConstantInt>(Call.getLength());
    return {Length ? Length->getZExtValue() : 0, nullptr, std::nullopt};
}

SmallVector<AccessPart, 2> partsOfIntrinsic(const IntrinsicInst &Call, const DataLayout &Layout) {
    if (const auto *Copy = dyn_cast<AnyMemTransferInst>(&Call))
        return {{Copy->getRawSource(), 0, block(*Copy)}, {Copy->getRawDest(), 1, block(*Copy)}};
    if (const auto *Fill = dyn_cast<AnyMemSetInst>(&Call))
        return {{Fill->getRawDest(), 0, block(*Fill)}};
    switch (Call.getIntrinsicID()) {
    case Intrinsic::masked_load:
    case Intrinsic::masked_expandload:
    case Intrinsic::masked_gather:
        return {simple(Call.getArgOperand(0), Call.getType()->getScalarType(), Layout)};
    case Intrinsic::masked_store:
    case Intrinsic::masked_compressstore:
    case Intrinsic::masked_scatter:
        return {simple(Call.getArgOperand(1), Call.getArgOperand(0)->getType()->getScalarType(), Layout)};
    default:
        return {};
    }
}

} // namespace

SmallVector<AccessPart, 2> accessParts(const Instruction &I, const DataLayout &Layout) {
    if (const auto *Load = dyn_cast<LoadInst>(&I))
        return {simple(Load->getPointerOperand(), Load->getType(), Layout, bitsRead(*Load))};
    if (const auto *Store = dyn_cast<StoreInst>(&I))
        return {simple(Store->getPointerOperand(), Store->getValueOperand()->getType(), Layout, bitsWritten(*Store))};
    if (const auto *Update = dyn_cast<AtomicRMWInst>(&I))
        return {simple(Update->getPointerOperand(), Update->getType(), Layout)};
    if (const auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
        return {simple(Exchange->getPointerOperand(), Exchange->getCompareOperand()->getType(), Layout)};
    if (const auto *Call = dyn_cast<IntrinsicInst>(&I))
        return partsOfIntrinsic(*Call, Layout);
    return {};
}

} // namespace trackway
