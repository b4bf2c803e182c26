// Names from type-based alias metadata, the last resort.
#ifndef TRACKWAY_TBAANAMES_H
#define TRACKWAY_TBAANAMES_H

#include "names/Attribution.h"
#include "names/FieldPaths.h"
#include "llvm/ADT/MapVector.h"

namespace llvm {
class Instruction;
class MDNode;
class Module;
} // namespace llvm

namespace trackway {

class DebugTypes;

// What accesses with the same access tag are called. A tag names a structure and a place in it, and most passes that
// make accesses anew keep it. Where all fresh accesses with a tag have one name, it is that of any later one, too.
class TagNames {
  public:
    void note(const llvm::Instruction &, const AccessName &);
    // Leaves the names in the module, for `read` of a later pass.
    void write(llvm::Module &) const;

    void read(const llvm::Module &);
    // Object type, field and value type; empty if the tag has no name.
    AccessName name(const llvm::Instruction &) const;

  private:
    llvm::MapVector<const llvm::MDNode *, AccessName> Names;
};

void removeTagNames(llvm::Module &);

// Whether fresh code accesses a character. Where a structure is known, this may be a member of a union instead.
bool accessesCharacter(const llvm::Instruction &);

// Object type, field and value type as far as the access tag knows them; never a variable.
AccessName tbaaName(const llvm::Instruction &, const AccessShape &, const DebugTypes &, const FieldPaths &);

} // namespace trackway

#endif
