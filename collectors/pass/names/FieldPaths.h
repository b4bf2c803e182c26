// Finds the fields that lie at an offset in an object.
#ifndef TRACKWAY_FIELDPATHS_H
#define TRACKWAY_FIELDPATHS_H

#include "names/Attribution.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include <string>

namespace llvm {
class StructType;
class Type;
} // namespace llvm

namespace trackway {

class DebugTypes;

// A place inside an object: `Offset` bytes into something of type `Type`, which is the field `Path` of an `Object`.
struct Spot {
    const llvm::DIType *Type = nullptr;
    int64_t Offset = 0;
    const llvm::DIType *Object = nullptr; // the outermost structure; null while none was entered
    std::string Path;                     // from Object to Type; empty if they are the same or there is no object
    const llvm::DIType *Owner = nullptr;  // the outermost type on the way that owns a pointer, in Rust
    std::string OwnerPath;                // from Object to Owner
    const llvm::DIType *Entry = nullptr;  // what a hash table on the way holds, in Rust
};

// Several where unions leave a choice; none: unknown.
using Spots = llvm::SmallVector<Spot, 1>;

// An object of the type; none if the type is unknown.
Spots whole(const llvm::DIType *);

// First bit and number of bits, each.
using BitRanges = llvm::SmallVector<std::pair<uint64_t, uint64_t>, 1>;

// The shape of an access as the code sees it.
struct AccessShape {
    uint64_t Size = 0;                // bytes; 0: dynamic
    const llvm::Type *Type = nullptr; // null for a block
    // Bits that matter, from the first of the access, where the code masks the rest away (bit-fields); none: all.
    BitRanges Bits;
};

// The parts of the spot's type that begin at or before it and hold it: one level inward.
Spots partsAtOffset(const Spot &, const DebugTypes &);

class FieldPaths {
  public:
    explicit FieldPaths(const DebugTypes &Types) : Types(Types) {}

    // The parts that the code treats as this structure.
    Spots focus(const Spots &, const llvm::StructType &, uint64_t Size) const;

    // The parts that are of this class, or of one that is derived from it.
    Spots object(const Spots &, const llvm::DIType &Class) const;

    // The parts among whose elements a variable index steps by `Stride` bytes.
    Spots step(const Spots &, uint64_t Stride) const;

    // The innermost parts that hold the whole access.
    Spots leaves(const Spots &, const AccessShape &) const;

    // Fills in object type, field and value type; what the spots disagree about is joined or left out.
    void describe(const Spots &Leaves, AccessName &) const;

  private:
    bool accepts(const Spot &, const AccessShape &) const;
    // Looks at the first range of bits only.
    void collectLeaves(const Spot &, const AccessShape &, Spots &) const;

    const DebugTypes &Types;
};

// A data member or base class at a fixed offset; null for functions, types, static members and virtual bases.
const llvm::DIDerivedType *asPart(const llvm::DINode *Element);

// The pointer or reference of which an object of the type consists: itself, or the only member of an iterator or a
// smart pointer; null for any other type.
const llvm::DIType *onlyPointer(const llvm::DIType *);

// A part as paths show it: a base class by its name, an anonymous member not at all.
std::string partName(const llvm::DIDerivedType &Part, const DebugTypes &);

// `{pos.x|pos.y}` becomes `pos.{x|y}`; duplicates go; empty if one of them is.
std::string joinNames(llvm::ArrayRef<std::string>);

} // namespace trackway

#endif
