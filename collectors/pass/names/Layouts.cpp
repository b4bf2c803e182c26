#include "names/Layouts.h"

#include "names/DebugTypes.h"
#include "names/FieldPaths.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace llvm;

namespace trackway {

namespace {

constexpr uint64_t MaxNaturalAlignment = 16;

uint64_t alignmentOf(const DIType *);

// The greatest alignment that the place allows: packed structures keep less than their members' types ask for.
uint64_t allowedAt(uint64_t Offset, uint64_t Alignment) {
    while (Alignment > 1 && Offset % Alignment != 0)
        Alignment /= 2;
    return std::max<uint64_t>(Alignment, 1);
}

uint64_t alignmentOf(const DIDerivedType &Part) {
    uint64_t Asked = Part.getAlignInBits() ? Part.getAlignInBits() / 8 : alignmentOf(Part.getBaseType());
    return Part.isBitField() ? Asked : allowedAt(Part.getOffsetInBits() / 8, Asked);
}

uint64_t alignmentOfStructure(const DICompositeType &Structure) {
    uint64_t Alignment = 1;
    for (const DINode *Node : Structure.getElements())
        if (const DIDerivedType *Part = asPart(Node))
            Alignment = std::max(Alignment, alignmentOf(*Part));
    return allowedAt(sizeInBytes(&Structure), Alignment);
}

// Debug information has alignments only where the source asks for one; the others are the platform's.
uint64_t alignmentOf(const DIType *Type) {
    for (const auto *Derived = dyn_cast_or_null<DIDerivedType>(Type); Derived;
         Derived = dyn_cast_or_null<DIDerivedType>(Derived->getBaseType()))
        if (Derived->getAlignInBits())
            return Derived->getAlignInBits() / 8;
        else if (withoutQualifiers(Derived) == Derived)
            break;
    Type = withoutQualifiers(Type);
    if (!Type)
        return 1;
    if (Type->getAlignInBits())
        return Type->getAlignInBits() / 8;
    if (isStructure(Type))
        return alignmentOfStructure(*cast<DICompositeType>(Type));
    if (isArray(Type))
        return alignmentOf(cast<DICompositeType>(Type)->getBaseType());
    uint64_t Size = std::max<uint64_t>(sizeInBytes(Type), 1);
    const auto *Basic = dyn_cast<DIBasicType>(Type);
    if (Basic && Basic->getEncoding() == dwarf::DW_ATE_complex_float)
        Size = std::max<uint64_t>(Size / 2, 1);
    if (isa<DIDerivedType>(Type))
        return std::min<uint64_t>(PowerOf2Ceil(Size), 8); // pointers; one to a member function has two words
    uint64_t Natural = PowerOf2Ceil(Size);
    return isa<DICompositeType>(Type) ? Natural : std::min(Natural, MaxNaturalAlignment); // a vector, or a number
}

StructureKind kindOf(const DICompositeType &Structure) {
    switch (Structure.getTag()) {
    case dwarf::DW_TAG_class_type:
        return StructureKind::Class;
    case dwarf::DW_TAG_union_type:
        return StructureKind::Union;
    default:
        return StructureKind::Struct;
    }
}

// The element type of an array; other types are returned as they are.
const DIType *innermostElement(const DIType *Type) {
    Type = withoutQualifiers(Type);
    while (isArray(Type))
        Type = withoutQualifiers(cast<DICompositeType>(Type)->getBaseType());
    return Type;
}

} // namespace

bool MemberLayout::operator==(const MemberLayout &Other) const {
    return Name == Other.Name && Type == Other.Type && Kind == Other.Kind && OffsetInBits == Other.OffsetInBits &&
           SizeInBits == Other.SizeInBits && Alignment == Other.Alignment && Nested == Other.Nested;
}

bool TypeLayout::operator==(const TypeLayout &Other) const {
    return Name == Other.Name && Kind == Other.Kind && Size == Other.Size && Alignment == Other.Alignment &&
           Members == Other.Members;
}

void Layouts::add(StringRef Name) {
    ArrayRef<const DICompositeType *> Candidates = Types.structuresNamed(Name);
    std::optional<uint32_t> First = Candidates.empty() ? std::nullopt : place(Candidates.front());
    if (!First)
        return;
    for (const DICompositeType *Other : Candidates.drop_front()) {
        auto Placing = place(Other);
        if (Placing && !(List[*Placing] == List[*First])) {
            // The name doesn't say which of them a site means.
            List[*First].Name.clear();
            List[*Placing].Name.clear();
        }
    }
}

std::optional<uint32_t> Layouts::place(const DIType *Type) {
    Type = innermostElement(Type);
    if (!isStructure(Type) || Type->isForwardDecl())
        return std::nullopt;
    const auto *Structure = cast<DICompositeType>(Type);
    auto [Known, New] = Placed.try_emplace(Structure, std::nullopt);
    if (!New)
        return Known->second;
    TypeLayout Layout;
    Layout.Name = Types.name(Structure);
    Layout.Kind = kindOf(*Structure);
    Layout.Size = sizeInBytes(Structure);
    Layout.Alignment = alignmentOf(Structure);
    Layout.Members = membersOf(*Structure);
    // Equal definitions, which each unit of a linked module brings along, are one type.
    auto Same = std::find(List.begin(), List.end(), Layout);
    uint32_t Index = Same - List.begin();
    if (Same == List.end())
        List.push_back(std::move(Layout));
    Placed[Structure] = Index;
    return Index;
}

std::vector<MemberLayout> Layouts::membersOf(const DICompositeType &Structure) {
    std::vector<MemberLayout> Members;
    for (const DINode *Node : Structure.getElements())
        if (const DIDerivedType *Part = asPart(Node)) {
            MemberLayout Member = member(*Part);
            // A base class with virtual bases of its own counts them, though they lie elsewhere.
            if (Member.OffsetInBits + Member.SizeInBits <= Structure.getSizeInBits())
                Members.push_back(std::move(Member));
        }
    llvm::stable_sort(Members,
                      [](const MemberLayout &A, const MemberLayout &B) { return A.OffsetInBits < B.OffsetInBits; });
    return Members;
}

MemberLayout Layouts::member(const DIDerivedType &Part) {
    MemberLayout Member;
    Member.Name = partName(Part, Types);
    Member.Type = Types.declaredName(Part.getBaseType());
    Member.Kind = Part.isBitField()                            ? MemberKind::BitField
                  : Part.getTag() == dwarf::DW_TAG_inheritance ? MemberKind::Base
                                                               : MemberKind::Field;
    Member.OffsetInBits = Part.getOffsetInBits();
    Member.SizeInBits = Part.isBitField() ? Part.getSizeInBits() : 8 * sizeInBytes(Part.getBaseType());
    Member.Alignment = alignmentOf(Part);
    Member.Nested = place(Part.getBaseType());
    return Member;
}

} // namespace trackway
