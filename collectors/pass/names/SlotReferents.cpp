// Referents of slots on the stack, with and without a variable, and of what closures have captured in them.
#include "names/DebugTypes.h"
#include "names/DebugVariables.h"
#include "names/Referents.h"
#include "names/RustTypes.h"
#include "names/UnnamedSlots.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include <utility>

using namespace llvm;

namespace trackway {

// Recording changes a function once its names are known: what was found there may be gone, and another slot in its
// place.
void Referents::remember(const AllocaInst &Slot) const {
    if (std::exchange(Remembered, Slot.getFunction()) == Slot.getFunction())
        return;
    Declared.clear();
    Content.clear();
}

// Remembered, since each store to a variable may have a debug record that must be looked at.
ArrayRef<AttachedVariable> Referents::declaredIn(const AllocaInst &Slot) const {
    remember(Slot);
    auto [It, New] = Declared.try_emplace(&Slot);
    if (New)
        It->second = declaredVariables(Slot);
    return It->second;
}

Referent Referents::ofAlloca(const AllocaInst &Alloca, Walk &W) const {
    auto Declared = declaredIn(Alloca);
    if (!Declared.empty() && !Declared.front().Indirect)
        return ofDeclared(Declared, Alloca.getAllocatedType());
    if (!Alloca.getFunction()->getSubprogram())
        return {};
    // Holds the address of a variable, or something that has no name.
    Referent R = compilerMade(Temporary);
    R.At = structureOf(Alloca.getAllocatedType());
    if (!R.At.empty() || !declaredIn(Alloca).empty() || !isRust(Alloca.getFunction()->getSubprogram()))
        return R;
    Referent Result = resultIn(Alloca);
    return Result.Base.empty() ? ofUnnamed(Alloca, W) : Result;
}

// A slot without a name whose address a variable holds where the access stands, such as `self` of an inlined method.
Referent Referents::referredTo(const AllocaInst &Slot, Referent Unnamed, const Walk &W) const {
    Referent Held = ofDebugValue(Slot, W);
    return Held.Base.empty() ? Unnamed : Held;
}

// Without optimisation, Rust's front end keeps each intermediate result in a slot.
Referent Referents::ofUnnamed(const AllocaInst &Slot, Walk &W) const {
    if (isReturned(Slot, Layout)) {
        Referent R = compilerMade(ReturnValue);
        R.At = whole(resultType(*Slot.getFunction()->getSubprogram()));
        return R;
    }
    Referent R = compilerMade(Temporary);
    R.At = usedAs(Slot, W);
    return R;
}

// What the slot's content becomes or was, in another place.
Spots Referents::usedAs(const AllocaInst &Slot, Walk &W) const {
    for (const Use &U : Slot.uses()) {
        if (const DIType *Type = passedAs(U))
            return whole(Type);
        const Value *Other = copiedTo(U, Slot, Layout);
        Other = Other ? Other : copiedFrom(U, Slot, Layout);
        Spots At = Other ? visit(Other, W).At : Spots();
        if (!At.empty())
            return At;
    }
    return {};
}

// Debug information has nothing of functions that other crates have compiled: only their linkage names.
static Referent ofUndescribedResult(const Function &Callee) {
    Referent R;
    std::string Name = rustFunctionName(Callee.getName());
    if (Name.empty())
        return R;
    R.Base = Name + "()";
    R.Kind = VariableKind::Expression;
    return R;
}

// What a function of Rust has returned into a slot without a name: the front end gives such slots no types.
Referent Referents::resultIn(const AllocaInst &Slot) const {
    const Value *Content = contentOf(Slot);
    if (const auto *Part = dyn_cast_or_null<ExtractValueInst>(Content))
        Content = Part->getAggregateOperand();
    const auto *Call = dyn_cast_or_null<CallBase>(Content);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    const DISubprogram *Program = Callee ? Types.program(*Callee) : nullptr;
    if (Callee && !Program && returnsInto(*Call, Slot, Layout))
        return ofUndescribedResult(*Callee);
    const DIType *Result = Program && isRust(Program) ? resultType(*Program) : nullptr;
    // It may as well be the first part of something larger.
    if (!Result || sizeInBytes(Result) != slotSize(Slot, Layout))
        return {};
    Referent R;
    R.Base = (Program->getName().split('<').first + "()").str();
    R.Kind = VariableKind::Expression;
    R.At = whole(Result);
    return R;
}

// The variable of which a part of a closure's environment is a copy or the address. A variable of the function itself
// is none: it is declared at the slot without an offset.
std::optional<Capture> Referents::captured(const Value &Address) const {
    if (!isa<Argument, LoadInst, GEPOperator, AllocaInst>(Address) || !Address.getType()->isPointerTy())
        return std::nullopt;
    APInt Offset(Layout.getIndexTypeSizeInBits(Address.getType()), 0);
    const Value *Base = Address.stripAndAccumulateConstantOffsets(Layout, Offset, true);
    Environment In = environment(*Base);
    if (!In.Slot || Offset.isNegative())
        return std::nullopt;
    auto Declared = declaredIn(*In.Slot);
    bool IsEnvironment = In.HasAddress || (Declared.size() > 1 && any_of(Declared, [](const auto &Part) {
                                               return Part.Expression->getNumElements() != 0;
                                           }));
    return IsEnvironment ? captureAt(Declared, In, Offset.getZExtValue(), Layout) : std::nullopt;
}

} // namespace trackway
