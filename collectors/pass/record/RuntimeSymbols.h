// The symbols of the runtime that recording code refers to.
#pragma once

#include "llvm/IR/DerivedTypes.h"

namespace llvm {
class Function;
class GlobalVariable;
class Module;
} // namespace llvm

namespace trackway {

// collectors/ring/abi.h defines them.
struct RuntimeSymbols {
    llvm::GlobalVariable *ModuleRecord; // struct trackway_module
    llvm::GlobalVariable *Thread;       // struct trackway_thread, thread-local
    llvm::FunctionCallee Flush;
    llvm::FunctionCallee CameBack;

    static RuntimeSymbols declare(llvm::Module &M);

    // The flush for a function of which the frame is to stay small.
    llvm::FunctionCallee flushInSmallFrame(llvm::Function &F) const;
};

} // namespace trackway
