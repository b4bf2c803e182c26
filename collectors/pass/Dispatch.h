// Two versions of each function: one that records, one that is untouched, and the choice between them.
//
// A program that is not recorded must run at its own speed, so it runs code without any of our instructions. The
// function itself becomes a dispatcher that jumps to one of the two; calls within a module go from version to version
// directly, so that recursion and hot leaf functions choose once, at the top.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"

#include <vector>

namespace trackway {

class Dispatch {
  public:
    // Whether the function can be given two versions.
    static bool canSplit(const llvm::Function &F);

    // Copies the function as it is now. To be called before it is instrumented.
    void keepPlain(llvm::Function &F);

    // Moves the bodies of all kept functions, which record by now, out of the way and puts the choice in their place.
    // IdBase is the i32 that is 0 when the module does not record.
    void finish(llvm::GlobalVariable *IdBase);

  private:
    struct Versions {
        llvm::Function *Original;
        llvm::Function *Plain;
        llvm::Function *Traced = nullptr;
    };

    std::vector<Versions> Kept;
};

} // namespace trackway
