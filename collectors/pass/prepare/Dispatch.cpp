#include "prepare/Dispatch.h"

#include "LlvmVersion.h"
#include "code/Labels.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

namespace trackway {

// Whether LLVM's jumps from a function to another one of its type are right on x86-64, whatever the arguments. In other
// conventions it stores vectors on the stack as if they were aligned there.
static bool jumpsOnX86(CallingConv::ID Convention) {
    switch (Convention) {
    case CallingConv::C:
    case CallingConv::Fast:
    case CallingConv::Cold:
    case CallingConv::PreserveMost:
    case CallingConv::PreserveAll:
    case CallingConv::X86_64_SysV:
    case CallingConv::Tail: // the stack must not grow there
    case CallingConv::SwiftTail:
        return true;
    default:
        return false;
    }
}

// Whether code for this processor can jump from the function to another one of its type, whatever the arguments but its
// own copies. Elsewhere arguments in memory prevent that, and unnamed ones in registers are lost.
static bool canJump(const Function &F) {
    switch (Triple(F.getParent()->getTargetTriple()).getArch()) {
    case Triple::aarch64:
        return F.getCallingConv() == CallingConv::C || F.getCallingConv() == CallingConv::Fast;
    case Triple::riscv64:
    case Triple::ppc64le:
        return false;
    default:
        return jumpsOnX86(F.getCallingConv());
    }
}

// Whether the function owns copies of arguments, which the caller made for it in memory.
static bool hasOwnCopies(const Function &F) {
    return any_of(F.args(), [](const Argument &A) { return A.hasByValAttr(); });
}

// Registers that variadic functions don't pass on.
static bool takesSpecialRegisters(const Function &F) {
    return any_of(F.args(), [](const Argument &A) {
        return A.hasNestAttr() || A.hasSwiftErrorAttr() || A.hasAttribute(Attribute::SwiftSelf) ||
               A.hasAttribute(Attribute::SwiftAsync) || isa<ScalableVectorType>(A.getType());
    });
}

// Whether a variadic function without named arguments can take the function's place and jump on with all arguments
// where they are.
static bool canPassOn(const Function &F) {
    bool RemovesArguments = F.getCallingConv() == CallingConv::Tail || F.getCallingConv() == CallingConv::SwiftTail;
    return canJump(F) && !RemovesArguments && !takesSpecialRegisters(F);
}

bool Dispatch::canChoose(const Function &F) {
    if (F.hasFnAttribute(Attribute::Naked) || F.isPresplitCoroutine())
        return false;
    if (F.isVarArg() && !(hasOwnCopies(F) ? canPassOn(F) : canJump(F)))
        return false;
    return none_of(F.args(), [](const Argument &A) { return A.hasInAllocaAttr() || A.hasPreallocatedAttr(); });
}

static void replaceInFunction(Function &F, GlobalVariable *From, GlobalVariable *To) {
    ValueToValueMapTy Map;
    Map[From] = To;
    for (BasicBlock &BB : F)
        for (Instruction &I : BB)
            RemapInstruction(&I, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
}

// Both copies stay in the same groups of accesses: else cloning would make groups of its own, and labels among them,
// which nobody would take off again.
static void shareAccessGroups(const Function &F, ValueToValueMapTy &Map) {
    auto Share = [&Map](const MDNode *Group) { Map.MD()[Group].reset(const_cast<MDNode *>(Group)); };
    for (const Instruction &I : instructions(F)) {
        const MDNode *Groups = I.getMetadata(LLVMContext::MD_access_group);
        if (!Groups)
            continue;
        Share(Groups);
        for (const MDOperand &Group : Groups->operands())
            Share(cast<MDNode>(Group.get()));
    }
}

// The copy gets tables of its own labels.
static void copyTables(Function &F, Function &Plain, ValueToValueMapTy &Map) {
    for (GlobalVariable *Table : labelTables(F)) {
        auto *Copy =
            new GlobalVariable(*F.getParent(), Table->getValueType(), Table->isConstant(), GlobalValue::PrivateLinkage,
                               MapValue(Table->getInitializer(), Map), Table->getName() + ".plain", Table);
        Copy->copyAttributesFrom(Table);
        Copy->setVisibility(GlobalValue::DefaultVisibility);
        Copy->setDSOLocal(true);
        Copy->setComdat(F.getComdat());
        replaceInFunction(Plain, Table, Copy);
    }
}

bool Dispatch::canKeepPlain(const Function &F) { return keepsLabels(F) || SharedLabels::canShare(F); }

Function &Dispatch::keepPlain(Function &F, bool AlwaysChooses) {
    std::optional<SharedLabels> Labels;
    if (!keepsLabels(F))
        Labels.emplace(F);
    ValueToValueMapTy Map;
    shareAccessGroups(F, Map);
    Function *Plain = CloneFunction(&F, Map);
    Plain->setName(F.getName() + ".plain");
    Plain->setLinkage(GlobalValue::InternalLinkage);
    Plain->setVisibility(GlobalValue::DefaultVisibility);
    Plain->setDSOLocal(true);
    Plain->setComdat(F.getComdat());
    if (Labels)
        Labels->addPlain(*Plain, Map);
    else
        copyTables(F, *Plain, Map);
    Kept.push_back({&F, Plain, AlwaysChooses, std::move(Labels)});
    return *Plain;
}

bool Dispatch::keepPlainIfPossible(Function &F, bool AlwaysChooses) {
    if (!canKeepPlain(F)) {
        Kept.push_back({&F, nullptr, /*AlwaysChooses=*/true});
        return false;
    }
    keepPlain(F, AlwaysChooses);
    return true;
}

// The attributes that say what a function doesn't do to memory hold no longer where it records.
static void forgetMemoryEffects(Function &F) {
    F.removeFnAttr(Attribute::Memory);
    F.removeFnAttr(Attribute::NoSync);
    F.removeFnAttr(Attribute::WillReturn);
    F.removeFnAttr(Attribute::Speculatable);
    for (Argument &A : F.args()) // the recording stores pointers
        forgetNoCapture(A);
}

// An internal function of the same type.
static Function *createBeside(const Function &F, const Twine &Name) {
    Function *New = Function::Create(F.getFunctionType(), GlobalValue::InternalLinkage, F.getAddressSpace(), Name,
                                     const_cast<Module *>(F.getParent()));
    New->copyAttributesFrom(&F);
    New->setVisibility(GlobalValue::DefaultVisibility);
    New->setDSOLocal(true);
    New->setComdat(const_cast<Comdat *>(F.getComdat()));
    return New;
}

static Function *moveBody(Function &F) {
    Function *Traced = createBeside(F, F.getName() + ".traced");
    Traced->copyMetadata(&F, 0);
    F.clearMetadata();
    SmallVector<BlockAddress *, 4> Addresses;
    for (BasicBlock &BB : F)
        if (BlockAddress *A = BB.hasAddressTaken() ? BlockAddress::lookup(&BB) : nullptr)
            Addresses.push_back(A);
    SmallVector<BasicBlock *, 4> Blocks;
    for (BlockAddress *A : Addresses)
        Blocks.push_back(A->getBasicBlock());
    Traced->splice(Traced->begin(), &F);
    for (auto [From, To] : zip(F.args(), Traced->args())) {
        From.replaceAllUsesWith(&To);
        To.takeName(&From);
    }
    // Since 20 an address names no function beside its block, so it moved with that.
    for (auto [A, BB] : zip(Addresses, Blocks))
        if (BlockAddress *Moved = BlockAddress::get(Traced, BB); Moved != A)
            A->replaceAllUsesWith(Moved);
    forgetMemoryEffects(*Traced);
    return Traced;
}

static constexpr const char *Thunk = "thunk";

// Puts a function in the place of this one that takes any arguments and leaves them where they are: LLVM passes on all
// registers that may hold one, and the stack as it is. A jump from a function of the same type would copy each argument
// that the callee owns in memory onto itself, and on x86 LLVM 19 still puts such a copy over the return address (22
// makes none).
static Function &forgetPrototype(Function &F) {
    LLVMContext &C = F.getContext();
    auto *New = Function::Create(FunctionType::get(Type::getVoidTy(C), true), F.getLinkage(), F.getAddressSpace());
    F.getParent()->getFunctionList().insert(F.getIterator(), New);
    New->copyAttributesFrom(&F);
    New->setAttributes(AttributeList::get(C, F.getAttributes().getFnAttrs(), {}, {}));
    for (Attribute::AttrKind OfArguments : {Attribute::AllocSize, Attribute::AllocKind})
        New->removeFnAttr(OfArguments);
    New->addFnAttr(Thunk); // calls of another type are meant to be
    New->setComdat(F.getComdat());
    New->takeName(&F);
    F.replaceAllUsesWith(New);
    F.eraseFromParent();
    return *New;
}

static bool isWithoutPrototype(const Function &F) { return F.hasFnAttribute(Thunk); }

static bool isInitialiser(const Function &F) {
    const GlobalVariable *List = F.getParent()->getGlobalVariable("llvm.global_ctors");
    const auto *Entries = List && List->hasInitializer() ? dyn_cast<ConstantArray>(List->getInitializer()) : nullptr;
    return Entries && any_of(Entries->operands(), [&](const Use &Entry) {
               return cast<Constant>(Entry)->getAggregateElement(1)->stripPointerCasts() == &F;
           });
}

// If the chosen version is inlined, its own jumps (`musttail`) remain jumps only if the choice jumps, too.
static CallInst::TailCallKind kindOfJump(const Function &F) {
    // In conventions that pass copies by reference, LLVM would jump with the copies in a frame that is gone.
    if (hasOwnCopies(F))
        return CallInst::TCK_NoTail;
    // AddressSanitizer adds a call before each return of a module's initialiser.
    return !isInitialiser(F) && canJump(F) ? CallInst::TCK_MustTail : CallInst::TCK_Tail;
}

// The same address, hidden from the optimiser. It would otherwise take a call without arguments for one that accesses
// none in memory.
static Value *hidden(IRBuilder<> &B, Function *Target) {
    auto *Type = FunctionType::get(Target->getType(), {Target->getType()}, false);
    return B.CreateCall(Type, InlineAsm::get(Type, "", "=r,0", /*hasSideEffects=*/false), {Target});
}

static void jumpTo(IRBuilder<> &B, Function *Target, Function &F) {
    SmallVector<Value *, 8> Arguments;
    for (Argument &A : F.args())
        Arguments.push_back(&A);
    CallInst *Call = B.CreateCall(F.getFunctionType(), isWithoutPrototype(F) ? hidden(B, Target) : Target, Arguments);
    Call->setCallingConv(F.getCallingConv());
    Call->setTailCallKind(kindOfJump(F));
    // Attributes of parameters (sret, byval, ...) must agree between the caller, the callee and the call.
    AttributeList All = F.getAttributes();
    SmallVector<AttributeSet, 8> OfParameters;
    for (unsigned I = 0; I < F.arg_size(); ++I)
        OfParameters.push_back(All.getParamAttrs(I));
    Call->setAttributes(AttributeList::get(F.getContext(), AttributeSet(), All.getRetAttrs(), OfParameters));
    if (Call->getType()->isVoidTy())
        B.CreateRetVoid();
    else
        B.CreateRet(Call);
}

// A choice is no call of the function: what is done at entry and exit is done by the version that is chosen.
static void forgetEntryHooks(Function &F) {
    for (StringRef Name : {"instrument-function-entry", "instrument-function-exit", "instrument-function-entry-inlined",
                           "instrument-function-exit-inlined", "fentry-call", "mnop-mcount", "mrecord-mcount"})
        F.removeFnAttr(Name);
}

// Removes what a choice doesn't need.
static void undress(Function &F) {
    F.setPersonalityFn(nullptr);
    F.removeFnAttr(Attribute::AlwaysInline);
    F.removeFnAttr(Attribute::OptimizeNone);
    F.removeFnAttr(Attribute::StackProtect);
    F.removeFnAttr(Attribute::StackProtectStrong);
    F.removeFnAttr(Attribute::StackProtectReq);
    forgetEntryHooks(F);
    forgetMemoryEffects(F);
}

static BasicBlock *wayTo(Function *Target, Function &F, const Twine &Name) {
    auto *BB = BasicBlock::Create(F.getContext(), Name, &F);
    IRBuilder<> B(BB);
    jumpTo(B, Target, F);
    return BB;
}

// The function whose body was moved, as it can hold the choice.
static Function *choiceInPlaceOf(Function &F) { return hasOwnCopies(F) && canPassOn(F) ? &forgetPrototype(F) : &F; }

static void writeChoice(Function &F, Function *Traced, Function *Plain, Dispatch::Choice Choose) {
    auto *Entry = BasicBlock::Create(F.getContext(), "entry", &F);
    BasicBlock *Record = wayTo(Traced, F, "record"), *Run = wayTo(Plain, F, "run");
    Choose(*Entry, *Record, *Run);
    undress(F);
}

void Dispatch::move(Versions &V) {
    if (V.Labels)
        V.Labels->finishRecording(*V.Original);
    V.Traced = moveBody(*V.Original);
    V.Original = choiceInPlaceOf(*V.Original);
}

void Dispatch::finish(Choice Choose) {
    for (Versions &V : Kept) {
        move(V);
        writeChoice(*V.Original, V.Traced, V.Plain, Choose);
    }
    directCalls();
}

void Dispatch::finish(FirstChoice Choose, Choice Later) {
    for (Versions &V : Kept) {
        move(V);
        Function *Plain = V.Plain ? V.Plain : V.Traced;
        Function *Late = createBeside(*V.Original, V.Original->getName() + ".late");
        Late->addFnAttr(Attribute::Cold);
        writeChoice(*Late, V.Traced, Plain, Later);
        writeChoice(*V.Original, V.Traced, Plain, [&](BasicBlock &From, BasicBlock &Instrumented, BasicBlock &ToPlain) {
            Choose(From, Instrumented, ToPlain, *wayTo(Late, *V.Original, "late"));
        });
    }
    directCalls();
}

void Dispatch::directCalls() {
    DenseMap<Function *, const Versions *> ByOriginal;
    DenseMap<Function *, bool> IsTraced;
    for (const Versions &V : Kept) {
        ByOriginal[V.Original] = &V;
        if (V.AlwaysChooses)
            continue;
        IsTraced[V.Traced] = true;
        IsTraced[V.Plain] = false;
    }
    for (const Versions &V : Kept) {
        // Another definition may take the place of one that isn't exact, and a COMDAT group may be discarded with its
        // local symbols.
        if (V.AlwaysChooses || V.Original->isInterposable() || !V.Original->hasExactDefinition())
            continue;
        for (User *U : make_early_inc_range(V.Original->users())) {
            auto *Call = dyn_cast<CallBase>(U);
            if (!Call || Call->getCalledOperand() != V.Original)
                continue;
            Function *Caller = Call->getFunction();
            auto It = IsTraced.find(Caller);
            if (It != IsTraced.end() && (!V.Original->hasComdat() || V.Original->getComdat() == Caller->getComdat()))
                Call->setCalledFunction(It->second ? V.Traced : V.Plain);
        }
    }
}

} // namespace trackway
