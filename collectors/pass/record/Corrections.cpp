#include "record/Corrections.h"

#include "LlvmVersion.h"
#include "record/Expect.h"

#include "llvm/ADT/bit.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace trackway {

static Instruction *lastRoot(const Unit &U) {
    for (const Operation &O : reverse(U.Operations))
        if (O.K == Operation::Kind::LogRoot)
            return O.Anchor;
    return nullptr;
}

static void copyRecord(IRBuilder<> &B, Value *From, Value *To, unsigned Length) {
    for (unsigned Done = 0; Done < Length;) {
        unsigned Bytes = bit_floor(std::min(Length - Done, 8U));
        Value *Part = B.CreateAlignedLoad(B.getIntNTy(8 * Bytes), StreamWriter::at(B, From, Done), Align(1));
        B.CreateAlignedStore(Part, StreamWriter::at(B, To, Done), Align(1));
        Done += Bytes;
    }
}

// The recorder may read the buffer when this thread is stopped. The fence is no instruction, but keeps the compiler
// from moving stores across it.
static void keepOrder(IRBuilder<> &B) {
    B.CreateFence(AtomicOrdering::SequentiallyConsistent, SyncScope::SingleThread);
}

// if (an expectation failed) { store what makes them hold }
void Corrections::insertBeforeRecord(unsigned Unit, Instruction *Head) {
    IRBuilder<> B(Head);
    Value *Differs = Remembered.differs(P.Units[Unit], B);
    Instruction *Cold = SplitBlockAndInsertIfThen(Differs, Head, false, unlikely(Head->getContext()));
    Instruction *Far = Segments.ofUnit(Unit).NearCorrection ? insertNear(Unit, Cold) : Cold;
    Stream.storeRecord(Segments.ofUnit(Unit).Correction, Far);
    Remembered.remember(P.Units[Unit], Head, Cold);
}

// if (4 bytes hold by how much the root is off) { store that } else { what stands before the result }
Instruction *Corrections::insertNear(unsigned Unit, Instruction *Failed) {
    unsigned Segment = Segments.ofUnit(Unit).NearCorrection;
    IRBuilder<> B(Failed);
    Value *Difference = Remembered.offBy(P.Units[Unit], B);
    Value *Near = B.CreateTrunc(Difference, B.getInt32Ty());
    Value *IsNear = B.CreateICmpEQ(B.CreateSExt(Near, B.getInt64Ty()), Difference);
    Instruction *Then, *Else;
    SplitBlockAndInsertIfThenElse(IsNear, Failed, &Then, &Else);
    IRBuilder<> C(Then);
    Value *Start = Stream.cursor(C);
    Stream.storeId(Segment, Start, C);
    unsigned Id = Segments.idBytes(Segment);
    C.CreateAlignedStore(Near, StreamWriter::at(C, Start, Id), Align(1));
    unsigned Roots = Segments.rootBytes(Segments.segment(Segment).Operations);
    Stream.setCursor(C, StreamWriter::at(C, Start, Id + Roots));
    return Else;
}

// Handles roots that become known only later. If an expectation failed, the code stores what makes it hold, and the
// record again, past the record and an id that ends the stream. Then a single store turns the record into the
// correction, which skips it.
//
// So the buffer's content changes with one store, and is whole at whatever instruction this thread is stopped for
// good.
void Corrections::insertAfterRecord(unsigned Unit, Value *Start) {
    const UnitSegments &S = Segments.ofUnit(Unit);
    Instruction *Last = lastRoot(P.Units[Unit]);
    IRBuilder<> B(Last);
    Value *Differs = Remembered.differs(P.Units[Unit], B);
    Instruction *Cold = SplitBlockAndInsertIfThen(Differs, Last, false, unlikely(Last->getContext()));
    std::vector<Operation> Roots = correctionOperations(P, P.Units[Unit]);
    unsigned RootsAt = S.End + StreamEndBytes;
    IRBuilder<> C(Cold);
    Stream.storeRoots(Roots, Start, RootsAt, Cold);
    Value *Copy = StreamWriter::at(C, Start, RootsAt + Segments.rootBytes(Roots));
    copyRecord(C, Start, Copy, S.End);
    keepOrder(C);
    Stream.storeId(S.Correction, Start, C);
    Stream.setRecordStart(C, Copy);
    Stream.setCursor(C, StreamWriter::at(C, Copy, S.End));
    Remembered.remember(P.Units[Unit], Last, Cold);
}

} // namespace trackway
