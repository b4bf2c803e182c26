// Two versions of each function: one that records, one that is untouched, and the choice between them.
//
// A program that is not recorded must run at its own speed, so it runs code without any of our instructions. The
// function itself becomes a dispatcher that jumps to one of the two; calls within a module go from version to version
// directly, so that recursion and hot leaf functions choose once, at the top.
#pragma once

#include "prepare/SharedLabels.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Function.h"

#include <optional>
#include <vector>

namespace trackway {

class Dispatch {
  public:
    // Whether the function can be a choice that jumps to another one.
    static bool canChoose(const llvm::Function &F);

    // Whether the function can have a copy: its labels stay inside, or both versions can share them.
    static bool canKeepPlain(const llvm::Function &F);

    // Copies the function, which can have a copy, as it is now and returns the copy. To be called before it is
    // instrumented. With AlwaysChooses, calls of the function and calls that it makes go by the choice, also within the
    // module.
    llvm::Function &keepPlain(llvm::Function &F, bool AlwaysChooses = false);

    // The same; but a function that can't have a copy has one version for both ways, which is instrumented and must be
    // able to run where nothing is recorded. Says whether there is a copy.
    bool keepPlainIfPossible(llvm::Function &F, bool AlwaysChooses);

    // Ends the block with a branch to the one for functions as they are instrumented now, or to the other. It may add
    // blocks between them.
    using Choice =
        llvm::function_ref<void(llvm::BasicBlock &From, llvm::BasicBlock &Instrumented, llvm::BasicBlock &Plain)>;
    // The same, with a third way for what must be done before there is a choice.
    using FirstChoice = llvm::function_ref<void(llvm::BasicBlock &From, llvm::BasicBlock &Instrumented,
                                                llvm::BasicBlock &Plain, llvm::BasicBlock &Before)>;

    // Moves the bodies of all kept functions, which are instrumented by now, out of the way and puts the choice in
    // their place.
    void finish(Choice Choose);
    // On the third way, Later does what must be done, and then chooses. It is a function of its own: if the choice
    // itself called anything, it would save registers each time.
    void finish(FirstChoice Choose, Choice Later);

  private:
    struct Versions;
    static void move(Versions &V);
    void directCalls();

    struct Versions {
        llvm::Function *Original;
        llvm::Function *Plain; // null if there is one version only
        bool AlwaysChooses;
        std::optional<SharedLabels> Labels = {}; // none if each version has its own
        llvm::Function *Traced = nullptr;
    };

    std::vector<Versions> Kept;
};

} // namespace trackway
