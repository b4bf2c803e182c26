// Inserts the code that compares roots with what is expected of them, and stores corrections where that failed.
#pragma once

#include "record/RememberedRoots.h"
#include "record/StreamWriter.h"
#include "record/UnitSegments.h"

namespace trackway {

class Corrections {
  public:
    Corrections(const Plan &P, const PlanSegments &Segments, const StreamWriter &Stream, RememberedRoots &Remembered)
        : P(P), Segments(Segments), Stream(Stream), Remembered(Remembered) {}

    // Inserts those of a unit that corrects first: they come before its record, which begins at the head.
    void insertBeforeRecord(unsigned Unit, llvm::Instruction *Head);

    // Inserts that of any other unit: it takes the place of its record, which begins at Start.
    void insertAfterRecord(unsigned Unit, llvm::Value *Start);

  private:
    llvm::Instruction *insertNear(unsigned Unit, llvm::Instruction *Failed);

    const Plan &P;
    const PlanSegments &Segments;
    const StreamWriter &Stream;
    RememberedRoots &Remembered;
};

} // namespace trackway
