// What of a function is recorded or counted, whatever is done with it.
#pragma once

#include "prepare/Filter.h"
#include "table/ModuleTable.h"

namespace trackway {

// The function's accesses that can be recorded and that nobody filtered out, with their names and locations.
FunctionRecord selectRecord(llvm::Function &F, const Filter &Filters, const Namer &Names, ModuleTable &Table);

} // namespace trackway
