// Selects what is counted in a function, and adds the code that counts it.
#pragma once

#include "count/CountingCode.h"
#include "count/Returning.h"
#include "table/ModuleTable.h"

namespace trackway {

// Prepares the function and inserts the counting. The counters' numbers begin at FirstCounter, those of derived
// variables at 0. Accesses are those of the function, LocationOf gives
// the table's location of an instruction. One that enters regions has two versions afterwards
// (TwoVersions.h).
CountedFunction countFunction(llvm::Function &F, llvm::ArrayRef<NamedAccess> Accesses, uint32_t FirstCounter,
                              const Returning &Calls, const CountingSymbols &Symbols, bool EntersRegions,
                              llvm::function_ref<uint32_t(const llvm::Instruction &)> LocationOf);

} // namespace trackway
