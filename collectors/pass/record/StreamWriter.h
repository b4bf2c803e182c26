// Inserts the code that stores ids and roots into the thread's buffer.
#pragma once

#include "record/KeptArguments.h"
#include "record/RuntimeSymbols.h"
#include "record/UnitSegments.h"

#include "llvm/IR/IRBuilder.h"

namespace trackway {

class StreamWriter {
  public:
    // FirstSegment: index of the function's first segment in the module. Kept: null unless frames are to stay small.
    StreamWriter(llvm::Function &F, const Plan &P, const PlanSegments &Segments, uint32_t FirstSegment,
                 const RuntimeSymbols &Runtime, const KeptArguments *Kept);

    // The function's variables, to be promoted: the cursor, and the start of the record that others may continue.
    llvm::ArrayRef<llvm::AllocaInst *> variables() const { return Variables; }

    llvm::Value *cursor(llvm::IRBuilder<> &B) const { return B.CreateLoad(Ptr, Cursor); }
    void setCursor(llvm::IRBuilder<> &B, llvm::Value *To) const { B.CreateStore(To, Cursor); }
    llvm::Value *recordStart(llvm::IRBuilder<> &B) const { return B.CreateLoad(Ptr, RecordStart); }
    void setRecordStart(llvm::IRBuilder<> &B, llvm::Value *To) const { B.CreateStore(To, RecordStart); }

    // The cursor in the memory of the thread, where the runtime expects it between records.
    void fetchCursor(llvm::IRBuilder<> &B) const;
    void publishCursor(llvm::IRBuilder<> &B) const;
    // The place so many bytes past the beginning of struct trackway_cells.
    llvm::Value *cell(llvm::IRBuilder<> &B, unsigned Offset) const;
    llvm::Value *cells(llvm::IRBuilder<> &B) const;
    llvm::Value *limit(llvm::IRBuilder<> &B) const;

    static llvm::Value *at(llvm::IRBuilder<> &B, llvm::Value *Start, unsigned Offset);

    void storeId(unsigned Segment, llvm::Value *Start, llvm::IRBuilder<> &B) const;
    // Each root at its anchor, or all of them at one place.
    void storeRoots(llvm::ArrayRef<Operation> Operations, llvm::Value *Start, unsigned Offset,
                    llvm::Instruction *Place) const;
    // Stores a record as a whole at the cursor, and moves the cursor past it.
    void storeRecord(unsigned Segment, llvm::Instruction *Place) const;

  private:
    llvm::Value *loadThreadField(llvm::IRBuilder<> &B, unsigned Field) const;
    void storeGlobalId(llvm::IRBuilder<> &B, llvm::Value *Start, unsigned Segment) const;
    llvm::Instruction *placeOf(const Operation &O) const { return Kept ? Kept->placeFor(O.Anchor) : O.Anchor; }

    const Plan &P;
    const PlanSegments &Segments;
    uint32_t FirstSegment;
    const RuntimeSymbols &Runtime;
    const KeptArguments *Kept;
    llvm::Type *Ptr;
    llvm::AllocaInst *Cursor, *RecordStart;
    std::array<llvm::AllocaInst *, 2> Variables;
};

} // namespace trackway
