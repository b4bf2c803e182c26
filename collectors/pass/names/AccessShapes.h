// What the names need to know of an instruction that accesses memory.
#ifndef TRACKWAY_ACCESSSHAPES_H
#define TRACKWAY_ACCESSSHAPES_H

#include "names/FieldPaths.h"
#include "llvm/ADT/SmallVector.h"

namespace llvm {
class DataLayout;
class Instruction;
class Value;
} // namespace llvm

namespace trackway {

struct AccessPart {
    const llvm::Value *Pointer;
    unsigned Part; // 1 for the write of a copy, else 0
    AccessShape Shape;
};

// The accesses of an instruction; none if it has none that names are given for. A vector of pointers stands for all
// its lanes.
llvm::SmallVector<AccessPart, 2> accessParts(const llvm::Instruction &, const llvm::DataLayout &);

} // namespace trackway

#endif
