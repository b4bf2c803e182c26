// The pass that makes a module record its memory accesses.
#pragma once

#include "Options.h"

#include "llvm/IR/PassManager.h"

namespace trackway {

struct RecordPass : llvm::PassInfoMixin<RecordPass> {
    explicit RecordPass(Options O) : O(std::move(O)) {}
    llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
    static bool isRequired() { return true; }

  private:
    Options O;
};

} // namespace trackway
