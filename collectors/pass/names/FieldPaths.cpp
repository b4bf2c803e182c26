#include "names/FieldPaths.h"
#include "names/DebugTypes.h"
#include "names/RustTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DerivedTypes.h"
#include <algorithm>
#include <set>

using namespace llvm;

namespace trackway {

namespace {

// More candidates than this say nothing any more.
constexpr size_t MaxCandidates = 4;

std::string joinPath(StringRef Path, StringRef Name) {
    if (Path.empty() || Name.empty())
        return (Path + Name).str();
    return (Path + "." + Name).str();
}

bool isUnbounded(const DIType *Type) { return isArray(Type) && Type->getSizeInBits() == 0; }

// The bits of its structure that a part covers.
std::pair<uint64_t, uint64_t> extent(const DIDerivedType &Part) {
    const DIType *Type = withoutQualifiers(Part.getBaseType());
    uint64_t First = Part.getOffsetInBits();
    if (isUnbounded(Type))
        return {First, UINT64_MAX};
    uint64_t Size = Part.isBitField() || !Type ? Part.getSizeInBits() : Type->getSizeInBits();
    return {First, First + Size};
}

Spot enterPart(const Spot &Whole, const DIType &Structure, const DIDerivedType &Part, const DebugTypes &Types) {
    Spot Inner;
    Inner.Type = Part.isBitField() ? static_cast<const DIType *>(&Part) : Part.getBaseType();
    // A storage unit may begin before its bit-field.
    Inner.Offset = Part.isBitField() ? 0 : Whole.Offset - static_cast<int64_t>(Part.getOffsetInBits() / 8);
    Inner.Object = Whole.Object ? Whole.Object : &Structure;
    Inner.Path = joinPath(Whole.Path, partName(Part, Types));
    Inner.Owner = Whole.Owner;
    Inner.OwnerPath = Whole.OwnerPath;
    if (!Inner.Owner && ownerKind(Types.name(&Structure)) != RustOwner::None) {
        Inner.Owner = &Structure;
        Inner.OwnerPath = Whole.Path;
    }
    Inner.Entry = Whole.Entry ? Whole.Entry : entryOfTable(Structure);
    return Inner;
}

const DIType *elementType(const DIType &Array) { return cast<DICompositeType>(Array).getBaseType(); }

std::optional<Spot> enterElement(const Spot &Whole, const DIType &Array) {
    uint64_t ElementSize = sizeInBytes(elementType(Array));
    bool Outside = Whole.Offset < 0 || (!isUnbounded(&Array) && Whole.Offset * 8 >= int64_t(Array.getSizeInBits()));
    if (ElementSize == 0 || Outside)
        return std::nullopt;
    Spot Inner = Whole;
    Inner.Type = elementType(Array);
    Inner.Offset = Whole.Offset % static_cast<int64_t>(ElementSize);
    if (Whole.Object)
        Inner.Path += "[]";
    return Inner;
}

// The parts that lie at [first, last) bits of the spot's type, wholly or only some of them.
enum class Cover { Whole, Partial };
Spots partsAt(const Spot &At, uint64_t First, uint64_t Last, Cover Wanted, const DebugTypes &Types);

// What the variants of an enum have there; where none has anything, the integer that tells them apart.
Spots partsOfVariants(const Spot &At, const DIType &Enum, const DICompositeType &VariantPart, uint64_t First,
                      uint64_t Last, Cover Wanted, const DebugTypes &Types) {
    Spots Parts;
    for (const DINode *Node : VariantPart.getElements())
        if (const DIDerivedType *Variant = asPart(Node))
            Parts.append(partsAt(enterPart(At, Enum, *Variant, Types), First - Variant->getOffsetInBits(),
                                 Last - Variant->getOffsetInBits(), Wanted, Types));
    const DIDerivedType *Which = discriminator(VariantPart);
    if (!Parts.empty() || !Which)
        return Parts;
    auto [Begin, End] = extent(*Which);
    if (Wanted == Cover::Whole ? Begin <= First && Last <= End : Begin < Last && First < End) {
        Parts.push_back(enterPart(At, Enum, *Which, Types));
        Parts.back().Path = joinPath(At.Path, "discriminant");
    }
    return Parts;
}

Spots partsAt(const Spot &At, uint64_t First, uint64_t Last, Cover Wanted, const DebugTypes &Types) {
    Spots Parts;
    const DIType *Type = withoutQualifiers(At.Type);
    if (At.Offset < 0 || !Type)
        return Parts;
    if (isArray(Type)) {
        if (auto Element = enterElement(At, *Type)) {
            uint64_t End = Element->Offset * 8 + (Last - First);
            if (Wanted == Cover::Partial || End <= 8 * sizeInBytes(Element->Type))
                Parts.push_back(*Element);
        }
        return Parts;
    }
    if (!isStructure(Type))
        return Parts;
    for (const DINode *Node : cast<DICompositeType>(Type)->getElements()) {
        if (const DICompositeType *Variants = asVariantPart(Node))
            Parts.append(partsOfVariants(At, *Type, *Variants, First, Last, Wanted, Types));
        const DIDerivedType *Part = asPart(Node);
        if (!Part)
            continue;
        auto [Begin, End] = extent(*Part);
        bool Inside = Begin <= First && Last <= End && Begin < End;
        bool Touches = Begin < Last && First < End;
        if (Wanted == Cover::Whole ? Inside : Touches)
            Parts.push_back(enterPart(At, *Type, *Part, Types));
    }
    return Parts;
}

} // namespace

Spots partsAtOffset(const Spot &At, const DebugTypes &Types) {
    uint64_t First = At.Offset < 0 ? 0 : At.Offset * 8;
    return partsAt(At, First, First + 1, Cover::Whole, Types);
}

namespace {

// Goes inward until `Matches` and collects what it finds.
template <typename Predicate> void search(const Spot &At, Predicate Matches, const DebugTypes &Types, Spots &Found) {
    if (Matches(At)) {
        Found.push_back(At);
        return;
    }
    for (const Spot &Part : partsAtOffset(At, Types))
        search(Part, Matches, Types, Found);
}

bool isOrInherits(const DIType *Type, const DIType &Class, const DebugTypes &Types) {
    const DIType *Bare = withoutQualifiers(Type);
    if (!isStructure(Bare))
        return false;
    if (Bare == &Class || Types.name(Bare) == Types.name(&Class))
        return true;
    return any_of(cast<DICompositeType>(Bare)->getElements(), [&](const DINode *Element) {
        const DIDerivedType *Part = asPart(Element);
        return Part && Part->getTag() == dwarf::DW_TAG_inheritance && isOrInherits(Part->getBaseType(), Class, Types);
    });
}

bool isKindOf(const DIType *Type, const llvm::Type &Code) {
    if (Code.isPointerTy())
        return pointee(Type) || (Type && isa<DIDerivedType>(Type));
    const auto *Basic = dyn_cast_or_null<DIBasicType>(Type);
    bool Float = Basic && Basic->getEncoding() == dwarf::DW_ATE_float;
    if (Code.isFloatingPointTy())
        return Float;
    return !Code.isIntegerTy() || (!Float && !pointee(Type));
}

} // namespace

Spots whole(const DIType *Type) {
    Spots At;
    if (Type)
        At.push_back(Spot{Type, 0, nullptr, "", nullptr, ""});
    return At;
}

const DIDerivedType *asPart(const DINode *Element) {
    const auto *Part = dyn_cast_or_null<DIDerivedType>(Element);
    if (!Part || Part->isStaticMember())
        return nullptr;
    if (Part->getTag() == dwarf::DW_TAG_inheritance)
        return Part->isVirtual() ? nullptr : Part;
    return Part->getTag() == dwarf::DW_TAG_member ? Part : nullptr;
}

namespace {

const DIDerivedType *onlyPart(const DICompositeType &Structure) {
    const DIDerivedType *Only = nullptr;
    for (const DINode *Element : Structure.getElements())
        if (const DIDerivedType *Part = asPart(Element)) {
            if (Only)
                return nullptr;
            Only = Part;
        }
    return Only;
}

} // namespace

const DIType *onlyPointer(const DIType *Type) {
    while (Type && !pointee(Type)) {
        const DIType *Bare = withoutQualifiers(Type);
        const DIDerivedType *Only = isStructure(Bare) ? onlyPart(*cast<DICompositeType>(Bare)) : nullptr;
        Type = Only ? Only->getBaseType() : nullptr;
    }
    return Type;
}

std::string partName(const DIDerivedType &Part, const DebugTypes &Types) {
    return Part.getTag() == dwarf::DW_TAG_inheritance ? Types.name(Part.getBaseType()) : Part.getName().str();
}

Spots FieldPaths::focus(const Spots &At, const StructType &Struct, uint64_t Size) const {
    Spots Found;
    auto Matches = [&](const Spot &Inner) { return Inner.Offset == 0 && Types.agree(Struct, Size, Inner.Type); };
    for (const Spot &Outer : At)
        search(Outer, Matches, Types, Found);
    return Found;
}

Spots FieldPaths::object(const Spots &At, const DIType &Class) const {
    Spots Found;
    auto Matches = [&](const Spot &Inner) { return Inner.Offset == 0 && isOrInherits(Inner.Type, Class, Types); };
    for (const Spot &Outer : At)
        search(Outer, Matches, Types, Found);
    return Found;
}

Spots FieldPaths::step(const Spots &At, uint64_t Stride) const {
    Spots Found;
    auto Matches = [&](const Spot &Inner) {
        uint64_t Size = sizeInBytes(Inner.Type);
        return Size && Stride % Size == 0;
    };
    for (const Spot &Outer : At)
        search(Outer, Matches, Types, Found);
    return Found;
}

bool FieldPaths::accepts(const Spot &At, const AccessShape &Shape) const {
    const DIType *Type = withoutQualifiers(At.Type);
    if (!Type)
        return false;
    if (describedElement(Type))
        return true;
    // A block or vector that begins at the first of several elements covers them all.
    bool Block = !Shape.Type || Shape.Type->isAggregateType();
    bool Many = At.Offset == 0 && (Block || Shape.Type->isVectorTy());
    uint64_t Size = sizeInBytes(Type);
    if (!isStructure(Type) && !isArray(Type))
        return Many || !Shape.Bits.empty() || Size == 0 || At.Offset + Shape.Size <= Size;
    // Copies or fills the whole thing, or an unknown part of it.
    return Block && At.Offset == 0 && (Shape.Size == 0 || Shape.Size == Size);
}

void FieldPaths::collectLeaves(const Spot &At, const AccessShape &Shape, Spots &Found) const {
    if (At.Offset < 0)
        return;
    if (accepts(At, Shape)) {
        Found.push_back(At);
        return;
    }
    bool Masked = !Shape.Bits.empty();
    uint64_t First = At.Offset * 8 + (Masked ? Shape.Bits.front().first : 0);
    uint64_t Last = First + (Masked ? Shape.Bits.front().second : std::max<uint64_t>(Shape.Size, 1) * 8);
    Spots Parts = partsAt(At, First, Last, Cover::Whole, Types);
    if (!Parts.empty()) {
        for (const Spot &Part : Parts)
            collectLeaves(Part, Shape, Found);
        return;
    }
    Parts = partsAt(At, First, Last, Cover::Partial, Types);
    bool Outside = !isUnbounded(withoutQualifiers(At.Type)) && Last > 8 * sizeInBytes(At.Type);
    if (Outside && !Masked)
        return;
    // A run of neighbours: all of them, or the structure itself if there are many. Array elements are not told apart.
    if (Parts.empty() || isArray(withoutQualifiers(At.Type)) || Parts.size() > MaxCandidates) {
        Found.push_back(At);
        return;
    }
    Found.append(Parts.begin(), Parts.end());
}

namespace {

// The shape with one range of bits each.
SmallVector<AccessShape, 1> byRange(const AccessShape &Shape) {
    if (Shape.Bits.size() < 2)
        return {Shape};
    SmallVector<AccessShape, 1> Parts;
    for (const auto &Range : Shape.Bits)
        Parts.push_back({Shape.Size, Shape.Type, {Range}});
    return Parts;
}

} // namespace

Spots FieldPaths::leaves(const Spots &At, const AccessShape &Shape) const {
    Spots Found;
    for (const AccessShape &Part : byRange(Shape))
        for (const Spot &Outer : At)
            collectLeaves(Outer, Part, Found);
    if (Found.size() < 2 || !Shape.Type)
        return Found;
    auto Fits = [&](const Spot &Leaf) {
        const DIType *Type = withoutQualifiers(Leaf.Type);
        return isKindOf(Type, *Shape.Type) && (!Shape.Bits.empty() || sizeInBytes(Leaf.Type) == Shape.Size);
    };
    Spots Fitting;
    copy_if(Found, std::back_inserter(Fitting), Fits);
    return Fitting.empty() ? Found : Fitting;
}

namespace {

// Where too many members come into question, what they are parts of: `value_` for the members of a union `value_`.
std::string joinPaths(SmallVector<std::string, 4> Paths) {
    while (std::set<std::string>(Paths.begin(), Paths.end()).size() > MaxCandidates)
        for (std::string &Path : Paths)
            Path = StringRef(Path).contains('.') ? StringRef(Path).rsplit('.').first.str() : "";
    return joinNames(Paths);
}

} // namespace

void FieldPaths::describe(const Spots &Leaves, AccessName &Name) const {
    SmallVector<std::string, 4> Objects, Fields, Values;
    for (const Spot &Leaf : Leaves) {
        const DIType *Bare = withoutQualifiers(Leaf.Type);
        const DIType *Object = Leaf.Object ? Leaf.Object : isStructure(Bare) ? Bare : nullptr;
        Objects.push_back(Object ? Types.name(Object) : "");
        Fields.push_back(Leaf.Path);
        Values.push_back(Bare && Bare->isForwardDecl() ? "" : Types.name(Leaf.Type));
    }
    Name.ObjectType = joinNames(Objects);
    Name.Field = joinPaths(std::move(Fields));
    Name.ValueType = joinNames(Values);
}

namespace {

void addDistinct(StringRef Name, SmallVectorImpl<StringRef> &All) {
    if (!is_contained(All, Name))
        All.push_back(Name);
}

// `{a|b}` is two names; `a.{x|y}` and `{a|b}[]` stay as they are.
void addChoices(StringRef Name, SmallVectorImpl<StringRef> &All) {
    StringRef Inner = Name.drop_front().drop_back();
    if (!Name.starts_with("{") || !Name.ends_with("}") || Inner.find_first_of("{}") != StringRef::npos)
        return addDistinct(Name, All);
    SmallVector<StringRef, 4> Choices;
    Inner.split(Choices, '|');
    for (StringRef Choice : Choices)
        addDistinct(Choice, All);
}

} // namespace

std::string joinNames(ArrayRef<std::string> Names) {
    SmallVector<StringRef, 8> Distinct;
    for (StringRef Name : Names) {
        if (Name.empty())
            return "";
        addChoices(Name, Distinct);
    }
    if (Distinct.empty() || Distinct.size() > MaxCandidates)
        return "";
    if (Distinct.size() == 1)
        return Distinct.front().str();
    llvm::sort(Distinct);
    // The part that they share up to a dot stands before the brace.
    size_t Shared = 0, Limit = Distinct.front().size();
    for (size_t I = 0; I < Limit; ++I) {
        char Letter = Distinct.front()[I];
        if (!all_of(Distinct, [&](StringRef Name) { return I < Name.size() && Name[I] == Letter; }))
            break;
        if (Letter == '.')
            Shared = I + 1;
    }
    std::string Text = Distinct.front().take_front(Shared).str() + "{";
    for (auto [Index, Name] : enumerate(Distinct))
        Text += (Index ? "|" : "") + Name.drop_front(Shared).str();
    return Text + "}";
}

} // namespace trackway
