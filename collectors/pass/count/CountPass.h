// The pass that makes a module count its memory accesses instead of recording them.
#pragma once

#include "Options.h"

#include "llvm/IR/PassManager.h"

namespace trackway {

struct CountPass : llvm::PassInfoMixin<CountPass> {
    explicit CountPass(Options O) : O(std::move(O)) {}
    llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
    static bool isRequired() { return true; }

  private:
    Options O;
};

} // namespace trackway
