// Calls of library functions whose accesses are known by rules, as accesses of the function that calls.
#pragma once

#include "code/LibraryEffects.h"
#include "prepare/Filter.h"
#include "table/ModuleTable.h"

#include "llvm/ADT/DenseMap.h"

namespace trackway {

// Inserts what computes the ranges of each such call, mostly after it, and adds them to the function's accesses and
// allocations, except those that a filter leaves out. Numbers are those of numberInstructions.
void addLibraryCalls(llvm::Function &F, const LibraryEffects &Library,
                     const llvm::DenseMap<const llvm::Instruction *, uint32_t> &Numbers, const Filter &Filters,
                     const Namer &Names, ModuleTable &Table, FunctionRecord &R);

} // namespace trackway
