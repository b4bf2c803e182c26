// The symbols of the runtime that recording code refers to.
#pragma once

#include "llvm/IR/DerivedTypes.h"

namespace llvm {
class Function;
class GlobalVariable;
class IRBuilderBase;
class Module;
class Value;
} // namespace llvm

namespace trackway {

// The fields of struct trackway_thread (collectors/ring/abi.h) that code accesses, by their order.
struct ThreadField {
    enum : unsigned { Cursor, Limit, Cells };
};

// collectors/ring/abi.h defines them.
struct RuntimeSymbols {
    llvm::GlobalVariable *ModuleRecord; // struct trackway_module
    llvm::GlobalVariable *Thread;       // struct trackway_thread, thread-local
    llvm::GlobalVariable *Window;       // of the thread, uint32_t, thread-local
    llvm::FunctionCallee Flush;
    llvm::FunctionCallee JoinWindow;
    llvm::FunctionCallee CameBack;

    static RuntimeSymbols declare(llvm::Module &M);

    // The address of a field of this thread's trackway_thread.
    llvm::Value *threadField(llvm::IRBuilderBase &B, unsigned Field) const;

    // The flush for a function of which the frame is to stay small.
    llvm::FunctionCallee flushInSmallFrame(llvm::Function &F) const;

    // Has the runtime store the clock at an address. The call leaves nearly all registers as they were.
    static void callReadClock(llvm::IRBuilderBase &B, llvm::Value *Address);
};

} // namespace trackway
