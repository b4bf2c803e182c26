#include "names/RustTypes.h"
#include "LlvmVersion.h"
#include "code/Allocators.h"
#include "names/DebugTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Demangle/Demangle.h"
#include <tuple>

using namespace llvm;

namespace trackway {

const DICompositeType *asVariantPart(const DINode *Element) {
    const auto *Composite = dyn_cast_or_null<DICompositeType>(Element);
    return Composite && Composite->getTag() == dwarf::DW_TAG_variant_part ? Composite : nullptr;
}

const DIDerivedType *discriminator(const DICompositeType &VariantPart) {
    return dyn_cast_or_null<DIDerivedType>(VariantPart.getDiscriminator());
}

RustOwner ownerKind(StringRef Name) {
    static constexpr StringRef Elements[] = {
        "alloc::vec::Vec<",
        "alloc::raw_vec::RawVec<",
        "alloc::vec::into_iter::IntoIter<",
        "alloc::string::String",
        "core::slice::iter::",
        "alloc::collections::vec_deque::VecDeque<",
        "hashbrown::map::HashMap<",
        "hashbrown::set::HashSet<",
        "hashbrown::raw::RawTable<",
        "std::collections::hash::",
        "&[",
        "&mut [",
        "alloc::boxed::Box<[",
        "*const [",
        "*mut [",
        "&str",
        "&mut str",
        "alloc::boxed::Box<str",
        "hashbrown::raw::RawTableInner",
    };
    static constexpr StringRef Pointers[] = {
        "alloc::boxed::Box<",         "alloc::rc::",  "alloc::sync::",   "core::ptr::non_null::NonNull<",
        "core::ptr::unique::Unique<", "core::cell::", "core::pin::Pin<",
    };
    auto Begins = [&](StringRef Known) { return Name.starts_with(Known); };
    if (any_of(Elements, Begins))
        return RustOwner::Elements;
    return any_of(Pointers, Begins) ? RustOwner::Pointer : RustOwner::None;
}

static const DIType *parameterT(DITemplateParameterArray Parameters) {
    for (const DITemplateParameter *Parameter : Parameters)
        if (isa<DITemplateTypeParameter>(Parameter) && Parameter->getName() == "T")
            return Parameter->getType();
    return nullptr;
}

const DIType *elementOfOwner(const DIType &Owner) {
    const auto *Composite = dyn_cast_or_null<DICompositeType>(withoutQualifiers(&Owner));
    return Composite ? parameterT(Composite->getTemplateParams()) : nullptr;
}

const DIType *entryOfTable(const DIType &Type) {
    const DIScope *Module = Type.getScope();
    bool IsTable = Type.getName().starts_with("RawTable<") && Module && Module->getName() == "raw";
    return IsTable ? elementOfOwner(Type) : nullptr;
}

const DIType *allocatedType(const CallBase &Call) {
    const Function *Callee = Call.getCalledFunction();
    if (!Callee || !rustAllocator(Callee->getName()).starts_with("__rust_"))
        return nullptr;
    for (const DILocation *At = Call.getDebugLoc().get(); At && isInStandardLibrary(*At); At = At->getInlinedAt())
        if (const DIType *Type = parameterT(At->getScope()->getSubprogram()->getTemplateParams()))
            return Type;
    return nullptr;
}

// `path::name::<T>` without the last part.
static StringRef withoutArguments(StringRef Path) {
    int Open = 0;
    size_t End = Path.size();
    do {
        if (End == 0 || !Path.ends_with(">"))
            return Path;
        --End;
        Open += Path[End] == '>' ? 1 : Path[End] == '<' ? -1 : 0;
    } while (Open != 0);
    return Path.take_front(End).rtrim(':');
}

std::string rustFunctionName(StringRef LinkageName) {
    std::string Demangled = demangle(LinkageName);
    StringRef Path = Demangled;
    bool IsOlderScheme = LinkageName.starts_with("_ZN");
    if (!IsOlderScheme && !LinkageName.starts_with("_R"))
        return "";
    if (IsOlderScheme) {
        StringRef Hash;
        std::tie(Path, Hash) = Path.rsplit("::");
        if (Hash.size() != 17 || !Hash.consume_front("h") || !all_of(Hash, isHexDigit))
            return "";
    }
    StringRef Name = withoutArguments(Path);
    Name = Name.contains("::") ? Name.rsplit("::").second : Name;
    bool IsIdentifier = !Name.empty() && all_of(Name, [](char C) { return isAlnum(C) || C == '_'; });
    return IsIdentifier ? Name.str() : "";
}

bool isRustReference(const DIType *Type) {
    const auto *Pointer = dyn_cast_or_null<DIDerivedType>(withoutQualifiers(Type));
    return Pointer && !Pointer->getName().empty() && !Pointer->getName().starts_with("*");
}

bool isRust(const DIScope *Scope) {
    const auto *Local = dyn_cast_or_null<DILocalScope>(Scope);
    const DISubprogram *Program = Local ? Local->getSubprogram() : nullptr;
    return Program && Program->getUnit() && languageOf(*Program->getUnit()) == dwarf::DW_LANG_Rust;
}

bool isInStandardLibrary(const DILocation &At) {
    auto IsThere = [](StringRef Path) {
        return Path.starts_with("/rustc/") || Path.starts_with("/rust/deps/") ||
               Path.contains("/lib/rustlib/src/rust/");
    };
    return IsThere(At.getFilename()) || IsThere(At.getDirectory());
}

} // namespace trackway
