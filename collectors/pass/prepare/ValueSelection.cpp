#include "prepare/ValueSelection.h"

#include "names/DebugTypes.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace trackway {

// ---- Which accesses ----

static Error unreadable(StringRef Pattern, const Twine &Why) {
    return createStringError(inconvertibleErrorCode(), "trackway: values '" + Pattern + "': " + Why);
}

Expected<ValueSelection> ValueSelection::read(const std::vector<std::string> &Patterns) {
    ValueSelection Selection;
    for (StringRef Text : Patterns) {
        if (Text == "*") {
            Selection.All = true;
            continue;
        }
        auto [Prefix, Glob] = Text.split(':');
        auto S = StringSwitch<std::optional<Subject>>(Prefix)
                     .Case("variable", Subject::Variable)
                     .Case("field", Subject::Field)
                     .Case("type", Subject::Type)
                     .Case("function", Subject::Function)
                     .Default(std::nullopt);
        if (!S || Glob.empty())
            return unreadable(Text, "known are variable:GLOB, field:GLOB, type:GLOB, function:GLOB and *");
        auto Compiled = GlobPattern::create(Glob);
        if (!Compiled)
            return unreadable(Text, toString(Compiled.takeError()));
        Selection.Patterns.push_back({*S, std::move(*Compiled)});
    }
    return std::move(Selection);
}

bool ValueSelection::anyMatches(Subject S, StringRef Name) const {
    return !Name.empty() && any_of(Patterns, [&](const Pattern &P) { return P.S == S && P.Glob.match(Name); });
}

bool ValueSelection::selects(const Instruction &Access, const AccessName &Name) const {
    if (All)
        return true;
    if (Patterns.empty())
        return false;
    std::string Field = Name.Field.empty() ? "" : Name.ObjectType + "." + Name.Field;
    return anyMatches(Subject::Variable, Name.Variable) || anyMatches(Subject::Field, Field) ||
           anyMatches(Subject::Type, Name.ObjectType) || anyMatches(Subject::Type, Name.ValueType) ||
           selectsFunction(Access);
}

bool ValueSelection::selectsFunction(const Instruction &Access) const {
    auto Matches = [&](const DISubprogram *Program) {
        return Program && (anyMatches(Subject::Function, Program->getLinkageName()) ||
                           anyMatches(Subject::Function, Program->getName()));
    };
    const Function &Holder = *Access.getFunction();
    if (anyMatches(Subject::Function, Holder.getName()) || Matches(Holder.getSubprogram()))
        return true;
    const DILocation *Location = Access.getDebugLoc();
    return Location && Matches(Location->getScope()->getSubprogram());
}

// ---- What their values are ----

// How values of a type are read, by the type's name.
struct RecordedValues::TypeForms {
    struct Form {
        ValueForm F;
        uint64_t Bits;
    };

    explicit TypeForms(const Module &M) {
        DebugTypes Types(M);
        DebugInfoFinder Finder;
        Finder.processModule(M);
        for (const DIType *T : Finder.types())
            if (auto Found = formOf(T))
                ByName.try_emplace(Types.name(T), *Found);
    }

    static std::optional<Form> formOf(const DIType *T) {
        T = withoutQualifiers(T);
        while (auto *Composite = dyn_cast_or_null<DICompositeType>(T)) {
            auto Tag = Composite->getTag();
            if (Tag != dwarf::DW_TAG_array_type && Tag != dwarf::DW_TAG_enumeration_type)
                return std::nullopt;
            T = withoutQualifiers(Composite->getBaseType());
        }
        auto *Basic = dyn_cast_or_null<DIBasicType>(T);
        auto Encoded = Basic ? formOf(*Basic) : std::nullopt;
        return Encoded ? std::optional<Form>({*Encoded, Basic->getSizeInBits()}) : std::nullopt;
    }

    // `signed char` and `unsigned char` are small integers.
    static std::optional<ValueForm> formOf(const DIBasicType &T) {
        if (T.getName() == "char")
            return ValueForm::Character;
        switch (T.getEncoding()) {
        case dwarf::DW_ATE_boolean:
            return ValueForm::Boolean;
        case dwarf::DW_ATE_float:
            return ValueForm::Float;
        case dwarf::DW_ATE_signed:
        case dwarf::DW_ATE_signed_char:
            return ValueForm::Signed;
        case dwarf::DW_ATE_unsigned:
        case dwarf::DW_ATE_unsigned_char:
            return ValueForm::Unsigned;
        case dwarf::DW_ATE_UTF:
            return ValueForm::Character;
        default:
            return std::nullopt;
        }
    }

    // The form of an integer of so many bits. A part of a value, or several values at once, has no type's form.
    ValueForm find(StringRef TypeName, unsigned Bits) const {
        if (TypeName.consume_back("_BitInt")) // of any width
            return TypeName.empty() ? ValueForm::Signed : ValueForm::Unsigned;
        auto It = ByName.find(TypeName.take_until([](char C) { return C == '['; })); // `int` for `int[10]`
        return It == ByName.end() || It->second.Bits != Bits ? ValueForm::Bits : It->second.F;
    }

    StringMap<Form> ByName;
};

RecordedValues::RecordedValues(const Module &M, const ValueSelection &Selection)
    : DL(M.getDataLayout()), Selection(Selection) {
    if (!Selection.isEmpty())
        Forms = std::make_unique<TypeForms>(M);
}

RecordedValues::~RecordedValues() = default;

static const Type *elementType(const Instruction &I) {
    const Type *T = I.getType();
    if (T->isVoidTy())
        T = I.getOperand(0)->getType();
    if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
        T = Exchange->getCompareOperand()->getType();
    return T->getScalarType();
}

std::optional<ValueShape> RecordedValues::shape(const Instruction &Access, const AccessName &Name) const {
    if (Selection.isEmpty() || !Selection.selects(Access, Name))
        return std::nullopt;
    auto Shape = shapeOfAccess(Access, DL);
    if (!Shape)
        return std::nullopt;
    const Type *T = elementType(Access);
    if (T->isPointerTy())
        Shape->Form = ValueForm::Pointer;
    else if (T->isFloatingPointTy())
        Shape->Form = T->isBFloatTy() ? ValueForm::BrainFloat : ValueForm::Float;
    else if (T->isIntegerTy(1))
        Shape->Form = ValueForm::Boolean;
    else if (T->isIntegerTy())
        Shape->Form = Forms->find(Name.ValueType, Shape->Bits);
    return Shape;
}

} // namespace trackway
