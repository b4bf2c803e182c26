// Times calls of code that isn't instrumented: of each function that is called, some calls, which speak for the others.
#pragma once

#include "abi.h"
#include "count/CountingCode.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/InstrTypes.h"

namespace trackway {

constexpr uint32_t CountersOfCallee = sizeof(trackway_callee) / sizeof(uint64_t);

// Whether it calls a function that the module doesn't define, and returns to the instruction after the call.
bool canBeTimed(const llvm::CallBase &Call);

// Each function that F calls and whose calls can be timed, with as many counters, from the next one on.
std::vector<TimedCallee> timedCallees(llvm::Function &F, uint32_t &NextCounter);

// `Callee` computes the address of the callee's counters.
void timeCall(llvm::CallBase &Call, llvm::function_ref<llvm::Value *(llvm::IRBuilder<> &)> Callee,
              const CountingSymbols &Symbols);

} // namespace trackway
