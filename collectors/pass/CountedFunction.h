// What is counted of a function, and the code that does it.
#pragma once

#include "Flow.h"
#include "ModuleTable.h"
#include "Returning.h"

#include "llvm/IR/GlobalVariable.h"

namespace trackway {

// What the code of a module that counts refers to (collectors/runtime/abi.h).
struct CountingSymbols {
    llvm::GlobalVariable *Descriptor; // struct trackway_module
    llvm::GlobalVariable *Counting;   // struct trackway_counting, thread-local
    llvm::FunctionCallee Begin;

    static CountingSymbols declare(llvm::Module &M);
};

// Prepares the function and inserts the counting. The counters' numbers begin at FirstCounter, those of derived
// variables at 0. Accesses are those of the function.
CountedFunction countFunction(llvm::Function &F, llvm::ArrayRef<NamedAccess> Accesses, uint32_t FirstCounter,
                              const Returning &Calls, const CountingSymbols &Symbols);

} // namespace trackway
