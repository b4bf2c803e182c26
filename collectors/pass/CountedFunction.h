// What is counted of a function, and the code that does it.
#pragma once

#include "Flow.h"
#include "ModuleTable.h"
#include "Returning.h"

#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IRBuilder.h"

namespace trackway {

// enum trackway_counting_state of abi.h
constexpr uint64_t NotBegun = 0, CountsNow = 3;

// What the code of a module that counts refers to (collectors/runtime/abi.h).
struct CountingSymbols {
    llvm::GlobalVariable *Descriptor; // struct trackway_module
    llvm::GlobalVariable *Counting;   // struct trackway_counting, thread-local
    llvm::FunctionCallee Begin;

    static CountingSymbols declare(llvm::Module &M);

    llvm::Value *counters(llvm::IRBuilder<> &B) const; // as an integer
    llvm::Value *state(llvm::IRBuilder<> &B) const;
    llvm::Value *countsNow(llvm::IRBuilder<> &B) const;   // i1
    llvm::Value *openRegions(llvm::IRBuilder<> &B) const; // how many
    // Where it stands how often the region may be entered without a word.
    llvm::Value *countdown(llvm::IRBuilder<> &B, llvm::Value &Region) const;

  private:
    llvm::Value *load(llvm::IRBuilder<> &B, unsigned Field) const;
};

// Prepares the function and inserts the counting. The counters' numbers begin at FirstCounter, those of derived
// variables at 0. Accesses are those of the function. One that enters regions has two versions afterwards
// (TwoVersions.h).
CountedFunction countFunction(llvm::Function &F, llvm::ArrayRef<NamedAccess> Accesses, uint32_t FirstCounter,
                              const Returning &Calls, const CountingSymbols &Symbols, bool EntersRegions);

} // namespace trackway
