// Selects what is recorded or counted in a function, for all kinds of instrumentation.
#pragma once

#include "prepare/Filter.h"
#include "table/ModuleTable.h"

namespace trackway {

// Whether nothing of the function is recorded: a filter says so, or it can't be instrumented.
bool isLeftAlone(const llvm::Function &F, const Filter &Filters);

// The function's accesses that can be recorded and that no filter leaves out, with their names and locations. With
// NeedsCopy, none of a function that can't have a plain copy.
FunctionRecord selectRecord(llvm::Function &F, const Filter &Filters, const Namer &Names, ModuleTable &Table,
                            bool NeedsCopy = false);

} // namespace trackway
