#include "code/Accesses.h"

#include "code/OurInstructions.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace trackway {

DenseMap<const Instruction *, uint32_t> numberInstructions(const Function &F) {
    DenseMap<const Instruction *, uint32_t> Numbers;
    uint32_t Next = 0;
    for (const Instruction &I : instructions(F))
        if (!isa<DbgInfoIntrinsic>(I))
            Numbers[&I] = Next++;
    return Numbers;
}

namespace {

class Selector {
  public:
    explicit Selector(Function &F) : DL(F.getParent()->getDataLayout()) {}

    FunctionAccesses run(Function &F) {
        uint32_t Next = 0;
        for (Instruction &I : instructions(F)) {
            if (isa<DbgInfoIntrinsic>(I))
                continue;
            Ordinal = Next++;
            Where = &I;
            select(I);
        }
        return std::move(Found);
    }

  private:
    void select(Instruction &I) {
        if (isOurs(I))
            return;
        if (auto *L = dyn_cast<LoadInst>(&I))
            return single(L->isAtomic() ? AccessKind::AtomicLoad : AccessKind::Load, L->getPointerOperand(),
                          L->getType());
        if (auto *S = dyn_cast<StoreInst>(&I))
            return single(S->isAtomic() ? AccessKind::AtomicStore : AccessKind::Store, S->getPointerOperand(),
                          S->getValueOperand()->getType());
        if (auto *U = dyn_cast<AtomicRMWInst>(&I))
            return single(AccessKind::AtomicReadModifyWrite, U->getPointerOperand(), U->getType());
        if (auto *X = dyn_cast<AtomicCmpXchgInst>(&I))
            return single(AccessKind::AtomicCompareExchange, X->getPointerOperand(), X->getNewValOperand()->getType());
        if (auto *M = dyn_cast<AnyMemIntrinsic>(&I))
            return block(*M);
        if (auto *II = dyn_cast<IntrinsicInst>(&I))
            return intrinsic(*II);
        if (auto *C = dyn_cast<CallBase>(&I); C && C->isInlineAsm())
            return inlineAssembly(*C);
    }

    void single(AccessKind Kind, Value *Pointer, Type *Ty) {
        TypeSize Size = DL.getTypeStoreSize(Ty);
        if (Size.isScalable() || !isOrdinary(Pointer))
            return unrecordable();
        if (Size.isZero())
            return;
        Access A = make(Kind, AccessForm::Single, Pointer);
        A.Size = Size.getFixedValue();
        Found.Recordable.push_back(A);
    }

    void block(AnyMemIntrinsic &M) {
        auto *Transfer = dyn_cast<AnyMemTransferInst>(&M);
        if (Transfer)
            blockPart(AccessKind::CopyRead, 0, Transfer->getRawSource(), M.getLength());
        blockPart(Transfer ? AccessKind::CopyWrite : AccessKind::Fill, Transfer ? 1 : 0, M.getRawDest(), M.getLength());
    }

    void blockPart(AccessKind Kind, uint8_t Part, Value *Pointer, Value *Length) {
        if (!isOrdinary(Pointer))
            return unrecordable();
        Access A = make(Kind, AccessForm::Block, Pointer);
        A.Part = Part;
        A.Length = Length;
        Found.Recordable.push_back(A);
    }

    void intrinsic(IntrinsicInst &II) {
        switch (II.getIntrinsicID()) {
        case Intrinsic::masked_load:
            return masked(AccessKind::Load, II.getArgOperand(0), II.getType(), maskOfRead(II), false);
        case Intrinsic::masked_store:
            return masked(AccessKind::Store, II.getArgOperand(1), II.getArgOperand(0)->getType(), maskOfWrite(II),
                          false);
        case Intrinsic::masked_expandload:
            return masked(AccessKind::Load, II.getArgOperand(0), II.getType(), maskOfRead(II), true);
        case Intrinsic::masked_compressstore:
            return masked(AccessKind::Store, II.getArgOperand(1), II.getArgOperand(0)->getType(), maskOfWrite(II),
                          true);
        case Intrinsic::masked_gather:
            return gather(AccessKind::Load, II.getArgOperand(0), II.getType(), maskOfRead(II));
        case Intrinsic::masked_scatter:
            return gather(AccessKind::Store, II.getArgOperand(1), II.getArgOperand(0)->getType(), maskOfWrite(II));
        default:
            if (touchesMemoryThroughOperand(II))
                unrecordable();
        }
    }

    // What inactive lanes become stands last, before it the mask. Until 22 an alignment came between pointer and mask.
    static Value *maskOfRead(IntrinsicInst &II) { return II.getArgOperand(II.arg_size() - 2); }

    static Value *maskOfWrite(IntrinsicInst &II) { return II.getArgOperand(II.arg_size() - 1); }

    void masked(AccessKind Kind, Value *Pointer, Type *Ty, Value *Mask, bool Packed) {
        laned(Kind, AccessForm::Masked, Pointer, Ty, Mask, Packed);
    }

    void gather(AccessKind Kind, Value *Pointers, Type *Ty, Value *Mask) {
        laned(Kind, AccessForm::Gather, Pointers, Ty, Mask, false);
    }

    void laned(AccessKind Kind, AccessForm Form, Value *Pointer, Type *Ty, Value *Mask, bool Packed) {
        auto *Vector = dyn_cast<FixedVectorType>(Ty);
        if (!Vector || !isOrdinary(Pointer))
            return unrecordable();
        Access A = make(Kind, Form, Pointer);
        A.Size = DL.getTypeStoreSize(Vector->getElementType());
        A.LaneStride = DL.getTypeAllocSize(Vector->getElementType());
        A.Mask = Mask;
        A.Lanes = Vector->getNumElements();
        A.Packed = Packed;
        Found.Recordable.push_back(A);
    }

    // Target intrinsics and vector-predicated ones that get a pointer and read or write through it.
    static bool touchesMemoryThroughOperand(const IntrinsicInst &II) {
        if (!II.mayReadOrWriteMemory() || II.isAssumeLikeIntrinsic() || II.onlyAccessesInaccessibleMemory())
            return false;
        switch (II.getIntrinsicID()) {
        case Intrinsic::vastart: // like va_copy and va_end it works on the frame as the machine code's prologue does
        case Intrinsic::vacopy:
        case Intrinsic::vaend:
        case Intrinsic::prefetch:
        case Intrinsic::stackrestore:
            return false;
        default:
            return any_of(II.args(), [](const Use &U) { return U->getType()->isPtrOrPtrVectorTy(); });
        }
    }

    void inlineAssembly(const CallBase &C) {
        auto *Asm = cast<InlineAsm>(C.getCalledOperand());
        if (C.mayReadOrWriteMemory() && !Asm->getAsmString().empty())
            unrecordable();
    }

    static bool isOrdinary(const Value *Pointer) {
        return Pointer->getType()->getPointerAddressSpace() == 0 && !Pointer->isSwiftError();
    }

    Access make(AccessKind Kind, AccessForm Form, Value *Pointer) const {
        Access A;
        A.Where = Where;
        A.Ordinal = Ordinal;
        A.Kind = Kind;
        A.Form = Form;
        A.Pointer = Pointer;
        return A;
    }

    void unrecordable() { ++Found.Unrecordable; }

    const DataLayout &DL;
    FunctionAccesses Found;
    Instruction *Where = nullptr;
    uint32_t Ordinal = 0;
};

} // namespace

FunctionAccesses selectAccesses(Function &F) { return Selector(F).run(F); }

} // namespace trackway
