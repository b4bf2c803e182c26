#include "names/Attribution.h"
#include "code/Allocators.h"
#include "code/LibraryEffects.h"
#include "names/AccessShapes.h"
#include "names/AllocationNames.h"
#include "names/DebugTypes.h"
#include "names/Label.h"
#include "names/OpenMpNames.h"
#include "names/Referents.h"
#include "names/TbaaNames.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace trackway {

namespace {

constexpr StringRef IgnoreAnnotation = "trackway.ignore";

bool isUnknown(const AccessName &Name) {
    return Name.Variable.empty() && Name.ObjectType.empty() && Name.ValueType.empty() &&
           Name.Kind == VariableKind::Unknown;
}

void labelAccesses(Instruction &I, const Referents &Where, LabelWriter &Labels, TagNames &Tags, StringSet<> &Objects) {
    for (const AccessPart &Part : accessParts(I, I.getModule()->getDataLayout())) {
        if (Part.Pointer->getType()->isVectorTy())
            continue;
        AccessName Name = Where.name(Part.Pointer, Part.Shape);
        bool Untyped = Name.ObjectType.empty() && Name.ValueType.empty();
        if (Untyped && !Name.Variable.empty() && isa<LoadInst, StoreInst>(I) && accessesCharacter(I))
            Name.ValueType = "char";
        Objects.insert(Name.ObjectType);
        Tags.note(I, Name);
        if (!isUnknown(Name))
            Labels.attach(I, roleOf(I, Part.Part), Name);
    }
}

void labelEffects(CallBase &Call, const LibraryRule &Rule, const Referents &Where, LabelWriter &Labels,
                  StringSet<> &Objects) {
    unsigned Part = 0;
    for (const LibraryEffect &E : Rule) {
        AccessName Name = Where.name(originOf(E, Call), {0, nullptr, {}});
        Objects.insert(Name.ObjectType);
        if (!isUnknown(Name))
            Labels.attach(Call, roleOf(Call, Part), Name);
        ++Part;
    }
}

// Which of the calls allocate is known only later, where the list of allocators is.
bool mayAllocate(const CallBase &Call) {
    if (isa<IntrinsicInst>(Call) || Call.isInlineAsm())
        return false;
    const Function *Callee = Call.getCalledFunction();
    // Rust's calls stand in its standard library, and say something only where that was inlined.
    if (Callee && rustAllocator(Callee->getName()).starts_with("__rust_"))
        return false;
    return Call.getType()->isPointerTy() || (Callee && Callee->getName() == "posix_memalign");
}

// The function that an entry of `llvm.global.annotations` asks to ignore.
Function *ignoredBy(const Constant &Entry) {
    if (Entry.getNumOperands() < 2)
        return nullptr;
    const auto *Text = dyn_cast<GlobalVariable>(Entry.getOperand(1)->stripPointerCasts());
    const auto *Data =
        Text && Text->hasInitializer() ? dyn_cast<ConstantDataSequential>(Text->getInitializer()) : nullptr;
    if (!Data || !Data->isCString() || Data->getAsCString() != IgnoreAnnotation)
        return nullptr;
    return dyn_cast<Function>(Entry.getOperand(0)->stripPointerCasts());
}

// Code that is inlined elsewhere could no longer be told from the code around it.
void keepApart(Function &F) {
    F.removeFnAttr(Attribute::AlwaysInline);
    F.addFnAttr(Attribute::NoInline);
}

void honourIgnoreRequests(Module &M) {
    const GlobalVariable *Annotations = M.getGlobalVariable("llvm.global.annotations");
    if (Annotations && Annotations->hasInitializer())
        for (const Use &Entry : Annotations->getInitializer()->operands())
            if (Function *F = ignoredBy(*cast<Constant>(Entry.get()))) {
                F->addFnAttr(IgnoreAttribute);
                keepApart(*F);
            }
    for (Function &F : M)
        if (!F.isDeclaration() && F.hasFnAttribute(Attribute::DisableSanitizerInstrumentation))
            keepApart(F);
}

// A program's own allocator of Rust is called by functions with these names. Its calls say what they make room for, and
// are the only ones known if it is made of functions of another language.
void keepRustAllocators(Module &M) {
    for (Function &F : M)
        if (!F.isDeclaration() && isRustAllocator(F.getName()))
            keepApart(F);
}

void markResults(Module &M) {
    for (Function &F : M)
        for (Argument &A : F.args())
            if (A.hasStructRetAttr())
                A.addAttr(Attribute::get(M.getContext(), ResultAttribute));
}

} // namespace

PreservedAnalyses AttributionPass::run(Module &M, ModuleAnalysisManager &) {
    auto Library = LibraryEffects::load(LibraryFiles);
    if (!Library) {
        M.getContext().emitError("trackway: " + toString(Library.takeError()));
        return PreservedAnalyses::all();
    }
    honourIgnoreRequests(M);
    keepRustAllocators(M);
    nameOpenMpBodies(M);
    markResults(M);
    DebugTypes Types(M);
    Referents Where(Types, M.getDataLayout());
    LabelWriter Labels(M);
    TagNames Tags;
    AllocationNames Allocations(Types, Where);
    StringSet<> Objects;
    for (Function &F : M)
        for (Instruction &I : instructions(F)) {
            labelAccesses(I, Where, Labels, Tags, Objects);
            auto *Call = dyn_cast<CallBase>(&I);
            if (std::optional<CallEffects> Effects = Call ? Library->find(*Call) : std::nullopt)
                labelEffects(*Call, Effects->rule(), Where, Labels, Objects);
            if (Call && mayAllocate(*Call)) {
                AllocationName Name = Allocations.infer(*Call);
                Objects.insert(Name.ElementType);
                attachAllocationName(*Call, Name);
            }
        }
    Tags.write(M);
    for (const auto &Object : Objects)
        Types.keep(Object.getKey(), M);
    return PreservedAnalyses::all();
}

} // namespace trackway
