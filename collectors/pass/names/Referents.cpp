#include "names/Referents.h"
#include "LlvmVersion.h"
#include "code/Allocators.h"
#include "names/Accessors.h"
#include "names/DebugTypes.h"
#include "names/DebugVariables.h"
#include "names/RustTypes.h"
#include "names/UnnamedSlots.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include <utility>

using namespace llvm;

namespace trackway {

namespace {

// An expression longer than this is cut at its front.
constexpr size_t LongestExpression = 72;

// Calls that return one of their arguments, or another pointer to the same object.
const Value *sameObject(const CallBase &Call) {
    switch (Call.getIntrinsicID()) {
    case Intrinsic::launder_invariant_group:
    case Intrinsic::strip_invariant_group:
    case Intrinsic::threadlocal_address:
    case Intrinsic::ssa_copy:
        return Call.getArgOperand(0);
    default:
        return isStaticOffsetBarrier(Call.getIntrinsicID()) ? Call.getArgOperand(0) : nullptr;
    }
}

bool isVirtualTablePointer(const Spots &Leaves) {
    return any_of(Leaves, [](const Spot &Leaf) {
        return StringRef(Leaf.Path).rsplit('.').second.starts_with("_vptr") ||
               StringRef(Leaf.Path).starts_with("_vptr");
    });
}

// The headers of intrinsics access unaligned memory as a structure with one member, `__storeu_si128`, which is no type
// of the program's.
bool isAccessHelper(const StructType &Struct) {
    StringRef Name = sourceName(Struct);
    return Struct.getNumElements() == 1 && Name.starts_with("__") && !Name.contains("::");
}

bool isScalar(const DIType *Type) {
    const DIType *Bare = withoutQualifiers(Type);
    return Bare && !isStructure(Bare) && !isArray(Bare);
}

// Optimised code reaches members by bytes: `getelementptr i8, ptr %p, i64 8`.
bool isByteOffset(const GEPOperator &Element, const Spots &At, const APInt &Bytes) {
    return Element.getSourceElementType()->isIntegerTy(8) && !At.empty() && all_of(At, [&](const Spot &Spot) {
               return isStructure(withoutQualifiers(Spot.Type)) && Bytes.ult(sizeInBytes(Spot.Type));
           });
}

// A hash table's pointer leads to its control bytes; before these lie the entries, which alone are as far apart as an
// entry is large.
void enterTable(Spot &At, ArrayRef<uint64_t> Strides) {
    uint64_t Size = At.Entry ? sizeInBytes(At.Entry) : 0;
    if (Size < 2 || !is_contained(Strides, Size))
        return;
    At.Type = At.Entry;
    At.Offset = 0;
}

bool isSame(const Spot &A, const Spot &B) {
    return withoutQualifiers(A.Type) == withoutQualifiers(B.Type) && A.Offset == B.Offset && A.Path == B.Path;
}

// Whether something of this type stands at the begin of the other.
bool beginsWith(const DIType *Whole, const DIType *Part, const DebugTypes &Types) {
    Spots First = whole(Whole);
    while (!First.empty() && withoutQualifiers(First[0].Type) != withoutQualifiers(Part))
        First = partsAtOffset(First[0], Types);
    return !First.empty();
}

// Without pointers to the first member of what another one points to.
void dropInner(SmallVectorImpl<Referent> &Held, const DebugTypes &Types) {
    auto Within = [&](const Referent &Inner, const Referent &Outer) {
        return Inner.At.size() == 1 && Outer.At.size() == 1 && !isSame(Inner.At[0], Outer.At[0]) &&
               beginsWith(Outer.At[0].Type, Inner.At[0].Type, Types);
    };
    SmallVector<Referent, 2> All(Held.begin(), Held.end());
    erase_if(Held, [&](const Referent &Inner) {
        return any_of(All, [&](const Referent &Outer) { return Within(Inner, Outer); });
    });
}

void addSpots(const Spots &More, Spots &All) {
    for (const Spot &At : More)
        if (none_of(All, [&](const Spot &Known) { return isSame(Known, At); }))
            All.push_back(At);
}

bool isVoidPointer(const DIType *Type) {
    const auto *Pointer = dyn_cast_or_null<DIDerivedType>(withoutQualifiers(Type));
    return Pointer && Pointer->getTag() == dwarf::DW_TAG_pointer_type && !withoutQualifiers(Pointer->getBaseType());
}

// What may be any of them.
Referent joined(ArrayRef<Referent> Choices) {
    if (Choices.size() < 2)
        return Choices.empty() ? Referent() : Choices.front();
    Referent Joined;
    Joined.Kind = Choices.front().Kind;
    Joined.ThroughPointer = Choices.front().ThroughPointer;
    Joined.ObjectHint = Choices.front().ObjectHint;
    SmallVector<std::string, 4> Names;
    for (const Referent &Choice : Choices) {
        Names.push_back(Choice.variable());
        addSpots(Choice.At, Joined.At);
        Joined.Indexed |= Choice.Indexed;
        if (Joined.Kind != Choice.Kind)
            Joined.Kind = VariableKind::Unknown;
        if (Joined.ObjectHint != Choice.ObjectHint)
            Joined.ObjectHint.clear();
    }
    Joined.Base = joinNames(Names);
    if (any_of(Choices, [](const Referent &Choice) { return Choice.At.empty(); }))
        Joined.At.clear();
    return Joined;
}

} // namespace

Referent compilerMade(StringRef What) {
    Referent R;
    R.Base = What.str();
    R.Kind = VariableKind::CompilerMade;
    return R;
}

std::string shortened(std::string Text) {
    if (Text.size() <= LongestExpression)
        return Text;
    StringRef Tail = StringRef(Text).take_back(LongestExpression);
    size_t Arrow = Tail.find("->");
    return ("..." + (Arrow == StringRef::npos ? Tail : Tail.drop_front(Arrow))).str();
}

std::string Referent::spell(StringRef Field) const {
    bool Element = Indexed || Held;
    std::string Root = Base + (Element ? "[]" : "");
    if (Base.empty())
        return "";
    if (Field.empty())
        return ThroughPointer && !Element ? "*" + Base : Root;
    return Root + (ThroughPointer && !Element ? "->" : ".") + Field.str();
}

Referent Referents::of(const Value *Pointer) const {
    Walk W;
    return visit(Pointer, W);
}

AccessName Referents::name(const Value *Pointer, const AccessShape &Shape, const DILocation *Reader) const {
    Walk W;
    W.Reader = Reader;
    Referent R = visit(Pointer, W);
    AccessName Name;
    Name.Variable = R.variable();
    Name.Kind = R.Kind;
    Spots Leaves = Paths.leaves(R.At, Shape);
    Paths.describe(Leaves, Name);
    if (isVirtualTablePointer(Leaves))
        Name.ValueType = "vtable *";
    if (Name.ObjectType.empty())
        Name.ObjectType = R.ObjectHint;
    bool Block = !Shape.Type;
    if (Block && R.Untyped && Name.ObjectType.empty() && Name.ValueType.empty())
        Name.ValueType = NoType;
    return Name;
}

Referent Referents::visit(const Value *V, Walk &W) const {
    if (W.Steps == 0)
        return {};
    --W.Steps;
    if (auto Origin = Origins.find(V); Origin != Origins.end()) {
        W.Reader = Origin->second.second;
        return visit(Origin->second.first, W);
    }
    Referent R = computed(V, W);
    bool Complete = !R.Base.empty() && (!R.At.empty() || !R.ObjectHint.empty());
    if (const auto *Slot = dyn_cast<AllocaInst>(V))
        return R.Kind == VariableKind::CompilerMade ? referredTo(*Slot, std::move(R), W) : R;
    if (Complete || isa<Constant>(V) || R.Kind == VariableKind::CompilerMade)
        return R;
    // Where how the pointer came about doesn't say what it points to, a variable that holds it may.
    Referent Held = ofDebugValue(*V, W);
    bool SaysMore = R.Base.empty() || !Held.At.empty();
    return !Held.Base.empty() && SaysMore ? Held : R;
}

Referent Referents::computed(const Value *V, Walk &W) const {
    if (auto Capture = captured(*V))
        return ofCapture(*Capture, false);
    if (const auto *Global = dyn_cast<GlobalVariable>(V))
        return ofGlobal(*Global);
    if (const auto *Alloca = dyn_cast<AllocaInst>(V))
        return ofAlloca(*Alloca, W);
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
    if (const auto *Part = dyn_cast<ExtractValueInst>(V);
        Part && all_of(Part->indices(), [](unsigned I) { return I == 0; }))
        return firstPointer(*Part->getAggregateOperand(), W);
    if (isa<BitCastOperator, AddrSpaceCastOperator, FreezeInst>(V))
        return visit(cast<User>(V)->getOperand(0), W);
    return {};
}

Referent Referents::ofGlobal(const GlobalVariable &Global) const {
    if (const DIGlobalVariable *Variable = describedVariable(Global); Variable && !Variable->getName().empty()) {
        Referent R;
        R.Base = Variable->getName().str();
        R.Kind = Global.hasLocalLinkage() || isa<DILocalScope>(Variable->getScope()) ? VariableKind::Static
                                                                                     : VariableKind::Global;
        R.At = whole(Variable->getType());
        return R;
    }
    StringRef Name = Global.getName();
    if (Name.starts_with("_ZTV") || Name.starts_with("_ZTC") || Name.starts_with("_ZTT"))
        return compilerMade("vtable");
    if (Name.starts_with("_QQcl")) // by flang
        return compilerMade("string literal");
    if (Name.starts_with("_QQro"))
        return compilerMade("constant");
    if (Name.starts_with("switch.table."))
        return compilerMade("switch table");
    if (const auto *Data = Global.hasPrivateLinkage() && Global.isConstant() && Global.hasInitializer()
                               ? dyn_cast<ConstantDataSequential>(Global.getInitializer())
                               : nullptr;
        Data && Data->isString())
        return compilerMade("string literal");
    if (Global.hasPrivateLinkage())
        return compilerMade(Global.isConstant() ? "constant" : Temporary);
    Referent R;
    R.Base = Name.str();
    R.Kind = Global.hasLocalLinkage() ? VariableKind::Static : VariableKind::Global;
    return R;
}

Referent Referents::ofVariable(const DILocalVariable &Variable, const DIExpression &Expression) const {
    Referent R;
    R.Base = Variable.getName().str();
    R.Kind = Variable.isParameter() ? VariableKind::Parameter : VariableKind::Local;
    int64_t Start = 0;
    if (auto Fragment = Expression.getFragmentInfo())
        Start = static_cast<int64_t>(Fragment->OffsetInBits / 8);
    R.At = whole(Variable.getType());
    for (Spot &At : R.At)
        At.Offset = Start;
    return R;
}

Referent Referents::ofDeclared(ArrayRef<AttachedVariable> Declared, const Type *Allocated) const {
    Referent R = ofVariable(*Declared.front().Variable, *Declared.front().Expression);
    // In Rust these are names of one object, one after the other.
    bool AreOneObject = isRust(Declared.front().Variable->getScope()) && none_of(Declared, [](const auto &Binding) {
                            return Binding.Expression->getNumElements() != 0;
                        });
    if (Declared.size() == 1 || AreOneObject)
        return R;
    SmallVector<std::string, 4> Names;
    for (const AttachedVariable &Binding : Declared)
        Names.push_back(Binding.Variable->getName().str());
    R.Base = joinNames(Names);
    R.At = structureOf(Allocated);
    return R;
}

Spots Referents::structureOf(const Type *Allocated) const {
    auto *Struct = dyn_cast_or_null<StructType>(const_cast<Type *>(Allocated));
    return Struct && Struct->isSized() ? whole(Types.find(*Struct, Layout.getTypeAllocSize(Struct))) : Spots();
}

// `Followed`: what the address in the environment leads to.
Referent Referents::ofCapture(const Capture &From, bool Followed) const {
    Referent R;
    R.Base = From.Variable->getName().str();
    R.Kind = From.Variable->isParameter() ? VariableKind::Parameter : VariableKind::Local;
    if (From.ByReference && !Followed)
        return R;
    R.At = whole(From.Variable->getType());
    for (Spot &At : R.At)
        At.Offset = Followed ? 0 : static_cast<int64_t>(From.Offset);
    return R;
}
Referent Referents::ofArgument(const Argument &A) const {
    auto Declared = declaredVariables(A);
    if (!Declared.empty())
        return ofDeclared(Declared, A.getPointeeInMemoryValueType());
    if (A.hasStructRetAttr() || A.getParent()->getAttributes().hasParamAttr(A.getArgNo(), ResultAttribute)) {
        Referent R = compilerMade(ReturnValue);
        if (const DISubprogram *Program = A.getParent()->getSubprogram())
            R.At = whole(resultType(*Program));
        return R;
    }
    // The front end stores a parameter to its slot before anything else.
    for (const User *U : A.users()) {
        const auto *Store = dyn_cast<StoreInst>(U);
        const auto *Slot = Store ? dyn_cast<AllocaInst>(Store->getPointerOperand()) : nullptr;
        if (!Slot || Store->getValueOperand() != &A)
            continue;
        auto Parameter = declaredIn(*Slot);
        if (!Parameter.empty())
            return pointedTo(ofDeclared(Parameter, nullptr), whole(Parameter.front().Variable->getType()));
    }
    return {};
}

Referent Referents::ofDebugValue(const Value &V, const Walk &W) const {
    SmallVector<Referent, 2> Held;
    for (const AttachedVariable &Holder : heldVariables(V, W.Reader)) {
        Referent Variable = ofVariable(*Holder.Variable, *Holder.Expression);
        Spots Leaves = heldPointer(Holder, Variable);
        if (!Leaves.empty())
            Held.push_back(pointedTo(std::move(Variable), std::move(Leaves)));
    }
    dropInner(Held, Types);
    return joined(Held);
}

// The pointer of which a variable consists; in Rust, the one that the value is in it.
Spots Referents::heldPointer(const AttachedVariable &Holder, const Referent &Variable) const {
    const DIType *Type = Holder.Variable->getType();
    if (!Holder.isFragment() && pointee(Type))
        return whole(Type);
    if (!isRust(Holder.Variable->getScope()))
        return whole(onlyPointer(Type));
    AccessShape Pointer{Layout.getPointerSize(), PointerType::get(Type->getContext(), 0), {}};
    Spots Leaves = Paths.leaves(Variable.At, Pointer);
    erase_if(Leaves, [](const Spot &Leaf) { return !pointee(Leaf.Type); });
    return Leaves;
}

bool Referents::throughOwner(const Spots &Leaves, std::string &Path) const {
    if (Leaves.empty() || !all_of(Leaves, [](const Spot &Leaf) { return Leaf.Owner; }))
        return false;
    Path = Leaves.front().OwnerPath;
    return ownerKind(Types.name(Leaves.front().Owner)) == RustOwner::Elements;
}

static const DIType *elementOfErased(const Spot &Leaf, const DebugTypes &Types) {
    const DIType *Target = pointee(Leaf.Type);
    const DIType *Element = Leaf.Owner && Types.name(Target) == "u8" ? elementOfOwner(*Leaf.Owner) : nullptr;
    return Element ? Element : Target;
}

Referent Referents::pointedTo(Referent Holder, Spots Leaves) const {
    bool InFatPointer = any_of(Leaves, [](const Spot &Leaf) { return StringRef(Leaf.Path).ends_with("vtable"); });
    if (isVirtualTablePointer(Leaves) || InFatPointer)
        return compilerMade("vtable");
    Referent R;
    AccessName Field;
    Paths.describe(Leaves, Field);
    R.Held = throughOwner(Leaves, Field.Field);
    bool Variable = !Holder.ThroughPointer && !Holder.Indexed && !Holder.Held && Field.Field.empty();
    // The pointer stands in the container, the object that it points to doesn't.
    std::string Dereference = Holder.Held && Field.Field.empty() ? "*" : "";
    R.Base = Variable ? Holder.Base : shortened(Dereference + Holder.spell(Field.Field));
    R.Kind = R.Base.empty() ? VariableKind::Unknown : Variable ? Holder.Kind : VariableKind::Expression;
    R.ThroughPointer = true;
    R.Untyped = !Leaves.empty() && all_of(Leaves, [](const Spot &Leaf) { return isVoidPointer(Leaf.Type); });
    for (const Spot &Leaf : Leaves) {
        const DIType *Bare = withoutQualifiers(Leaf.Type);
        if (Leaf.Owner || isRustReference(Leaf.Type) || (Bare && Bare->getTag() != dwarf::DW_TAG_pointer_type))
            R.ThroughPointer = false; // a reference reads like the object
        const DIType *Element = describedElement(Leaf.Type);
        for (Spot &Target : whole(Element ? Element : elementOfErased(Leaf, Types))) {
            Target.Entry = Leaf.Entry;
            R.At.push_back(std::move(Target));
        }
    }
    return R;
}

Referent Referents::ofLoaded(const LoadInst &Load, Walk &W) const {
    if (W.Loads == 0)
        return {};
    --W.Loads;
    const Value *Address = Load.getPointerOperand();
    if (auto Capture = captured(*Address); Capture && Capture->ByReference)
        return ofCapture(*Capture, true);
    if (const auto *Slot = dyn_cast<AllocaInst>(Address)) {
        auto Declared = declaredIn(*Slot);
        if (!Declared.empty() && Declared.front().Indirect)
            return ofDeclared(Declared, nullptr);
        if (isNameless(*Slot))
            return ofTemporary(*Slot, W);
        if (const Value *Element = elementOfRange(*Slot))
            if (Referent R = visit(Element, W); !R.Base.empty())
                return R;
    }
    return loadedFrom(Address, *Load.getType(), W);
}

Referent Referents::loadedFrom(const Value *Address, const Type &Loaded, Walk &W) const {
    const auto *Slot = dyn_cast<AllocaInst>(Address->stripPointerCasts());
    if (Slot && isNameless(*Slot) && contentOf(*Slot))
        return ofTemporary(*Slot, W);
    Referent Holder = visit(Address, W);
    AccessShape Shape{Layout.getTypeStoreSize(const_cast<Type *>(&Loaded)).getKnownMinValue(), &Loaded, {}};
    Spots Leaves = Paths.leaves(Holder.At, Shape);
    if (Holder.Kind == VariableKind::CompilerMade && Holder.Base == "vtable")
        return Holder;
    return pointedTo(std::move(Holder), std::move(Leaves));
}

Referent Referents::ofResult(const CallBase &Call, Walk &W) const {
    if (const Value *Same = sameObject(Call))
        return visit(Same, W);
    Referent R = ofDebugValue(Call, W);
    if (!R.Base.empty())
        return R;
    const Function *Callee = Call.getCalledFunction();
    if (!Callee || Callee->isIntrinsic())
        return R;
    if (auto To = accessor(Call, Types))
        if (Referent Accessed = ofAccessed(*To, W); !Accessed.Base.empty())
            return Accessed;
    const DISubprogram *Program = Types.program(*Callee);
    R.Base = (Program ? Program->getName() : rustAllocator(Callee->getName())).str() + "()";
    R.Kind = VariableKind::Expression;
    R.ThroughPointer = true;
    R.At = whole(allocatedType(Call));
    if (const DIType *Result = Program ? resultType(*Program) : nullptr) {
        R.At = whole(pointee(Result));
        const DIType *Bare = withoutQualifiers(Result);
        R.ThroughPointer = Bare->getTag() == dwarf::DW_TAG_pointer_type;
    }
    return R;
}

Referent Referents::ofEither(const Value &V, Walk &W) const {
    Referent Debug = ofDebugValue(V, W);
    if (!Debug.Base.empty())
        return Debug;
    SmallVector<const Value *, 4> Choices;
    if (const auto *Select = dyn_cast<SelectInst>(&V))
        Choices = {Select->getTrueValue(), Select->getFalseValue()};
    else
        Choices.append(cast<PHINode>(V).value_op_begin(), cast<PHINode>(V).value_op_end());
    erase_if(Choices, [&](const Value *Choice) {
        return isa<ConstantPointerNull, UndefValue>(Choice) || Choice->stripInBoundsOffsets() == &V; // a step of a loop
    });
    if (Choices.empty() || Choices.size() > 3)
        return {};
    SmallVector<Referent, 3> Targets;
    for (const Value *Choice : Choices)
        Targets.push_back(visit(Choice, W));
    return joined(Targets);
}

Referent Referents::ofElement(const GEPOperator &Element, Walk &W) const {
    Referent R = visit(Element.getPointerOperand(), W);
    if (auto *Struct = dyn_cast<StructType>(Element.getSourceElementType()); Struct && Struct->isSized()) {
        uint64_t Size = Layout.getTypeAllocSize(Struct);
        Spots Focused = Paths.focus(R.At, *Struct, Size);
        if (Focused.empty() && Struct->hasName() && !isAccessHelper(*Struct)) {
            // A cast: the code says what it takes the object for.
            R.At = whole(Types.find(*Struct, Size));
            R.ObjectHint = R.At.empty() ? sourceName(*Struct).str() : "";
        } else if (!Focused.empty()) {
            R.At = std::move(Focused);
        }
    }
    applyOffsets(Element, R);
    return R;
}

void Referents::applyOffsets(const GEPOperator &Element, Referent &R) const {
    unsigned Width = Layout.getIndexTypeSizeInBits(Element.getType());
    VariableOffsets Variable;
    APInt Constant(Width, 0);
    if (!Element.collectOffset(Layout, Width, Variable, Constant)) {
        R.At.clear();
        return;
    }
    const auto *First = dyn_cast<ConstantInt>(Element.idx_begin()->get());
    bool Subscript = (!First || !First->isZero()) && !(Variable.empty() && isByteOffset(Element, R.At, Constant));
    Type *Source = Element.getSourceElementType();
    uint64_t Stride = Source->isSized() ? Layout.getTypeAllocSize(Source).getKnownMinValue() : 0;
    bool InsideObject = any_of(R.At, [](const Spot &At) { return At.Object || !At.Path.empty(); });
    R.Indexed |= !InsideObject && (Subscript || Source->isArrayTy()) && !Source->isStructTy();
    R.Indexed |= !InsideObject && Subscript;

    // Strides first, coarse before fine: each finds the array (or the pointer's target) whose elements it counts.
    SmallVector<uint64_t, 4> Strides;
    for (const auto &[Index, Scale] : Variable)
        Strides.push_back(Scale.abs().getZExtValue());
    llvm::sort(Strides, std::greater<uint64_t>());
    bool Steps = Subscript && First && Stride;
    for (Spot &At : R.At) {
        enterTable(At, Strides);
        At.Offset += Constant.getSExtValue();
        // `p[-1].x`: the elements before and after the first look like it.
        auto Size = static_cast<int64_t>(sizeInBytes(At.Type));
        bool Scalars = R.ThroughPointer && !At.Object && isScalar(At.Type);
        bool IsEntry = At.Entry && At.Type == At.Entry;
        if (Size && (Scalars || IsEntry || (Steps && Stride == static_cast<uint64_t>(Size))))
            At.Offset = ((At.Offset % Size) + Size) % Size;
    }
    for (uint64_t OneStride : Strides)
        if (OneStride)
            R.At = Paths.step(R.At, OneStride);
}

} // namespace trackway
