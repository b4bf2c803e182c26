// Labels that both versions of a function jump to, whichever of them handed a label out.
//
// Such a label is no code address but that of an entry in a table of the function. The entry holds the block's address
// in the plain version, and the entry half a table further the one in the recording version, so that each jump takes
// one more load. Labels stay unique, are as far apart at run time as in the constants that the module holds, and need
// nothing to be set up before the program runs.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace trackway {

class SharedLabels {
  public:
    // Whether all that jumps to labels in the function is `goto *`. Inline assembly may jump, too, and wants code
    // addresses.
    static bool canShare(const llvm::Function &F);

    // Makes all labels of the function entries, in the whole module. To be called before the function is copied.
    explicit SharedLabels(llvm::Function &F);

    // Fills the table, and makes the copy's jumps use it. Map says which block became which.
    void addPlain(llvm::Function &Plain, const llvm::ValueToValueMapTy &Map);

    // Makes the jumps of the recording version use the table. To be called when it is instrumented, since these loads
    // are no accesses of the program.
    void finishRecording(llvm::Function &Recording) const;

  private:
    llvm::SmallVector<llvm::BasicBlock *, 8> Blocks;
    llvm::GlobalVariable *Table;
};

} // namespace trackway
