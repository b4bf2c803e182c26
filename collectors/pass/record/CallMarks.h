// Entry to and exit from a function, each in one record with what is recorded next to it.
#pragma once

#include "record/Units.h"

namespace trackway {

// Makes room for the marks of paths that record nothing else, before the function is analysed.
void splitEdgesForCallMarks(llvm::Function &F);

// Moves a mark that stands alone along the paths that lead from the entry or to a return, if that saves a record on
// some of them. No path gets a record more. The operations of each unit are in order.
void mergeCallMarks(Plan &P, const UnitIndex &Places, llvm::Function &F);

} // namespace trackway
