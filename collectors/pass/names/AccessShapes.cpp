#include "names/AccessShapes.h"

#include "LlvmVersion.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace trackway {

namespace {

// More uses of a storage unit, or more pieces of a mask, than these say nothing any more.
constexpr unsigned MostUses = 4, MostRanges = 4;

BitRanges runsOfOnes(const APInt &Mask) {
    BitRanges Runs;
    for (unsigned Bit = 0; Bit < Mask.getBitWidth(); ++Bit) {
        if (!Mask[Bit])
            continue;
        if (Runs.empty() || Runs.back().first + Runs.back().second != Bit)
            Runs.push_back({Bit, 0});
        ++Runs.back().second;
    }
    return Runs.size() <= MostRanges ? Runs : BitRanges();
}

BitRanges oneRange(uint64_t First, uint64_t Count) {
    BitRanges Range;
    Range.push_back({First, Count});
    return Range;
}

// `and`, whose result goes back to memory: the bits that it clears are about to be written.
bool isForWriting(const Instruction &Masked) {
    return any_of(Masked.users(), [](const User *U) {
        return isa<StoreInst>(U) || (match(U, m_Or(m_Value(), m_Value())) &&
                                     any_of(U->users(), [](const User *V) { return isa<StoreInst>(V); }));
    });
}

// The bits of a loaded storage unit that one use of it looks at, as clang reads bit-fields.
BitRanges bitsUsedBy(const User &Use, const Value &Loaded) {
    unsigned Width = Loaded.getType()->getIntegerBitWidth();
    const APInt *Amount, *Mask;
    if (match(&Use, m_And(m_Specific(&Loaded), m_APInt(Mask))))
        return runsOfOnes(isForWriting(cast<Instruction>(Use)) ? ~*Mask : *Mask);
    if (match(&Use, m_LShr(m_Specific(&Loaded), m_APInt(Amount)))) {
        uint64_t First = Amount->getZExtValue();
        const User *Next = Use.hasOneUse() ? *Use.user_begin() : nullptr;
        if (Next && match(Next, m_And(m_Specific(&Use), m_APInt(Mask))) && Mask->isMask())
            return oneRange(First, Mask->getActiveBits());
        return oneRange(First, Width - First);
    }
    if (match(&Use, m_AShr(m_Specific(&Loaded), m_APInt(Amount))))
        return oneRange(Amount->getZExtValue(), Width - Amount->getZExtValue());
    if (match(&Use, m_Shl(m_Specific(&Loaded), m_APInt(Amount))) && Use.hasOneUse()) {
        const APInt *Back;
        if (match(*Use.user_begin(), m_AShr(m_Specific(&Use), m_APInt(Back))) && Back->uge(*Amount))
            return oneRange((*Back - *Amount).getZExtValue(), Width - Back->getZExtValue());
    }
    ComparisonPredicate Comparison;
    if (match(&Use, m_ICmp(Comparison, m_Specific(&Loaded), m_APInt(Amount))) &&
        ((Comparison == ICmpInst::ICMP_SLT && Amount->isZero()) ||
         (Comparison == ICmpInst::ICMP_SGT && Amount->isAllOnes())))
        return oneRange(Width - 1, 1);
    return isa<TruncInst>(Use) && Use.getType()->isIntegerTy(1) ? oneRange(0, 1) : BitRanges();
}

BitRanges bitsRead(const LoadInst &Load) {
    BitRanges All;
    if (!Load.getType()->isIntegerTy() || Load.hasNUsesOrMore(MostUses + 1))
        return All;
    for (const User *Use : Load.users()) {
        BitRanges Own = bitsUsedBy(*Use, Load);
        if (Own.empty())
            return Own;
        All.append(Own);
    }
    return All;
}

BitRanges bitsWritten(const StoreInst &Store) {
    const Value *Stored = Store.getValueOperand();
    if (!Stored->getType()->isIntegerTy())
        return {};
    const Value *Kept = nullptr;
    const APInt *Mask;
    auto OldBits = m_And(m_Load(m_Specific(Store.getPointerOperand())), m_APInt(Mask));
    if (match(Stored, m_c_Or(m_CombineAnd(OldBits, m_Value(Kept)), m_Value())) || match(Stored, OldBits))
        return runsOfOnes(~*Mask);
    return {};
}

AccessPart simple(const Value *Pointer, const Type *Accessed, const DataLayout &Layout, BitRanges Wanted = {}) {
    uint64_t Size = Layout.getTypeStoreSize(const_cast<Type *>(Accessed)).getKnownMinValue();
    return {Pointer, 0, {Size, Accessed, std::move(Wanted)}};
}

AccessShape block(const AnyMemIntrinsic &Call) {
    const auto *Length = dyn_cast<ConstantInt>(Call.getLength());
    return {Length ? Length->getZExtValue() : 0, nullptr, {}};
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
