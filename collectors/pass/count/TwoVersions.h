// A function that enters regions has two versions of its code within it: one that counts, and one that doesn't. After
// each mark of a region, the thread's state selects the version in which it goes on (following Arnold and Ryder, "A
// framework for reducing the cost of instrumented code", 2001). So uncounted code costs a predictable branch at its
// marks.
#pragma once

#include "count/CountingCode.h"

#include "llvm/Transforms/Utils/ValueMapper.h"

namespace trackway {

class TwoVersions {
  public:
    // Tables of computed gotos would have to lead to both.
    static bool canHave(const llvm::Function &F);

    // Copies the function, whose marks stand at the ends of their blocks.
    explicit TwoVersions(llvm::Function &F);

    // Whether the copy has one, too.
    bool isOfBoth(const llvm::Value &V) const { return Copies.count(&V); }

    // Makes the copy the version of the function that doesn't count. By now the function counts, and blocks after marks
    // begin with code that they need for themselves.
    void join(const CountingSymbols &Symbols);

  private:
    void joinAllocas();
    void findPairs();
    void moveIn();
    void connect(llvm::CallInst &Mark, const CountingSymbols &Symbols);
    void skipInPlain(llvm::CallInst &Mark, llvm::BasicBlock &Behind, const CountingSymbols &Symbols);
    void chooseAtEntry(llvm::BasicBlock &Counting, llvm::BasicBlock &Plain, const CountingSymbols &Symbols);
    void repair();

    llvm::Function &F, *Copy;
    llvm::ValueToValueMapTy Copies;
    std::vector<std::pair<llvm::Instruction *, llvm::Instruction *>> Pairs;
};

} // namespace trackway
