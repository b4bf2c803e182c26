// Which calls surely return to where they were made.
//
// A function that is left by an exception or longjmp doesn't execute what stands behind the call. What ends the whole
// process is not held against a function: what it counted up to there is at most one execution of a block ahead, for
// each function that is active.
#pragma once

#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/InstrTypes.h"

namespace trackway {

class Returning {
  public:
    explicit Returning(const llvm::Module &M);

    bool mayNotReturn(const llvm::CallBase &Call) const;

  private:
    bool mayNotReturn(const llvm::Function &F) const;

    llvm::TargetLibraryInfoImpl LibraryNames;
    llvm::TargetLibraryInfo Library;
    llvm::DenseSet<const llvm::Function *> Returns; // of this module, whose calls all return
};

} // namespace trackway
