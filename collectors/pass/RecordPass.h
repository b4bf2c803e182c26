// The pass that makes a module record its memory accesses.
#pragma once

#include "Options.h"

#include "llvm/IR/PassManager.h"

namespace trackway {

struct RecordPass : llvm::PassInfoMixin<RecordPass> {
    // Plans, if given, gets the plan of each function in words.
    explicit RecordPass(Options O, llvm::raw_ostream *Plans = nullptr) : O(std::move(O)), Plans(Plans) {}
    llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
    static bool isRequired() { return true; }

  private:
    Options O;
    llvm::raw_ostream *Plans;
};

} // namespace trackway
