#include "names/Accessors.h"
#include "names/DebugTypes.h"
#include "names/DebugVariables.h"
#include "names/RustTypes.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include <cstdlib>

using namespace llvm;

namespace trackway {

namespace {

// The function that is called, as far as debug information and the mangled name tell.
struct Callee {
    std::string Name; // without scope and template arguments
    const DIType *Class = nullptr;
    const DIType *Result = nullptr;
    bool IsMember = false;
    bool IsStandard = false; // directly in namespace std
};

std::string withoutTemplateArguments(StringRef Name) {
    return (Name.starts_with("operator") ? Name : Name.take_until([](char C) { return C == '<'; })).str();
}

bool isStandard(const DIScope *Scope) {
    const auto *Space = dyn_cast_or_null<DINamespace>(Scope);
    while (Space && Space->getExportSymbols()) // inline
        Space = dyn_cast_or_null<DINamespace>(Space->getScope());
    return Space && Space->getName() == "std" && !Space->getScope();
}

Callee describe(const DISubprogram &Program) {
    Callee C;
    C.Name = withoutTemplateArguments(Program.getName());
    C.Result = resultType(Program);
    C.Class = dyn_cast_or_null<DICompositeType>(Program.getScope());
    const DISubroutineType *Type = Program.getType();
    DITypeRefArray Types = Type ? Type->getTypeArray() : DITypeRefArray();
    C.IsMember = C.Class && Types.size() > 1 && Types[1] && Types[1]->isArtificial();
    C.IsStandard = isStandard(Program.getScope());
    if (C.IsStandard && Types.size() > 1)
        C.Class = pointee(Types[1]);
    return C;
}

// Without debug information only operators are known: nothing else surely is a member.
Callee describe(StringRef LinkageName) {
    Callee C;
    ItaniumPartialDemangler Demangler;
    if (!LinkageName.starts_with("_ZN") || Demangler.partialDemangle(LinkageName.str().c_str()) ||
        !Demangler.isFunction())
        return C;
    if (char *Name = Demangler.getFunctionBaseName(nullptr, nullptr)) {
        C.IsMember = StringRef(Name).starts_with("operator");
        C.Name = Name;
        std::free(Name);
    }
    return C;
}

bool returnsReference(const Callee &C) {
    const DIType *Type = withoutQualifiers(C.Result);
    return Type && Type->getTag() == dwarf::DW_TAG_reference_type;
}

// Where a member function's result leads, by its name and its arguments besides the object.
std::optional<LeadsTo> memberTarget(const Callee &C, unsigned Arguments) {
    if (C.Name == "operator()") // of a matrix; those of functions and lambdas are anything
        return returnsReference(C) && !C.Class->getName().empty() && C.Class->getName() != "function"
                   ? std::optional(LeadsTo::Element)
                   : std::nullopt;
    if (Arguments == 0)
        return StringSwitch<std::optional<LeadsTo>>(C.Name)
            .Cases("operator*", "operator->", "get", LeadsTo::Pointee)
            .Case("value", LeadsTo::Part)
            .Cases("begin", "end", "cbegin", "cend", "data", "c_str", "front", "back", "top", LeadsTo::Element)
            .Cases("rbegin", "rend", "crbegin", "crend", LeadsTo::Element)
            .Default(std::nullopt);
    return StringSwitch<std::optional<LeadsTo>>(C.Name)
        .Cases("operator[]", "at", LeadsTo::Element)
        .Default(std::nullopt);
}

std::optional<LeadsTo> freeTarget(const Callee &C) {
    return StringSwitch<std::optional<LeadsTo>>(C.Name)
        .Cases("begin", "end", "cbegin", "cend", "rbegin", "rend", "data", LeadsTo::Element)
        .Cases("get", "forward", "move", "addressof", "__addressof", "as_const", LeadsTo::Part)
        .Default(std::nullopt);
}

// Methods of Rust's traits that the compiler calls for `v[i]` and `*v`.
std::optional<LeadsTo> rustTarget(const Callee &C) {
    return StringSwitch<std::optional<LeadsTo>>(C.Name)
        .Cases("index", "index_mut", "get_unchecked", "get_unchecked_mut", LeadsTo::Element)
        .Cases("deref", "deref_mut", LeadsTo::Pointee)
        .Default(std::nullopt);
}

// Whether what is stored is the slot's own content, one step further.
bool continues(const Value *Stored, const AllocaInst &Slot) {
    for (unsigned Depth = 0; Depth < 4; ++Depth) {
        if (const auto *Load = dyn_cast<LoadInst>(Stored))
            return Load->getPointerOperand() == &Slot;
        const auto *Element = dyn_cast<GEPOperator>(Stored);
        if (!Element)
            return false;
        Stored = Element->getPointerOperand();
    }
    return false;
}

const Value *putThere(const Use &U, const AllocaInst &Slot) {
    const User *By = U.getUser();
    if (const auto *Store = dyn_cast<StoreInst>(By))
        return U.getOperandNo() == StoreInst::getPointerOperandIndex() && !continues(Store->getValueOperand(), Slot)
                   ? Store->getValueOperand()
                   : nullptr;
    if (const auto *Copy = dyn_cast<MemCpyInst>(By))
        return &Copy->getRawDestUse() == &U ? Copy : nullptr;
    const auto *Call = dyn_cast<CallBase>(By);
    bool ReturnsThere =
        Call && Call->isArgOperand(&U) && Call->paramHasAttr(Call->getArgOperandNo(&U), Attribute::StructRet);
    return ReturnsThere ? Call : nullptr;
}

// Whether exactly one thing is found that is put to the address, directly or as the first part of the whole.
bool findContent(const Value &Address, const AllocaInst &Slot, const Value *&Found) {
    for (const Use &U : Address.uses()) {
        const auto *Inner = dyn_cast<GEPOperator>(U.getUser());
        if (Inner && Inner->hasAllZeroIndices() && !findContent(*Inner, Slot, Found))
            return false;
        const Value *Content = putThere(U, Slot);
        if (Content && Found && Found != Content)
            return false;
        if (Content)
            Found = Content;
    }
    return true;
}

} // namespace

std::optional<Accessor> accessor(const CallBase &Call, const DebugTypes &Types) {
    const Function *Function = Call.getCalledFunction();
    if (!Function || Function->isIntrinsic())
        return std::nullopt;
    unsigned First = Call.hasStructRetAttr() ? 1 : 0;
    if (Call.arg_size() <= First || !Call.getArgOperand(First)->getType()->isPointerTy())
        return std::nullopt;
    const DISubprogram *Program = Types.program(*Function);
    Callee C = Program ? describe(*Program) : describe(Function->getName());
    unsigned Further = Call.arg_size() - First - 1;
    std::optional<LeadsTo> Target;
    if (Program && isRust(Program))
        Target = rustTarget(C);
    else if (C.IsMember)
        Target = memberTarget(C, Further);
    else if (C.IsStandard && Further == 0)
        Target = freeTarget(C);
    if (!Target)
        return std::nullopt;
    return Accessor{*Target, Call.getArgOperand(First), withoutQualifiers(C.Class), C.Result};
}

const Value *initialContent(const AllocaInst &Slot) {
    const Value *Found = nullptr;
    return findContent(Slot, Slot, Found) ? Found : nullptr;
}

} // namespace trackway
