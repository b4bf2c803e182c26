#include "names/DebugTypes.h"

#include "LlvmVersion.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace trackway {

namespace {

constexpr StringRef KeptTypes = "trackway.types";

bool isQualifier(const DIDerivedType &Type) {
    switch (Type.getTag()) {
    case dwarf::DW_TAG_typedef:
    case dwarf::DW_TAG_const_type:
    case dwarf::DW_TAG_volatile_type:
    case dwarf::DW_TAG_restrict_type:
    case dwarf::DW_TAG_atomic_type:
    case dwarf::DW_TAG_member:
    case dwarf::DW_TAG_template_alias:
        return true;
    default:
        return false;
    }
}

bool isPointer(const DIDerivedType &Type) {
    switch (Type.getTag()) {
    case dwarf::DW_TAG_pointer_type:
    case dwarf::DW_TAG_reference_type:
    case dwarf::DW_TAG_rvalue_reference_type:
        return true;
    default:
        return false;
    }
}

StringRef pointerMark(const DIDerivedType &Type) {
    switch (Type.getTag()) {
    case dwarf::DW_TAG_pointer_type:
        return "*";
    case dwarf::DW_TAG_reference_type:
        return "&";
    default:
        return "&&";
    }
}

bool isWrittenInC(const Module &M) {
    auto IsC = [](const DICompileUnit *Unit) {
        switch (languageOf(*Unit)) {
        case dwarf::DW_LANG_C:
        case dwarf::DW_LANG_C89:
        case dwarf::DW_LANG_C99:
        case dwarf::DW_LANG_C11:
        case dwarf::DW_LANG_C17:
            return true;
        default:
            return false;
        }
    };
    return any_of(M.debug_compile_units(), IsC);
}

// The name without any template arguments: the code and debug information spell them differently.
std::string withoutArguments(StringRef Name) {
    std::string Bare;
    unsigned Depth = 0;
    for (char Letter : Name) {
        Depth += Letter == '<';
        if (Depth == 0)
            Bare += Letter;
        if (Letter == '>' && Depth > 0)
            --Depth;
    }
    return Depth == 0 ? Bare : Name.str();
}

std::string dimensions(const DICompositeType &Array) {
    std::string Text;
    for (const DINode *Element : Array.getElements()) {
        const auto *Range = dyn_cast<DISubrange>(Element);
        const auto *Count = Range ? dyn_cast_if_present<ConstantInt *>(Range->getCount()) : nullptr;
        bool Known = Count && !Count->isMinusOne();
        Text += Known ? "[" + std::to_string(Count->getZExtValue()) + "]" : "[]";
    }
    return Text;
}

} // namespace

const DIType *withoutQualifiers(const DIType *Type) {
    while (const auto *Derived = dyn_cast_or_null<DIDerivedType>(Type)) {
        if (!isQualifier(*Derived))
            return Derived;
        Type = Derived->getBaseType();
    }
    return Type;
}

const DIType *pointee(const DIType *Type) {
    const auto *Derived = dyn_cast_or_null<DIDerivedType>(withoutQualifiers(Type));
    return Derived && isPointer(*Derived) ? Derived->getBaseType() : nullptr;
}

const DIType *describedElement(const DIType *Type) {
    const auto *Array = dyn_cast_or_null<DICompositeType>(withoutQualifiers(Type));
    return isArray(Array) && Array->getRawDataLocation() ? Array->getBaseType() : nullptr;
}

uint64_t sizeInBytes(const DIType *Type) {
    Type = withoutQualifiers(Type);
    return Type ? Type->getSizeInBits() / 8 : 0;
}

bool isStructure(const DIType *Type) {
    if (!Type)
        return false;
    auto Tag = Type->getTag();
    return Tag == dwarf::DW_TAG_structure_type || Tag == dwarf::DW_TAG_class_type || Tag == dwarf::DW_TAG_union_type;
}

bool isArray(const DIType *Type) { return Type && Type->getTag() == dwarf::DW_TAG_array_type && !Type->isVector(); }

// flang writes `_QMparticlesTparticle` for a type of a module: capital letters stand before the names of scopes, of the
// type and of its kind parameters, and all names are in lower case.
static StringRef fortranName(StringRef Mangled) {
    return Mangled.drop_front(Mangled.rfind('T') + 1).take_until([](char Letter) { return isUpper(Letter); });
}

StringRef sourceName(const StructType &Type) {
    if (!Type.hasName())
        return "";
    StringRef Name = Type.getName();
    if (Name.starts_with("_Q") && Name.contains('T'))
        return fortranName(Name);
    for (StringRef Prefix : {"struct.", "class.", "union."})
        if (Name.consume_front(Prefix))
            break;
    // `.123` makes equal names differ; `.base` is a class without its tail padding.
    for (;;) {
        auto [Head, Tail] = Name.rsplit('.');
        bool Number = !Tail.empty() && Tail.find_first_not_of("0123456789") == StringRef::npos;
        if (!Number && Tail != "base")
            break;
        Name = Head;
    }
    return Name == "anon" || Name.ends_with("::(anonymous)") || Name.ends_with("::anon") ? "" : Name;
}

DebugTypes::DebugTypes(const Module &M) : IsC(isWrittenInC(M)) {
    DebugInfoFinder Finder;
    Finder.processModule(M);
    for (const DIType *Type : Finder.types())
        add(*Type);
    if (const NamedMDNode *Kept = M.getNamedMetadata(KeptTypes))
        for (const MDNode *Type : Kept->operands())
            add(*cast<DIType>(Type));
    for (const auto &[Composite, Typedef] : TypedefOf)
        ByName[withoutArguments(qualified(*Typedef, Namespaces::All))].push_back(Composite);
}

void DebugTypes::add(const DIType &Type) {
    if (const auto *Composite = dyn_cast<DICompositeType>(&Type))
        addComposite(*Composite);
    else if (const auto *Derived = dyn_cast<DIDerivedType>(&Type))
        addTypedef(*Derived);
}

void DebugTypes::addComposite(const DICompositeType &Type) {
    if (!isStructure(&Type) || Type.isForwardDecl() || !Definitions.insert(&Type))
        return;
    if (!Type.getIdentifier().empty())
        ByIdentifier[Type.getIdentifier()] = &Type;
    if (!Type.getName().empty())
        ByName[withoutArguments(qualified(Type, Namespaces::All))].push_back(&Type);
}

void DebugTypes::addTypedef(const DIDerivedType &Type) {
    if (Type.getTag() != dwarf::DW_TAG_typedef)
        return;
    const auto *Composite = dyn_cast_or_null<DICompositeType>(Type.getBaseType());
    if (isStructure(Composite) && Composite->getName().empty())
        TypedefOf.try_emplace(Composite, &Type);
}

const std::string &DebugTypes::name(const DIType *Type) const {
    auto Known = Names.find(Type);
    if (Known != Names.end())
        return Known->second;
    std::string Spelled = spell(Type);
    return Names[Type] = std::move(Spelled);
}

std::string DebugTypes::canonicalName(const DIType *Type) const {
    const DIType *Bare = withoutQualifiers(Type);
    if (isArray(Bare)) {
        const auto *Array = cast<DICompositeType>(Bare);
        return canonicalName(Array->getBaseType()) + dimensions(*Array);
    }
    return isStructure(Bare) ? name(Bare) : name(Type);
}

std::string DebugTypes::declaredName(const DIType *Type) const {
    const DIType *Bare = withoutQualifiers(Type);
    if (isArray(Bare)) {
        const auto *Array = cast<DICompositeType>(Bare);
        return declaredName(Array->getBaseType()) + dimensions(*Array);
    }
    bool IsAlias = Type && Type->getTag() == dwarf::DW_TAG_typedef;
    if (const auto *Derived = dyn_cast_or_null<DIDerivedType>(Bare); Derived && isPointer(*Derived) && !IsAlias) {
        std::string Target = declaredName(Derived->getBaseType());
        if (!Target.empty())
            return Target + (Target.back() == '*' ? "" : " ") + pointerMark(*Derived).str();
    }
    const std::string &Name = isStructure(Bare) ? name(Bare) : name(Type);
    return tagOf(Bare) + Name;
}

// The keyword that C writes before the name of a structure or an enumeration with a name of its own.
std::string DebugTypes::tagOf(const DIType *Type) const {
    if (!IsC || !Type || Type->getName().empty())
        return "";
    switch (Type->getTag()) {
    case dwarf::DW_TAG_structure_type:
        return "struct ";
    case dwarf::DW_TAG_union_type:
        return "union ";
    case dwarf::DW_TAG_enumeration_type:
        return "enum ";
    default:
        return "";
    }
}

ArrayRef<const DICompositeType *> DebugTypes::structuresNamed(StringRef Name) const {
    if (ByFullName.empty())
        for (const DICompositeType *Definition : Definitions)
            ByFullName[name(Definition)].push_back(Definition);
    auto Found = Name.empty() ? ByFullName.end() : ByFullName.find(Name);
    return Found == ByFullName.end() ? ArrayRef<const DICompositeType *>() : Found->second;
}

void DebugTypes::keep(StringRef Name, Module &M) const {
    ArrayRef<const DICompositeType *> Named = structuresNamed(Name);
    if (Named.empty())
        return;
    NamedMDNode *Kept = M.getOrInsertNamedMetadata(KeptTypes);
    for (const DICompositeType *Definition : Named) {
        Kept->addOperand(const_cast<DICompositeType *>(Definition));
        if (const DIDerivedType *Alias = TypedefOf.lookup(Definition))
            Kept->addOperand(const_cast<DIDerivedType *>(Alias));
    }
}

void removeKeptTypes(Module &M) {
    if (NamedMDNode *Kept = M.getNamedMetadata(KeptTypes))
        Kept->eraseFromParent();
}

std::string DebugTypes::qualified(const DIType &Type, Namespaces Shown) const {
    std::string Name = Type.getName().str();
    for (const DIScope *Scope = Type.getScope(); Scope; Scope = Scope->getScope()) {
        if (isa<DIFile, DICompileUnit, DISubprogram, DIModule>(Scope))
            break;
        if (isa<DILexicalBlockBase>(Scope))
            continue;
        if (const auto *Space = dyn_cast<DINamespace>(Scope); Space && Space->getExportSymbols())
            if (Shown == Namespaces::AsInSource)
                continue;
        StringRef Outer = Scope->getName();
        Name = (Outer.empty() ? "(anonymous namespace)" : Outer.str()) + "::" + Name;
    }
    return Name;
}

std::string DebugTypes::spell(const DIType *Type) const {
    if (!Type)
        return "void";
    if (isa<DISubroutineType>(Type))
        return "function";
    if (const auto *Composite = dyn_cast<DICompositeType>(Type)) {
        if (Type->getTag() == dwarf::DW_TAG_array_type)
            return name(Composite->getBaseType()) + dimensions(*Composite);
        if (!Type->getName().empty())
            return qualified(*Type, Namespaces::AsInSource);
        auto Alias = TypedefOf.find(Composite);
        return Alias == TypedefOf.end() ? "" : qualified(*Alias->second, Namespaces::AsInSource);
    }
    const auto *Derived = dyn_cast<DIDerivedType>(Type);
    if (!Derived)
        return Type->getName().str();
    if (Derived->getTag() == dwarf::DW_TAG_typedef)
        return qualified(*Derived, Namespaces::AsInSource);
    if (isPointer(*Derived)) {
        if (!Derived->getName().empty()) // Rust's
            return Derived->getName().str();
        const std::string &Target = name(Derived->getBaseType());
        if (Target.empty())
            return "";
        return Target + (Target.back() == '*' ? "" : " ") + pointerMark(*Derived).str();
    }
    if (Derived->getTag() == dwarf::DW_TAG_ptr_to_member_type)
        return "pointer to member";
    return isQualifier(*Derived) ? name(Derived->getBaseType()) : Type->getName().str();
}

const std::string &DebugTypes::codeName(const DICompositeType &Type) const {
    auto Known = CodeNames.find(&Type);
    if (Known != CodeNames.end())
        return Known->second;
    auto Alias = TypedefOf.find(&Type);
    const DIType *Named = !Type.getName().empty()    ? static_cast<const DIType *>(&Type)
                          : Alias != TypedefOf.end() ? Alias->second
                                                     : nullptr;
    return CodeNames[&Type] = Named ? withoutArguments(qualified(*Named, Namespaces::All)) : "";
}

const DICompositeType *DebugTypes::find(const StructType &Struct, uint64_t Size) const {
    std::string Name = withoutArguments(sourceName(Struct));
    auto Known = Name.empty() ? ByName.end() : ByName.find(Name);
    if (Known == ByName.end())
        return nullptr;
    const DICompositeType *Found = nullptr;
    for (const DICompositeType *Candidate : Known->second) {
        if (!agree(Struct, Size, Candidate) || Candidate == Found)
            continue;
        if (Found)
            return nullptr;
        Found = Candidate;
    }
    return Found;
}

bool DebugTypes::agree(const StructType &Struct, uint64_t Size, const DIType *Type) const {
    Type = withoutQualifiers(Type);
    if (!isStructure(Type))
        return false;
    uint64_t DebugSize = sizeInBytes(Type);
    bool WithoutPadding = Struct.hasName() && Struct.getName().ends_with(".base");
    if (DebugSize && (WithoutPadding ? Size > DebugSize : Size != DebugSize))
        return false;
    StringRef Mine = sourceName(Struct);
    if (Mine.empty())
        return Type->getName().empty() || !Struct.hasName();
    const std::string &Theirs = codeName(*cast<DICompositeType>(Type));
    return Theirs.empty() || withoutArguments(Mine) == Theirs;
}

const DISubprogram *DebugTypes::program(const Function &F) const {
    if (const DISubprogram *Defined = F.getSubprogram())
        return Defined;
    if (!Members) {
        Members.emplace();
        for (const DICompositeType *Class : Definitions)
            for (const DINode *Element : Class->getElements())
                if (const auto *Member = dyn_cast_or_null<DISubprogram>(Element);
                    Member && !Member->getLinkageName().empty())
                    Members->try_emplace(Member->getLinkageName(), Member);
    }
    return Members->lookup(F.getName());
}

const DICompositeType *DebugTypes::findByTbaaName(StringRef Name) const {
    if (Name.empty())
        return nullptr;
    auto Mangled = ByIdentifier.find(Name);
    if (Mangled != ByIdentifier.end())
        return Mangled->second;
    auto Known = ByName.find(Name);
    bool Unique = Known != ByName.end() && Known->second.size() == 1;
    return Unique ? Known->second.front() : nullptr;
}

} // namespace trackway
