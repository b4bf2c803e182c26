// Where the parts of structures lie, as the table of a module tells it (docs/format.md, section 2, types).
#ifndef TRACKWAY_LAYOUTS_H
#define TRACKWAY_LAYOUTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include <optional>
#include <string>
#include <vector>

namespace trackway {

class DebugTypes;

// Numbers as in docs/format.md.
enum class MemberKind : uint8_t { Field, BitField, Base };
enum class StructureKind : uint8_t { Struct, Class, Union };

struct MemberLayout {
    std::string Name; // as in field paths: of a base class its type, of an anonymous member none
    std::string Type;
    MemberKind Kind = MemberKind::Field;
    uint64_t OffsetInBits = 0, SizeInBits = 0;
    uint64_t Alignment = 1;         // bytes
    std::optional<uint32_t> Nested; // index of the member's type, or of its elements' if it is an array

    bool operator==(const MemberLayout &) const;
};

struct TypeLayout {
    std::string Name; // empty: anonymous
    StructureKind Kind = StructureKind::Struct;
    uint64_t Size = 0, Alignment = 1; // bytes
    std::vector<MemberLayout> Members;

    bool operator==(const TypeLayout &) const;
};

// Collects structures, the parts of each before itself.
class Layouts {
  public:
    explicit Layouts(const DebugTypes &Types) : Types(Types) {}

    // The structure of that name; none if there are several that differ, or none.
    void add(llvm::StringRef Name);

    std::vector<TypeLayout> take() { return std::move(List); }

  private:
    std::optional<uint32_t> place(const llvm::DIType *);
    std::vector<MemberLayout> membersOf(const llvm::DICompositeType &);
    MemberLayout member(const llvm::DIDerivedType &);

    const DebugTypes &Types;
    std::vector<TypeLayout> List;
    llvm::DenseMap<const llvm::DICompositeType *, std::optional<uint32_t>> Placed;
};

} // namespace trackway

#endif
