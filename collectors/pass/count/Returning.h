// Which calls surely return to where they were made.
//
// A function that is left by an exception or longjmp doesn't execute the code after the call. Calls that end the whole
// process are allowed: then the counts are at most one execution of a block ahead for each active function.
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
