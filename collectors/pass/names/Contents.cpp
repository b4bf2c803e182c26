// Finds what containers, iterators, smart pointers and slots without a name in the source lead to.
#include "names/Accessors.h"
#include "names/DebugTypes.h"
#include "names/Referents.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace trackway {

namespace {

// `int` for `std::vector<int>::value_type`.
const DIType *withoutMemberTypedefs(const DIType *Type) {
    const auto *Typedef = dyn_cast_or_null<DIDerivedType>(Type);
    while (Typedef && Typedef->getTag() == dwarf::DW_TAG_typedef &&
           isa_and_nonnull<DICompositeType>(Typedef->getScope())) {
        Type = Typedef->getBaseType();
        Typedef = dyn_cast_or_null<DIDerivedType>(Type);
    }
    return Type;
}

} // namespace

bool Referents::isNameless(const AllocaInst &Slot) const {
    return all_of(declaredIn(Slot), [](const AttachedVariable &D) { return isCompilerDeclared(*D.Variable); });
}

const Value *Referents::contentOf(const AllocaInst &Slot) const {
    remember(Slot);
    auto [It, New] = Content.try_emplace(&Slot);
    if (New)
        It->second = initialContent(Slot);
    return It->second;
}

// A slot without a name that is written once hands on what was put there.
Referent Referents::ofTemporary(const AllocaInst &Slot, Walk &W) const {
    if (W.Steps == 0)
        return {};
    --W.Steps; // slots may be copies of each other
    const Value *Only = contentOf(Slot);
    if (const auto *Copy = dyn_cast_or_null<MemCpyInst>(Only))
        return loadedFrom(Copy->getRawSource(), *PointerType::get(Copy->getContext(), 0), W);
    return Only ? firstPointer(*Only, W) : Referent();
}

// Flang handles an array by copies of its descriptor, which begins with the address of the data.
Referent Referents::firstPointer(const Value &V, Walk &W) const {
    if (W.Steps == 0)
        return {};
    --W.Steps;
    if (V.getType()->isPointerTy())
        return visit(&V, W);
    const auto *Structure = dyn_cast<StructType>(V.getType());
    if (!Structure || Structure->getNumElements() == 0 || !Structure->getElementType(0)->isPointerTy())
        return {};
    if (const auto *Load = dyn_cast<LoadInst>(&V))
        return loadedFrom(Load->getPointerOperand(), *Structure->getElementType(0), W);
    const Value *Part = FindInsertedValue(const_cast<Value *>(&V), {0u});
    return Part ? visit(Part, W) : Referent();
}

// The reference that `for (auto &x : range)` declares is another name of an element; here, what it refers to.
const Value *Referents::elementOfRange(const AllocaInst &Slot) const {
    auto Declared = declaredIn(Slot);
    const DIType *Type = withoutQualifiers(Declared.front().Variable->getType());
    if (!Type ||
        (Type->getTag() != dwarf::DW_TAG_reference_type && Type->getTag() != dwarf::DW_TAG_rvalue_reference_type))
        return nullptr;
    const Value *Address = contentOf(Slot);
    const Value *Iterator = nullptr;
    if (const auto *Load = dyn_cast_or_null<LoadInst>(Address))
        Iterator = Load->getPointerOperand();
    else if (const auto *Call = dyn_cast_or_null<CallBase>(Address))
        if (auto To = accessor(*Call, Types); To && To->Target == LeadsTo::Pointee)
            Iterator = To->Receiver;
    const auto *Begin = dyn_cast_or_null<AllocaInst>(Iterator);
    return Begin && !declaredIn(*Begin).empty() && isNameless(*Begin) ? Address : nullptr;
}

// The source of the iterator or smart pointer at the address, if it has no name itself.
const Value *Referents::origin(const Value *Iterator) const {
    const auto *Slot = dyn_cast<AllocaInst>(Iterator->stripInBoundsOffsets());
    return Slot && isNameless(*Slot) ? contentOf(*Slot) : nullptr;
}

// `vec` for `vec[i]`, `this->items` for `items.begin()`.
Referent Referents::ofReceiver(const Accessor &To, Walk &W) const {
    Referent R = visit(To.Receiver, W);
    if (R.Base.empty() || R.Kind == VariableKind::CompilerMade || (R.At.empty() && isa<GEPOperator>(To.Receiver)))
        return {};
    Spots At = To.Class ? Paths.object(R.At, *To.Class) : Paths.leaves(R.At, AccessShape());
    AccessName Part;
    Paths.describe(At, Part);
    bool Variable = !R.ThroughPointer && !R.Indexed && !R.Held && Part.Field.empty();
    bool Dereferenced = R.ThroughPointer && !R.Indexed && !R.Held && Part.Field.empty();
    R.Kind = Variable ? R.Kind : VariableKind::Expression;
    R.Base = shortened(Dereferenced ? "(" + R.spell("") + ")" : R.spell(Part.Field));
    R.ThroughPointer = R.Indexed = R.Held = false;
    return R;
}

Referent Referents::ofAccessed(const Accessor &To, Walk &W) const {
    if (W.Steps == 0)
        return {};
    --W.Steps;
    Referent R;
    const Value *From = To.Target == LeadsTo::Pointee ? origin(To.Receiver) : nullptr;
    if (const auto *Copy = dyn_cast_or_null<MemCpyInst>(From)) {
        R = ofAccessed({To.Target, Copy->getRawSource(), To.Class, To.Result}, W);
    } else if (From) {
        R = visit(From, W);
    } else {
        R = ofReceiver(To, W);
        R.Held = To.Target == LeadsTo::Element;
        R.ThroughPointer = To.Target == LeadsTo::Pointee;
    }
    R.ObjectHint.clear();
    R.At = whole(withoutMemberTypedefs(pointee(To.Result)));
    return R;
}

} // namespace trackway
