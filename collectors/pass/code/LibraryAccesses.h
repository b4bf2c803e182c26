// The accesses that library functions make during a call, computed after it, or before it where the call releases a
// lock.
#pragma once

#include "code/Accesses.h"
#include "code/LibraryEffects.h"

#include "llvm/IR/IRBuilder.h"

namespace trackway {

// A range that a call reads, writes or allocates.
struct LibraryRange {
    LibraryEffect::Kind K;
    llvm::Value *Pointer, *Length;
    llvm::Instruction *Anchor; // from which on they are known
};

// Inserts what computes the ranges after the call, or before it: one for each effect. The edge to the call's normal
// destination may be split.
std::vector<LibraryRange> insertRanges(llvm::CallBase &Call, const LibraryRule &Rule);

// The range as an access, the effect's number as its part.
Access accessOf(llvm::CallBase &Call, const LibraryRange &Range, uint8_t Part);

} // namespace trackway
