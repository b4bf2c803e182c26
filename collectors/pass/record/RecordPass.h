// The pass that makes a module record its memory accesses.
#pragma once

#include "Options.h"

#include "llvm/IR/PassManager.h"

namespace trackway {

struct RecordPass : llvm::PassInfoMixin<RecordPass> {
    // Plans and Flows, if given, get the plan and the control flow of each function in words.
    explicit RecordPass(Options O, llvm::raw_ostream *Plans = nullptr, llvm::raw_ostream *Flows = nullptr)
        : O(std::move(O)), Plans(Plans), Flows(Flows) {}
    llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
    static bool isRequired() { return true; }

  private:
    Options O;
    llvm::raw_ostream *Plans, *Flows;
};

} // namespace trackway
