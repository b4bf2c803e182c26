#include "Referents.h"
#include "DebugTypes.h"
#include "DebugVariables.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace trackway {

namespace {

// An expression longer than this is cut at its front.
constexpr size_t LongestExpression = 72;

std::string shortened(std::string Text) {
    if (Text.size() <= LongestExpression)
        return Text;
    StringRef Tail = StringRef(Text).take_back(LongestExpression);
    size_t Arrow = Tail.find("->");
    return ("..." + (Arrow == StringRef::npos ? Tail : Tail.drop_front(Arrow))).str();
}

Referent compilerMade(StringRef What) {
    Referent P;
    P.Base = What.str();
    P.Kind = VariableKind::CompilerMade;
    return P;
}

// Calls that return one of their arguments, or another pointer to the same object.
const Value *sameObject(const CallBase &Call) {
    switch (Call.getIntrinsicID()) {
    case Intrinsic::launder_invariant_group:
    case Intrinsic::strip_invariant_group:
    case Intrinsic::threadlocal_address:
    case Intrinsic::preserve_static_offset:
    case Intrinsic::ssa_copy:
        return Call.getArgOperand(0);
    default:
        return nullptr;
    }
}

bool isVirtualTablePointer(const Spots &Leaves) {
    return any_of(Leaves, [](const Spot &Leaf) {
        return StringRef(Leaf.Path).rsplit('.').second.starts_with("_vptr") ||
               StringRef(Leaf.Path).starts_with("_vptr");
    });
}

Spots whole(const DIType *Type) {
    Spots At;
    if (Type)
        At.push_back(Spot{Type, 0, nullptr, ""});
    return At;
}

} // namespace

std::string Referent::spell(StringRef Field) const {
    std::string Root = Base + (Indexed ? "[]" : "");
    if (Base.empty())
        return "";
    if (Field.empty())
        return ThroughPointer && !Indexed ? "*" + Base : Root;
    return Root + (ThroughPointer && !Indexed ? "->" : ".") + Field.str();
}

Referent Referents::of(const Value *Pointer) const {
    Walk W;
    return visit(Pointer, W);
}

AccessName Referents::name(const Value *Pointer, const AccessShape &Shape) const {
    Referent P = of(Pointer);
    AccessName Name;
    Name.Variable = P.Base;
    Name.Kind = P.Kind;
    Spots Leaves = Paths.leaves(P.At, Shape);
    Paths.describe(Leaves, Name);
    if (isVirtualTablePointer(Leaves))
        Name.ValueType = "vtable *";
    if (Name.ObjectType.empty())
        Name.ObjectType = P.ObjectHint;
    return Name;
}

Referent Referents::visit(const Value *V, Walk &W) const {
    if (W.Steps == 0)
        return {};
    --W.Steps;
    if (const auto *Global = dyn_cast<GlobalVariable>(V))
        return ofGlobal(*Global);
    if (const auto *Alloca = dyn_cast<AllocaInst>(V))
        return ofAlloca(*Alloca);
    if (const auto *Argument = dyn_cast<llvm::Argument>(V))
        return ofArgument(*Argument);
    if (const auto *Element = dyn_cast<GEPOperator>(V))
        return ofElement(*Element, W);
    if (const auto *Load = dyn_cast<LoadInst>(V))
        return ofLoaded(*Load, W);
    if (const auto *Call = dyn_cast<CallBase>(V))
        return ofResult(*Call, W);
    if (isa<PHINode, SelectInst>(V))
        return ofEither(*V, W);
    if (isa<BitCastOperator, AddrSpaceCastOperator, FreezeInst>(V))
        return visit(cast<User>(V)->getOperand(0), W);
    return ofDebugValue(*V);
}

Referent Referents::ofGlobal(const GlobalVariable &Global) const {
    SmallVector<DIGlobalVariableExpression *, 1> Infos;
    Global.getDebugInfo(Infos);
    for (const DIGlobalVariableExpression *Info : Infos) {
        const DIGlobalVariable *Variable = Info->getVariable();
        if (Variable->getName().empty())
            break;
        Referent P;
        P.Base = Variable->getName().str();
        P.Kind = Global.hasLocalLinkage() || isa<DILocalScope>(Variable->getScope()) ? VariableKind::Static
                                                                                     : VariableKind::Global;
        P.At = whole(Variable->getType());
        return P;
    }
    StringRef Name = Global.getName();
    if (Name.starts_with("_ZTV") || Name.starts_with("_ZTC") || Name.starts_with("_ZTT"))
        return compilerMade("vtable");
    if (Name.starts_with("switch.table."))
        return compilerMade("switch table");
    if (const auto *Data = Global.hasPrivateLinkage() && Global.isConstant() && Global.hasInitializer()
                               ? dyn_cast<ConstantDataSequential>(Global.getInitializer())
                               : nullptr;
        Data && Data->isString())
        return compilerMade("string literal");
    if (Global.hasPrivateLinkage())
        return compilerMade(Global.isConstant() ? "constant" : "temporary");
    Referent P;
    if (!Name.starts_with("_Z"))
        P.Base = Name.str();
    else
        P.Base = Name.str();
    P.Kind = Global.hasLocalLinkage() ? VariableKind::Static : VariableKind::Global;
    return P;
}

Referent Referents::ofVariable(const DILocalVariable &Variable, const DIExpression &Expression) const {
    Referent P;
    P.Base = Variable.getName().str();
    P.Kind = Variable.isParameter() ? VariableKind::Parameter : VariableKind::Local;
    int64_t Start = 0;
    if (auto Fragment = Expression.getFragmentInfo())
        Start = Fragment->OffsetInBits / 8;
    P.At = whole(Variable.getType());
    for (Spot &At : P.At)
        At.Offset = Start;
    return P;
}

Referent Referents::ofAlloca(const AllocaInst &Alloca) const {
    auto Declared = declaredVariable(Alloca);
    if (Declared && Declared.Indirect) {
        // The slot holds the variable's address.
        return {};
    }
    if (Declared)
        return ofVariable(*Declared.Variable, *Declared.Expression);
    Referent P;
    if (Alloca.getFunction()->getSubprogram())
        P = compilerMade("temporary");
    return P;
}

Referent Referents::ofArgument(const Argument &A) const {
    if (auto Declared = declaredVariable(A))
        return ofVariable(*Declared.Variable, *Declared.Expression);
    if (A.hasStructRetAttr()) {
        Referent P = compilerMade("return value");
        if (const DISubprogram *Program = A.getParent()->getSubprogram())
            P.At = whole(resultType(*Program));
        return P;
    }
    // The front end stores a parameter to its slot before anything else.
    for (const User *U : A.users())
        if (const auto *Store = dyn_cast<StoreInst>(U); Store && Store->getValueOperand() == &A)
            if (const auto *Slot = dyn_cast<AllocaInst>(Store->getPointerOperand()))
                if (auto Declared = declaredVariable(*Slot))
                    return pointedTo(ofVariable(*Declared.Variable, *Declared.Expression),
                                     whole(Declared.Variable->getType()));
    return ofDebugValue(A);
}

Referent Referents::ofDebugValue(const Value &V) const {
    auto Held = heldVariable(V);
    if (!Held)
        return {};
    return pointedTo(ofVariable(*Held.Variable, *Held.Expression), whole(Held.Variable->getType()));
}

Referent Referents::pointedTo(Referent Holder, Spots Leaves) const {
    if (isVirtualTablePointer(Leaves))
        return compilerMade("vtable");
    Referent P;
    AccessName Field;
    Paths.describe(Leaves, Field);
    bool Variable = !Holder.ThroughPointer && !Holder.Indexed && Field.Field.empty();
    P.Base = Variable ? Holder.Base : shortened(Holder.spell(Field.Field));
    P.Kind = Variable ? Holder.Kind : VariableKind::Expression;
    P.ThroughPointer = true;
    for (const Spot &Leaf : Leaves) {
        const DIType *Bare = withoutQualifiers(Leaf.Type);
        if (Bare && Bare->getTag() != dwarf::DW_TAG_pointer_type)
            P.ThroughPointer = false; // a reference reads like the object
        for (Spot &Target : whole(pointee(Leaf.Type)))
            P.At.push_back(std::move(Target));
    }
    return P;
}

Referent Referents::ofLoaded(const LoadInst &Load, Walk &W) const {
    if (W.Loads == 0)
        return {};
    --W.Loads;
    const Value *Address = Load.getPointerOperand();
    if (const auto *Slot = dyn_cast<AllocaInst>(Address)) {
        auto Declared = declaredVariable(*Slot);
        if (Declared && Declared.Indirect)
            return ofVariable(*Declared.Variable, *Declared.Expression);
        if (!Declared)
            return ofTemporary(*Slot, {}, W);
    }
    Referent Holder = visit(Address, W);
    AccessShape Shape{Layout.getTypeStoreSize(Load.getType()).getKnownMinValue(), Load.getType(), std::nullopt};
    Spots Leaves = Paths.leaves(Holder.At, Shape);
    if (Holder.Kind == VariableKind::CompilerMade && Holder.Base == "vtable")
        return Holder;
    return pointedTo(std::move(Holder), std::move(Leaves));
}

// A slot without a name that is written once hands on what was put there.
Referent Referents::ofTemporary(const AllocaInst &Slot, Referent Unknown, Walk &W) const {
    const StoreInst *Only = nullptr;
    for (const User *U : Slot.users()) {
        const auto *Store = dyn_cast<StoreInst>(U);
        if (!Store || Store->getPointerOperand() != &Slot)
            continue;
        if (Only)
            return Unknown;
        Only = Store;
    }
    return Only && Only->getValueOperand()->getType()->isPointerTy() ? visit(Only->getValueOperand(), W) : Unknown;
}

Referent Referents::ofResult(const CallBase &Call, Walk &W) const {
    if (const Value *Same = sameObject(Call))
        return visit(Same, W);
    Referent P = ofDebugValue(Call);
    if (!P.Base.empty())
        return P;
    const Function *Callee = Call.getCalledFunction();
    if (!Callee || Callee->isIntrinsic())
        return P;
    const DISubprogram *Program = Callee->getSubprogram();
    P.Base = (Program ? Program->getName() : Callee->getName()).str() + "()";
    P.Kind = VariableKind::Expression;
    P.ThroughPointer = true;
    if (const DIType *Result = Program ? resultType(*Program) : nullptr) {
        P.At = whole(pointee(Result));
        const DIType *Bare = withoutQualifiers(Result);
        P.ThroughPointer = Bare->getTag() == dwarf::DW_TAG_pointer_type;
    }
    return P;
}

Referent Referents::ofEither(const Value &V, Walk &W) const {
    Referent Debug = ofDebugValue(V);
    if (!Debug.Base.empty())
        return Debug;
    SmallVector<const Value *, 4> Choices;
    if (const auto *Select = dyn_cast<SelectInst>(&V))
        Choices = {Select->getTrueValue(), Select->getFalseValue()};
    else
        Choices.append(cast<PHINode>(V).value_op_begin(), cast<PHINode>(V).value_op_end());
    erase_if(Choices, [](const Value *Choice) { return isa<ConstantPointerNull, UndefValue>(Choice); });
    if (Choices.empty() || Choices.size() > 3)
        return {};
    Referent Joined = visit(Choices.front(), W);
    for (const Value *Choice : drop_begin(Choices)) {
        Referent Other = visit(Choice, W);
        bool SameSpots = Joined.At.size() == 1 && Other.At.size() == 1 &&
                         withoutQualifiers(Joined.At[0].Type) == withoutQualifiers(Other.At[0].Type) &&
                         Joined.At[0].Offset == Other.At[0].Offset && Joined.At[0].Path == Other.At[0].Path;
        Joined.Base = joinNames({Joined.Base, Other.Base});
        if (Joined.Kind != Other.Kind)
            Joined.Kind = VariableKind::Unknown;
        if (!SameSpots)
            Joined.At.clear();
        if (Joined.ObjectHint != Other.ObjectHint)
            Joined.ObjectHint.clear();
        Joined.Indexed |= Other.Indexed;
    }
    return Joined;
}

Referent Referents::ofElement(const GEPOperator &Element, Walk &W) const {
    Referent P = visit(Element.getPointerOperand(), W);
    if (auto *Struct = dyn_cast<StructType>(Element.getSourceElementType()); Struct && Struct->isSized()) {
        uint64_t Size = Layout.getTypeAllocSize(Struct);
        Spots Focused = Paths.focus(P.At, *Struct, Size);
        if (Focused.empty() && Struct->hasName()) {
            // A cast: the code says what it takes the object for.
            P.At = whole(Types.find(*Struct, Size));
            P.ObjectHint = P.At.empty() ? sourceName(*Struct).str() : "";
        } else if (!Focused.empty()) {
            P.At = std::move(Focused);
        }
    }
    applyOffsets(Element, P);
    return P;
}

void Referents::applyOffsets(const GEPOperator &Element, Referent &P) const {
    unsigned Width = Layout.getIndexTypeSizeInBits(Element.getType());
    MapVector<Value *, APInt> Variable;
    APInt Constant(Width, 0);
    if (!Element.collectOffset(Layout, Width, Variable, Constant)) {
        P.At.clear();
        return;
    }
    const auto *First = dyn_cast<ConstantInt>(Element.idx_begin()->get());
    bool Subscript = !First || !First->isZero();
    Type *Source = Element.getSourceElementType();
    uint64_t Stride = Source->isSized() ? Layout.getTypeAllocSize(Source).getKnownMinValue() : 0;
    bool InsideObject = any_of(P.At, [](const Spot &At) { return At.Object || !At.Path.empty(); });
    P.Indexed |= !InsideObject && (Subscript || Source->isArrayTy()) && !Source->isStructTy();
    P.Indexed |= !InsideObject && Subscript;

    // Strides first, coarse before fine: each finds the array (or the pointer's target) whose elements it counts.
    SmallVector<uint64_t, 4> Strides;
    for (const auto &[Index, Scale] : Variable)
        Strides.push_back(Scale.abs().getZExtValue());
    llvm::sort(Strides, std::greater<uint64_t>());
    bool Steps = Subscript && First && Stride;
    for (Spot &At : P.At) {
        At.Offset += Constant.getSExtValue();
        // `p[-1].x`: the elements before and after the first look like it.
        int64_t Size = sizeInBytes(At.Type);
        if (Steps && Size && Stride == static_cast<uint64_t>(Size))
            At.Offset = ((At.Offset % Size) + Size) % Size;
    }
    for (uint64_t OneStride : Strides)
        if (OneStride)
            P.At = Paths.step(P.At, OneStride);
}

} // namespace trackway
