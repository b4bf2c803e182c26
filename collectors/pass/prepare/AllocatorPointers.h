// Calls by a pointer that may be malloc, as by the hooks that libraries have for their users' allocators.
#pragma once

#include "llvm/IR/PassManager.h"

namespace trackway {

// Where a module takes the address of an allocation function of C, calls by pointers of that type compare the pointer
// with it, and call the function itself if they are the same: such a call is recorded as any other. Runs once calls
// have names.
class AllocatorPointersPass : public llvm::PassInfoMixin<AllocatorPointersPass> {
  public:
    llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
    static bool isRequired() { return true; }
};

} // namespace trackway
