#include "code/Root.h"

#include "LlvmVersion.h"
#include "code/Values.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;

namespace trackway {

// Deeper address computations end in a root: long chains give more roots than they save.
static constexpr unsigned MaxDepth = 8;

// Bits of an integer without those that its extension brings back: a masked one has few.
static unsigned neededBits(const Value &V, RootForm Extension) {
    unsigned Bits = V.getType()->getIntegerBitWidth();
    auto *I = dyn_cast<Instruction>(&V);
    if (!I || Bits > 64)
        return Bits;
    const DataLayout &DL = I->getModule()->getDataLayout();
    if (Extension == RootForm::Signed)
        return Bits + 1 - ComputeNumSignBits(&V, DL);
    return Bits - computeKnownBits(&V, DL).countMinLeadingZeros();
}

unsigned Root::neededWidth() const {
    if (Form == RootForm::MaskBits) {
        unsigned Lanes = cast<FixedVectorType>(V->getType())->getNumElements() - Index;
        return Lanes <= 8 ? 1 : Lanes <= 16 ? 2 : Lanes <= 32 ? 4 : 8;
    }
    if (Form == RootForm::LowHalf || Form == RootForm::HighHalf)
        return 4;
    if (Form != RootForm::Word && V->getType()->isPtrOrPtrVectorTy())
        return 8;
    unsigned Bits = Form == RootForm::Word ? contentBits(V->getType()) - 64 * Index : neededBits(*V, Form);
    return Bits <= 8 ? 1 : Bits <= 16 ? 2 : Bits <= 32 ? 4 : 8;
}

bool Root::isAlwaysAtHand() const {
    auto *Slot = dyn_cast<AllocaInst>(V);
    return !isa<Instruction>(V) || (Slot && Slot->isStaticAlloca());
}

bool Root::isWithin(const Loop &L) const {
    auto *I = dyn_cast<Instruction>(V);
    return I && L.contains(I);
}

void Expression::addTerm(const Root &R, int64_t Scale) {
    for (auto *It = Terms.begin(); It != Terms.end(); ++It)
        if (It->first == R) {
            It->second = static_cast<int64_t>(static_cast<uint64_t>(It->second) + static_cast<uint64_t>(Scale));
            if (It->second == 0)
                Terms.erase(It);
            return;
        }
    if (Scale != 0)
        Terms.emplace_back(R, Scale);
}

static int64_t wrappingMultiply(int64_t A, int64_t B) {
    return static_cast<int64_t>(static_cast<uint64_t>(A) * static_cast<uint64_t>(B));
}

static int64_t wrappingAdd(int64_t A, int64_t B) {
    return static_cast<int64_t>(static_cast<uint64_t>(A) + static_cast<uint64_t>(B));
}

// A static variable whose address is a link-time or load-time constant that our table of symbols may name. A local
// symbol of a COMDAT group can't be named from outside its group.
static bool isNameable(const GlobalVariable &G) {
    return !G.isThreadLocal() && G.getAddressSpace() == 0 && !(G.hasLocalLinkage() && G.hasComdat()) &&
           !G.hasDLLImportStorageClass() && !G.getName().starts_with("llvm.");
}

Expression Decomposer::full(Value *Pointer) const {
    Expression E;
    pointer(Pointer, E, 0);
    return E;
}

Expression Decomposer::integer(Value *V, bool SignExtend) const {
    Expression E;
    integer(V, SignExtend ? RootForm::Signed : RootForm::Unsigned, 1, E, 0);
    return E;
}

SmallVector<std::pair<Value *, int64_t>, 4> Decomposer::constantBases(Value *Pointer) const {
    SmallVector<std::pair<Value *, int64_t>, 4> Bases;
    int64_t Distance = 0;
    Bases.emplace_back(Pointer, 0);
    while (auto *G = dyn_cast<GEPOperator>(Pointer)) {
        APInt Offset(64, 0);
        if (!G->accumulateConstantOffset(DL, Offset))
            break;
        Distance = wrappingAdd(Distance, Offset.getSExtValue());
        Pointer = G->getPointerOperand();
        Bases.emplace_back(Pointer, Distance);
    }
    return Bases;
}

void Decomposer::pointer(Value *V, Expression &E, unsigned Depth) const {
    if (isa<ConstantPointerNull>(V))
        return;
    if (auto *G = dyn_cast<GlobalVariable>(V); G && !E.Symbol && isNameable(*G)) {
        E.Symbol = G;
        return;
    }
    if (Depth < MaxDepth) {
        if (auto *P = dyn_cast<PHINode>(V); P && P->getNumIncomingValues() == 1)
            return pointer(P->getIncomingValue(0), E, Depth + 1);
        if (auto *O = dyn_cast<Operator>(V);
            O && O->getOpcode() == Instruction::IntToPtr && O->getOperand(0)->getType()->isIntegerTy(64))
            return integer(O->getOperand(0), RootForm::Unsigned, 1, E, Depth + 1);
        if (auto *G = dyn_cast<GEPOperator>(V)) {
            VariableOffsets Variables;
            APInt Constant(64, 0);
            if (G->collectOffset(DL, 64, Variables, Constant)) {
                pointer(G->getPointerOperand(), E, Depth + 1);
                E.Constant = wrappingAdd(E.Constant, Constant.getSExtValue());
                for (auto &[Index, Scale] : Variables)
                    integer(Index, RootForm::Signed, Scale.getSExtValue(), E, Depth + 1);
                return;
            }
        }
    }
    E.addTerm({V, RootForm::Unsigned, 0}, 1);
}

// Whether `extend(A op B) == extend(A) op extend(B)`.
static bool commutesWithExtension(const BinaryOperator &Op, RootForm Extension) {
    if (Op.getType()->getIntegerBitWidth() == 64)
        return true;
    auto *Overflowing = dyn_cast<OverflowingBinaryOperator>(&Op);
    return Overflowing &&
           (Extension == RootForm::Signed ? Overflowing->hasNoSignedWrap() : Overflowing->hasNoUnsignedWrap());
}

void Decomposer::integer(Value *V, RootForm Extension, int64_t Scale, Expression &E, unsigned Depth) const {
    unsigned Bits = V->getType()->getIntegerBitWidth();
    if (auto *C = dyn_cast<ConstantInt>(V); C && Bits <= 64) {
        int64_t Value = Extension == RootForm::Signed ? C->getSExtValue() : static_cast<int64_t>(C->getZExtValue());
        E.Constant = wrappingAdd(E.Constant, wrappingMultiply(Value, Scale));
        return;
    }
    if (Depth < MaxDepth) {
        if (auto *P = dyn_cast<PHINode>(V); P && P->getNumIncomingValues() == 1)
            return integer(P->getIncomingValue(0), Extension, Scale, E, Depth + 1);
        // At 64 bits the outer extension does nothing; below, only equal extensions combine.
        if (auto *S = dyn_cast<SExtInst>(V); S && (Bits == 64 || Extension == RootForm::Signed))
            return integer(S->getOperand(0), RootForm::Signed, Scale, E, Depth + 1);
        if (auto *Z = dyn_cast<ZExtInst>(V))
            return integer(Z->getOperand(0), RootForm::Unsigned, Scale, E, Depth + 1);
        if (auto *P = dyn_cast<PtrToIntInst>(V); P && Bits == 64 && Scale == 1)
            return pointer(P->getOperand(0), E, Depth + 1);
        if (auto *B = dyn_cast<BinaryOperator>(V)) {
            auto *Right = dyn_cast<ConstantInt>(B->getOperand(1));
            switch (B->getOpcode()) {
            case Instruction::Add:
            case Instruction::Sub:
                if (commutesWithExtension(*B, Extension)) {
                    integer(B->getOperand(0), Extension, Scale, E, Depth + 1);
                    bool Negative = B->getOpcode() == Instruction::Sub;
                    return integer(B->getOperand(1), Extension, Negative ? wrappingMultiply(Scale, -1) : Scale, E,
                                   Depth + 1);
                }
                break;
            case Instruction::Or:
                if (Right && isDisjointOr(*B)) {
                    integer(B->getOperand(0), Extension, Scale, E, Depth + 1);
                    return integer(Right, Extension, Scale, E, Depth + 1);
                }
                break;
            case Instruction::Mul:
                if (Right && Bits <= 64 && commutesWithExtension(*B, Extension)) {
                    int64_t Factor = Extension == RootForm::Signed ? Right->getSExtValue()
                                                                   : static_cast<int64_t>(Right->getZExtValue());
                    return integer(B->getOperand(0), Extension, wrappingMultiply(Scale, Factor), E, Depth + 1);
                }
                break;
            case Instruction::Shl:
                if (Right && Right->getValue().ult(Bits) && Bits <= 64 && commutesWithExtension(*B, Extension))
                    return integer(B->getOperand(0), Extension,
                                   wrappingMultiply(Scale, static_cast<int64_t>(uint64_t(1) << Right->getZExtValue())),
                                   E, Depth + 1);
                break;
            default:
                break;
            }
        }
    }
    if (Bits > 64) { // wider indexes are truncated to the width of an address
        E.addTerm({V, RootForm::Unsigned, 0}, Scale);
        return;
    }
    E.addTerm({V, Bits == 64 ? RootForm::Unsigned : Extension, 0}, Scale);
}

} // namespace trackway
