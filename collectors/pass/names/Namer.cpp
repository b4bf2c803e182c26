#include "names/AccessShapes.h"
#include "names/AllocationNames.h"
#include "names/Attribution.h"
#include "names/DebugTypes.h"
#include "names/Label.h"
#include "names/Referents.h"
#include "names/RustTypes.h"
#include "names/TbaaNames.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace trackway {

struct Namer::State {
    explicit State(const Module &M)
        : Layout(M.getDataLayout()), Labels(M), Types(M), Where(Types, Layout), Allocations(Types, Where) {
        Tags.read(M);
    }

    const DataLayout &Layout;
    LabelReader Labels;
    TagNames Tags;
    DebugTypes Types;
    Referents Where;
    AllocationNames Allocations;
};

namespace {

AccessShape shapeOf(const Instruction &Access, const Value *Pointer, uint64_t Size, unsigned Part,
                    const DataLayout &Layout) {
    for (const AccessPart &Known : accessParts(Access, Layout))
        if (Known.Part == Part)
            return Known.Shape;
    return {Size, nullptr, {}};
}

void takeVariable(AccessName &Name, const AccessName &From) {
    if (!Name.Variable.empty() || Name.Kind != VariableKind::Unknown)
        return;
    Name.Variable = From.Variable;
    Name.Kind = From.Kind;
}

bool isTyped(const AccessName &Name) { return !Name.ValueType.empty() && Name.ValueType != NoType; }

// Code of Rust's standard library that was inlined into the program's: its label names the library's variable.
bool isFromInlinedLibrary(const Instruction &Access) {
    const DILocation *At = Access.getDebugLoc().get();
    if (!At || !isInStandardLibrary(*At))
        return false;
    while (At && isInStandardLibrary(*At))
        At = At->getInlinedAt();
    return At;
}

bool isOfUnnamed(const AccessName &Name) {
    return Name.Kind == VariableKind::CompilerMade && (Name.Variable == Temporary || Name.Variable == ReturnValue);
}

// Where the optimiser joined or moved accesses so that they have no place in the source, they see what the whole
// function sees: its parameters.
const DILocation *readerOf(const Instruction &Access) {
    if (const DILocation *At = Access.getDebugLoc().get())
        return At;
    DISubprogram *Program = Access.getFunction()->getSubprogram();
    return Program ? DILocation::get(Access.getContext(), Program->getLine(), 0, Program) : nullptr;
}

// A variable of the source instead of a name of ours, or the program's instead of the library's, if there is one.
void preferSourcesVariable(AccessName &Name, const AccessName &Found) {
    if (Found.Variable.empty() || Found.Kind == VariableKind::CompilerMade)
        return;
    Name.Variable = Found.Variable;
    Name.Kind = Found.Kind;
}

// Object, field and value belong together: they are taken as one, or refine the same object.
void takeType(AccessName &Name, const AccessName &From) {
    bool NothingKnown = Name.ObjectType.empty() && (!isTyped(Name) || Name.ValueType == From.ValueType);
    bool Refines = Name.Field.empty() && !From.Field.empty() && Name.ObjectType == From.ObjectType;
    if (Name.ValueType.empty() && Name.ObjectType == From.ObjectType)
        Name.ValueType = From.ValueType;
    if (!NothingKnown && !Refines)
        return;
    Name.ObjectType = From.ObjectType;
    Name.Field = From.Field;
    if (!From.ValueType.empty())
        Name.ValueType = From.ValueType;
}

bool isComplete(const AccessName &Name) {
    bool TypeKnown = Name.ObjectType.empty() ? isTyped(Name) : !Name.Field.empty();
    return TypeKnown && Name.Kind != VariableKind::Unknown;
}

} // namespace

Namer::Namer(const Module &M) : S(std::make_unique<State>(M)) {}
Namer::~Namer() = default;

AccessName Namer::name(const Instruction &Access, const Value *Pointer, uint64_t Size, unsigned Part) const {
    AccessName Name = S->Labels.read(Access, roleOf(Access, Part));
    bool FromLibrary = isFromInlinedLibrary(Access) && Pointer->getType()->isPointerTy();
    bool Unnamed = isOfUnnamed(Name) && Pointer->getType()->isPointerTy();
    if (isComplete(Name) && !FromLibrary && !Unnamed)
        return Name;
    takeType(Name, S->Tags.name(Access));
    AccessShape Shape = shapeOf(Access, Pointer, Size, Part, S->Layout);
    if (Pointer->getType()->isPointerTy()) {
        AccessName Found = S->Where.name(Pointer, Shape, readerOf(Access));
        if (FromLibrary || Unnamed)
            preferSourcesVariable(Name, Found);
        takeVariable(Name, Found);
        takeType(Name, Found);
    }
    if ((Name.ObjectType.empty() || !isTyped(Name)) && Part == 0)
        takeType(Name, tbaaName(Access, Shape, S->Types, S->Where.paths()));
    return Name;
}

AccessName Namer::name(const Instruction &Access, unsigned Part) const {
    for (const AccessPart &Known : accessParts(Access, S->Layout))
        if (Known.Part == Part)
            return name(Access, Known.Pointer, Known.Shape.Size, Part);
    return {};
}

void Namer::setOrigin(const Value &Taken, const Value &From, const DILocation *Reader) {
    S->Where.setOrigin(Taken, From, Reader);
}

AllocationName Namer::allocation(const CallBase &Call) const {
    AllocationName Name = readAllocationName(Call);
    if (Name.ElementType.empty() && Name.Variable.empty())
        return S->Allocations.infer(Call);
    return Name;
}

std::string Namer::type(const DIType *Type) const { return Type ? S->Types.canonicalName(Type) : ""; }

std::vector<TypeLayout> Namer::layouts(ArrayRef<std::string> Types) const {
    Layouts Found(S->Types);
    for (const std::string &Type : Types)
        Found.add(Type);
    return Found.take();
}

void removeLabels(Module &M) {
    removeAllLabels(M);
    removeTagNames(M);
    removeKeptTypes(M);
    for (Function &F : M) {
        for (Argument &A : F.args())
            F.removeParamAttr(A.getArgNo(), ResultAttribute);
        for (Instruction &I : instructions(F))
            if (auto *Call = dyn_cast<CallBase>(&I))
                removeAllocationName(*Call);
    }
}

} // namespace trackway
