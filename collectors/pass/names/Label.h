// How names travel through the optimiser.
//
// Metadata of our own kind is dropped by most transformations. `!llvm.access.group` is kept by all that rewrite
// accesses (SROA, InstCombine, GVN, the vectorisers, the inliner), and means nothing unless a loop's
// `llvm.loop.parallel_accesses` lists the group, which none ever does. So a label is an access group of ours: an empty
// distinct node, to which a named list of the module gives its text. Alias scopes survive merges better, but
// memory dependence analysis compares them, so that they change what GVN finds.
//
// When accesses are merged, the groups that both have remain. An access therefore has a group for each thing that may
// still be true of both: variable, object, field.
#ifndef TRACKWAY_LABEL_H
#define TRACKWAY_LABEL_H

#include "names/Attribution.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class MDNode;
class NamedMDNode;
} // namespace llvm

namespace trackway {

// Which side of an instruction a label speaks of: a copy has two, and they stay apart when it becomes a load and a
// store. The effects of a library function have roles of their own, from FirstOfCall on.
enum class Role : char { Read = 'r', Write = 'w', Both = 'x', FirstOfCall = 'A' };

Role roleOf(const llvm::Instruction &, unsigned Part);

// Puts labels on the accesses of one module.
class LabelWriter {
  public:
    explicit LabelWriter(llvm::Module &);
    void attach(llvm::Instruction &, Role, const AccessName &);

  private:
    llvm::MDNode *group(llvm::StringRef Text);

    llvm::Module &M;
    llvm::NamedMDNode *List;
    llvm::StringMap<llvm::MDNode *> Groups;
};

class LabelReader {
  public:
    explicit LabelReader(const llvm::Module &);

    // The names in the labels that are left; all empty if there are none.
    AccessName read(const llvm::Instruction &, Role) const;

    bool isLabel(const llvm::MDNode *Group) const { return Texts.count(Group) != 0; }

  private:
    llvm::DenseMap<const llvm::MDNode *, llvm::StringRef> Texts;
};

// Takes all labels off; the access groups of others stay.
void removeAllLabels(llvm::Module &);

} // namespace trackway

#endif
