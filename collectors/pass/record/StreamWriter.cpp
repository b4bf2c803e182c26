#include "record/StreamWriter.h"

using namespace llvm;

namespace trackway {

StreamWriter::StreamWriter(Function &F, const Plan &P, const PlanSegments &Segments, uint32_t FirstSegment,
                           const RuntimeSymbols &Runtime, const KeptArguments *Kept)
    : P(P), Segments(Segments), FirstSegment(FirstSegment), Runtime(Runtime), Kept(Kept),
      Ptr(PointerType::getUnqual(F.getContext())) {
    IRBuilder<> Entry(&F.getEntryBlock(), F.getEntryBlock().begin());
    Cursor = Entry.CreateAlloca(Ptr, nullptr, "trackway.cursor");
    RecordStart = Entry.CreateAlloca(Ptr, nullptr, "trackway.record");
    Variables = {Cursor, RecordStart};
}

// ---- The thread's memory ----

// Volatile, since optimisations that follow take the program's own allocation functions, strlen and the like for
// those of the C library, of which they know that they change nothing that can be seen here.
Value *StreamWriter::loadThreadField(IRBuilder<> &B, unsigned Field) const {
    return B.CreateLoad(Ptr, Runtime.threadField(B, Field), /*isVolatile=*/true);
}

void StreamWriter::fetchCursor(IRBuilder<> &B) const { setCursor(B, loadThreadField(B, ThreadField::Cursor)); }

void StreamWriter::publishCursor(IRBuilder<> &B) const {
    Value *Now = cursor(B);
    B.CreateStore(Now, Runtime.threadField(B, ThreadField::Cursor), /*isVolatile=*/true);
}

Value *StreamWriter::cells(IRBuilder<> &B) const { return loadThreadField(B, ThreadField::Cells); }

Value *StreamWriter::cell(IRBuilder<> &B, unsigned Offset) const { return at(B, cells(B), Offset); }

Value *StreamWriter::limit(IRBuilder<> &B) const { return loadThreadField(B, ThreadField::Limit); }

// ---- Records ----

Value *StreamWriter::at(IRBuilder<> &B, Value *Start, unsigned Offset) {
    return B.CreateConstInBoundsGEP1_32(B.getInt8Ty(), Start, Offset);
}

// Volatile, since an optimiser would drop an id that all ways replace: it counts where none of them is reached.
void StreamWriter::storeId(unsigned Segment, Value *Start, IRBuilder<> &B) const {
    uint16_t LocalId = Segments.segment(Segment).LocalId;
    if (LocalId == 0)
        return storeGlobalId(B, Start, Segment);
    Constant *Id = B.getIntN(8 * Segments.idBytes(Segment), LocalId);
    B.CreateAlignedStore(Id, Start, Align(1), /*isVolatile=*/true);
}

void StreamWriter::storeGlobalId(IRBuilder<> &B, Value *Start, unsigned Segment) const {
    Value *Base = B.CreateLoad(B.getInt32Ty(), Runtime.ModuleRecord);
    Value *Id = B.CreateAdd(Base, B.getInt32((FirstSegment + Segment) << 8));
    B.CreateAlignedStore(Id, Start, Align(1), /*isVolatile=*/true);
}

static Value *rootValue(IRBuilder<> &B, const Root &R) {
    Type *Width = B.getIntNTy(R.width() * 8);
    switch (R.Form) {
    case RootForm::Lane:
        return B.CreateExtractElement(R.V, R.Index);
    case RootForm::MaskBits: {
        unsigned Lanes = cast<FixedVectorType>(R.V->getType())->getNumElements();
        Value *Bits = B.CreateBitCast(R.V, B.getIntNTy(Lanes));
        if (R.Index)
            Bits = B.CreateLShr(Bits, R.Index);
        return B.CreateZExtOrTrunc(Bits, Width);
    }
    case RootForm::Word:
        return contentWord(B, R.V, R.Index, Width);
    case RootForm::LowHalf:
    case RootForm::HighHalf: {
        Value *Bits = B.CreatePtrToInt(R.V, B.getInt64Ty());
        return B.CreateTrunc(R.Form == RootForm::LowHalf ? Bits : B.CreateLShr(Bits, 32), Width);
    }
    case RootForm::Unsigned:
    case RootForm::Signed:
        if (R.V->getType()->isPointerTy())
            return R.V;
        return R.Form == RootForm::Signed ? B.CreateSExtOrTrunc(R.V, Width) : B.CreateZExtOrTrunc(R.V, Width);
    }
    llvm_unreachable("a root has one of these forms");
}

void StreamWriter::storeRoots(ArrayRef<Operation> Operations, Value *Start, unsigned Offset, Instruction *Place) const {
    for (const Operation &O : Operations)
        if (O.K == Operation::Kind::LogRoot) {
            IRBuilder<> B(Place ? Place : placeOf(O));
            // A value of many uses is taken for one that crosses blocks.
            Value *Begin = !P.KeepsFrameSmall ? Start : Place ? cursor(B) : recordStart(B);
            const Root &R = P.Registers[O.Target];
            Value *Stored = rootValue(B, R);
            B.CreateAlignedStore(Stored, at(B, Begin, Offset), Align(1));
            Offset += R.width();
        }
}

void StreamWriter::storeRecord(unsigned Segment, Instruction *Place) const {
    IRBuilder<> B(Place);
    Value *Start = cursor(B);
    storeId(Segment, Start, B);
    unsigned Id = Segments.idBytes(Segment);
    ArrayRef<Operation> Operations = Segments.segment(Segment).Operations;
    storeRoots(Operations, Start, Id, Place);
    setCursor(B, at(B, Start, Id + Segments.rootBytes(Operations)));
}

} // namespace trackway
