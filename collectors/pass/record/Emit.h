// Puts a plan into the code: the stores of the fast path, the checks, and the cold path of each.
#pragma once

#include "record/Plan.h"
#include "table/ModuleTable.h"

namespace trackway {

// The symbols that the code of a module refers to (collectors/ring/abi.h).
struct RuntimeSymbols {
    llvm::GlobalVariable *ModuleRecord; // struct trackway_module
    llvm::GlobalVariable *Thread;       // struct trackway_thread, thread-local
    llvm::FunctionCallee Flush;
    llvm::FunctionCallee CameBack;

    static RuntimeSymbols declare(llvm::Module &M);
};

// Inserts the recording and returns the segments it uses, the first of which has the index FirstSegment in the module.
// Completes the pieces of the flow, one for each unit, if there are any.
std::vector<Segment> emitPlan(llvm::Function &F, const Plan &P, const llvm::LoopInfo &LI, uint32_t FirstSegment,
                              const RuntimeSymbols &Runtime, std::vector<FlowPiece> &Flow);

} // namespace trackway
