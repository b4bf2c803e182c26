// The code that counts: what it refers to, and additions to counters.
#pragma once

#include "abi.h"
#include "count/CountingCost.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IRBuilder.h"

#include <vector>

namespace trackway {

constexpr uint64_t CountsNot = TRACKWAY_COUNTS_NOT, CountsNow = TRACKWAY_COUNTS_NOW, NotBegun = TRACKWAY_NOT_BEGUN;

// The symbols that the code of a module that counts refers to (collectors/ring/abi.h).
struct CountingSymbols {
    llvm::GlobalVariable *Descriptor; // struct trackway_module
    llvm::GlobalVariable *Counting;   // struct trackway_counting, thread-local
    llvm::FunctionCallee Begin, BeginCall, EndCall;

    static CountingSymbols declare(llvm::Module &M);

    llvm::Value *counters(llvm::IRBuilder<> &B) const; // as an integer
    llvm::Value *state(llvm::IRBuilder<> &B) const;
    llvm::Value *countsNow(llvm::IRBuilder<> &B) const;   // i1
    llvm::Value *openRegions(llvm::IRBuilder<> &B) const; // how many
    // The address of the number of entries of the region that needn't call the runtime.
    llvm::Value *countdown(llvm::IRBuilder<> &B, llvm::Value &Region) const;

  private:
    llvm::Value *load(llvm::IRBuilder<> &B, size_t Offset) const;
};

struct Addition {
    uint32_t Counter; // of the function
    llvm::Instruction *Before;
    llvm::Value *Amount; // 64 bits
    CountSum Times;      // how often it is made
    double Cost = 0;     // the same, as estimated; 0: unknown
    llvm::Loop *InRegisterOf = nullptr;
};

// Whether the thread's counters may be others after the instruction, or the code after it may be executed again.
bool changesCounters(const llvm::Instruction &I);

// Whether the loop holds no call that could run other code.
bool isCallFree(const llvm::Loop &L);

// The first place of a block at which code may stand.
llvm::Instruction *startOf(llvm::BasicBlock &BB);

// Calls of a function that isn't instrumented, and where the four counters of their times begin (CallTimes.h).
struct TimedCallee {
    const llvm::Function *Callee;
    uint32_t FirstCounter; // of the calling function
    std::vector<llvm::CallBase *> Calls;
};

struct CountingCode {
    std::vector<Addition> Additions;
    std::vector<TimedCallee> Callees;
};

// Inserts the code, for counters from FirstCounter on, and notes how often it is executed. Busy additions of loops
// without calls are made in registers first.
void insertCounting(llvm::Function &F, CountingCode Code, uint32_t FirstCounter, const CountingSymbols &Symbols,
                    llvm::LoopInfo &LI, CountingCost &Cost);

} // namespace trackway
