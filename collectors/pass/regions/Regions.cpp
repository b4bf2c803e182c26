#include "regions/Regions.h"

#include "LlvmVersion.h"
#include "names/OpenMpNames.h"
#include "regions/Inheritance.h"

#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace trackway {

namespace {

// The functions that marks call in the source, and those of the runtime that replace them.
constexpr StringRef Begin = "__trackway_begin_region", End = "__trackway_end_region",
                    BeginScope = "__trackway_begin_scope", EndScope = "__trackway_end_scope";
constexpr StringRef Enter = "__trackway_enter_region", Leave = "__trackway_leave_region",
                    LeaveAll = "__trackway_leave_regions", Depth = "__trackway_region_depth",
                    EnterScope = "__trackway_enter_scope", LeaveScope = "__trackway_leave_scope",
                    KeepDepth = "__trackway_keep_depth", LeaveSince = "__trackway_leave_since";

// The same in programs that record.
constexpr StringRef WindowMarks[] = {"__trackway_window_enter_region", "__trackway_window_leave_region",
                                     "__trackway_window_leave_regions", "__trackway_window_leave_since"};
constexpr StringRef WindowScopeMarks[] = {"__trackway_window_enter_scope", "__trackway_window_leave_scope"};

constexpr StringRef RegionVariable = "trackway.region";

constexpr StringRef Annotation = "trackway.region";

StringRef calleeName(const CallBase &Call) {
    const auto *Callee = dyn_cast<Function>(Call.getCalledOperand()->stripPointerCasts());
    return Callee ? Callee->getName() : "";
}

const ConstantDataSequential *constantText(const Value &V) {
    const auto *Variable = dyn_cast<GlobalVariable>(V.stripPointerCasts());
    const auto *Data =
        Variable && Variable->hasInitializer() ? dyn_cast<ConstantDataSequential>(Variable->getInitializer()) : nullptr;
    return Data && Data->isString() ? Data : nullptr;
}

// The source of the only copy into a slot.
const Value *onlyCopy(const AllocaInst &Slot) {
    const Value *Source = nullptr;
    for (const User *U : Slot.users())
        if (auto *Copy = dyn_cast<MemTransferInst>(U); Copy && Copy->getRawDest() == &Slot) {
            if (Source)
                return nullptr;
            Source = Copy->getRawSource();
        }
    return Source;
}

// Fortran passes a copy of a literal, together with its length, which no zero ends.
const ConstantDataSequential *literal(Value *V) {
    if (auto *Part = dyn_cast<ExtractValueInst>(V))
        if (Value *Inserted = FindInsertedValue(Part->getAggregateOperand(), Part->getIndices()))
            V = Inserted;
    const Value *Source = V->stripPointerCasts();
    if (auto *Slot = dyn_cast<AllocaInst>(Source))
        Source = onlyCopy(*Slot);
    return Source ? constantText(*Source) : nullptr;
}

// The regions of a module: struct trackway_region of abi.h for each name.
class Runtime {
  public:
    Runtime(Module &M, bool Counts) : M(M), C(M.getContext()), Counts(Counts) {}

    void enter(IRBuilder<> &B, StringRef Region, bool IsScope = false) {
        call(B, IsScope ? EnterScope : Enter, Type::getVoidTy(C), {region(Region)});
    }
    void leave(IRBuilder<> &B, StringRef Region, bool IsScope = false) {
        call(B, IsScope ? LeaveScope : Leave, Type::getVoidTy(C), {region(Region)});
    }
    Value *depth(IRBuilder<> &B) { return call(B, Depth, B.getInt32Ty(), {}); }
    // The same by way of a place in memory, which the runtime writes and reads.
    void keepDepth(IRBuilder<> &B, AllocaInst &Place) { call(B, KeepDepth, Type::getVoidTy(C), {&Place}); }
    void leaveSince(IRBuilder<> &B, AllocaInst &Place) { call(B, LeaveSince, Type::getVoidTy(C), {&Place}); }
    // Up to a depth, or up to a region that was entered at a greater one.
    void leaveAll(IRBuilder<> &B, Value *UpTo, std::optional<StringRef> Region) {
        Value *Kept = Region ? cast<Value>(region(*Region)) : ConstantPointerNull::get(B.getPtrTy());
        call(B, LeaveAll, Type::getVoidTy(C), {UpTo, Kept});
    }

  private:
    CallInst *call(IRBuilder<> &B, StringRef Name, Type *Result, ArrayRef<Value *> Arguments) {
        SmallVector<Type *, 1> Types;
        for (Value *A : Arguments)
            Types.push_back(A->getType());
        FunctionCallee Callee = M.getOrInsertFunction(nameOf(Name), FunctionType::get(Result, Types, false));
        cast<Function>(Callee.getCallee())->setDoesNotThrow();
        CallInst *Call = B.CreateCall(Callee, Arguments);
        Call->setDoesNotThrow();
        return Call;
    }

    std::string nameOf(StringRef Name) const {
        if (Counts)
            return Name.str();
        Name.consume_front("__trackway_");
        return ("__trackway_window_" + Name).str();
    }

    GlobalVariable *region(StringRef Name) {
        GlobalVariable *&G = Regions[Name];
        if (!G) {
            Constant *Text = ConstantDataArray::getString(C, Name);
            auto *TextVariable =
                new GlobalVariable(M, Text->getType(), true, GlobalValue::PrivateLinkage, Text, "trackway.name");
            auto *I64 = Type::getInt64Ty(C);
            auto *Ty = StructType::get(C, {PointerType::getUnqual(C), I64});
            G = new GlobalVariable(
                M, Ty, false, GlobalValue::InternalLinkage,
                ConstantStruct::get(Ty, {TextVariable, ConstantInt::get(I64, Counts ? 0 : contentHash(Name))}),
                RegionVariable);
        }
        return G;
    }

    Module &M;
    LLVMContext &C;
    bool Counts;
    StringMap<GlobalVariable *> Regions;
};

struct Mark {
    CallBase *Call;
    bool Begins;
    std::string Region;
};

// Regions that are open, the innermost last.
using Open = std::vector<std::string>;

// Where ways meet, a region is open if it is open on all of them.
Open common(const Open &A, const Open &B) {
    auto [EndOfA, EndOfB] = std::mismatch(A.begin(), A.end(), B.begin(), B.end());
    return {A.begin(), EndOfA};
}

class FunctionRegions {
  public:
    FunctionRegions(Function &F, Runtime &R) : F(F), R(R) {}

    void run(MapVector<Instruction *, Mark> Found, std::optional<std::string> Whole) {
        Marks = std::move(Found);
        this->Whole = std::move(Whole);
        catchWhatPassesThrough();
        findOpen();
        closeAtPads();
        closeOnEdges();
        closeAtReturns();
        lower();
    }

  private:
    Open initial() const { return Whole ? Open{*Whole} : Open{}; }

    static void apply(const Mark &M, Open &Now) {
        if (M.Begins)
            return Now.push_back(M.Region);
        auto It = find(reverse(Now), M.Region);
        if (It != Now.rend())
            Now.erase(It.base() - 1, Now.end());
    }

    Open after(BasicBlock &BB) const {
        Open Now = AtBegin.lookup(&BB);
        for (Instruction &I : BB)
            if (auto It = Marks.find(&I); It != Marks.end())
                apply(It->second, Now);
        return Now;
    }

    void findOpen() {
        AtBegin[&F.getEntryBlock()] = initial();
        ReversePostOrderTraversal<Function *> Order(&F);
        for (bool Changed = true; Changed;) {
            Changed = false;
            for (BasicBlock *BB : Order) {
                Open Now = after(*BB);
                for (BasicBlock *To : successors(BB)) {
                    auto [It, New] = AtBegin.insert({To, Now});
                    Open Met = common(It->second, Now);
                    Changed |= New || Met.size() != It->second.size();
                    It->second = Met;
                }
            }
        }
    }

    // A call that may throw leaves the function's regions if the exception passes through: in C++, where there is
    // a way to catch it.
    void catchWhatPassesThrough() {
        if (F.doesNotThrow() || F.isPresplitCoroutine())
            return;
        Function *Cxx = personality(*F.getParent());
        if (!Cxx || (F.hasPersonalityFn() && F.getPersonalityFn()->stripPointerCasts() != Cxx))
            return;
        F.setPersonalityFn(Cxx);
        findOpen();
        SmallVector<CallInst *, 8> Throwing;
        for (auto &[BB, Now] : AtBegin) {
            Open At = Now;
            for (Instruction &I : *BB) {
                if (auto It = Marks.find(&I); It != Marks.end())
                    apply(It->second, At);
                else if (auto *Call = dyn_cast<CallInst>(&I); Call && !At.empty() && !Call->doesNotThrow() &&
                                                              !Call->isInlineAsm() && !Call->isMustTailCall() &&
                                                              !isa<IntrinsicInst>(Call))
                    Throwing.push_back(Call);
            }
        }
        AtBegin.clear();
        if (Throwing.empty())
            return;
        BasicBlock *Pad = passOn();
        for (CallInst *Call : Throwing)
            changeToInvokeAndSplitBasicBlock(Call, Pad);
    }

    // Null unless the module is C++, whose exceptions pass through functions that don't mention them.
    static Function *personality(Module &M) {
        constexpr StringRef Name = "__gxx_personality_v0";
        bool IsCxx = any_of(M.debug_compile_units(),
                            [](const DICompileUnit *Unit) { return dwarf::isCPlusPlus(languageOf(*Unit)); });
        if (!IsCxx)
            return M.getFunction(Name);
        auto *Type = FunctionType::get(Type::getInt32Ty(M.getContext()), true);
        return dyn_cast<Function>(M.getOrInsertFunction(Name, Type).getCallee());
    }

    BasicBlock *passOn() {
        LLVMContext &C = F.getContext();
        auto *Pad = BasicBlock::Create(C, "trackway.pass", &F);
        IRBuilder<> B(Pad);
        auto *Exception = B.CreateLandingPad(StructType::get(C, {B.getPtrTy(), B.getInt32Ty()}), 0);
        Exception->setCleanup(true);
        B.CreateResume(Exception);
        return Pad;
    }

    // Regions of functions that the exception passed through are left, too.
    void closeAtPads() {
        Value *AtEntry = nullptr;
        for (BasicBlock &BB : F) {
            if (!BB.isLandingPad() || !AtBegin.count(&BB))
                continue;
            if (!AtEntry) {
                IRBuilder<> B(&F.getEntryBlock(), F.getEntryBlock().getFirstInsertionPt());
                AtEntry = R.depth(B);
            }
            IRBuilder<> B(&BB, BB.getFirstInsertionPt());
            Open At = AtBegin.lookup(&BB);
            R.leaveAll(B, AtEntry, At.empty() ? std::nullopt : std::optional<StringRef>(At.back()));
        }
    }

    void closeOnEdges() {
        MapVector<std::pair<BasicBlock *, BasicBlock *>, std::string> Closing;
        for (auto &[BB, At] : AtBegin)
            for (BasicBlock *From : predecessors(BB)) {
                if (BB->isLandingPad() || !AtBegin.count(From))
                    continue;
                Open Before = after(*From);
                if (Before.size() > At.size())
                    Closing[{From, BB}] = Before[At.size()];
            }
        for (auto &[Edge, Region] : Closing) {
            auto [From, To] = Edge;
            BasicBlock *Between = From->getUniqueSuccessor() ? nullptr : SplitEdge(From, To);
            IRBuilder<> B(Between ? Between->getTerminator() : From->getTerminator());
            R.leave(B, Region);
        }
    }

    void closeAtReturns() {
        for (auto &[BB, At] : AtBegin) {
            Instruction *Last = BB->getTerminator();
            Open Now = after(*BB);
            if (Now.empty() || !isa<ReturnInst, ResumeInst>(Last))
                continue;
            if (CallInst *Tail = BB->getTerminatingMustTailCall())
                Last = Tail;
            IRBuilder<> B(Last);
            R.leave(B, Now.front());
        }
    }

    void lower() {
        for (auto &[I, M] : Marks) {
            IRBuilder<> B(M.Call);
            M.Begins ? R.enter(B, M.Region) : R.leave(B, M.Region);
            M.Call->eraseFromParent();
        }
        if (Whole) {
            IRBuilder<> B(&F.getEntryBlock(), F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
            R.enter(B, *Whole);
        }
    }

    Function &F;
    Runtime &R;
    MapVector<Instruction *, Mark> Marks;
    std::optional<std::string> Whole;
    MapVector<BasicBlock *, Open> AtBegin;
};

class ModuleRegions {
  public:
    ModuleRegions(Module &M, bool Counts, ArrayRef<std::string> Globs) : M(M), R(M, Counts), Globs(Globs) {
        readAnnotations();
    }

    void run() {
        for (Function &F : M)
            if (!F.isDeclaration())
                function(F);
    }

  private:
    void readAnnotations() {
        const GlobalVariable *List = M.getGlobalVariable("llvm.global.annotations");
        if (!List || !List->hasInitializer())
            return;
        for (const Use &Entry : List->getInitializer()->operands()) {
            auto *Parts = cast<Constant>(Entry.get());
            const auto *Text = Parts->getNumOperands() > 1 ? constantText(*Parts->getOperand(1)) : nullptr;
            if (Text && Text->isCString() && Text->getAsCString() == Annotation)
                if (auto *F = dyn_cast<Function>(Parts->getOperand(0)->stripPointerCasts()))
                    Annotated.insert(F);
        }
    }

    void function(Function &F) {
        MapVector<Instruction *, Mark> Marks;
        SmallVector<CallBase *, 4> Scopes;
        for (Instruction &I : instructions(F)) {
            auto *Call = dyn_cast<CallBase>(&I);
            if (!Call)
                continue;
            StringRef Name = calleeName(*Call);
            if (Name == Begin || Name == End)
                Marks[Call] = {Call, Name == Begin, nameOf(*Call)};
            else if (Name == BeginScope || Name == EndScope)
                Scopes.push_back(Call);
        }
        for (CallBase *Call : Scopes) {
            IRBuilder<> B(Call);
            std::string Region = nameOf(*Call);
            calleeName(*Call) == BeginScope ? R.enter(B, Region, true) : R.leave(B, Region, true);
            Call->eraseFromParent();
        }
        std::optional<std::string> Whole = wholeFunction(F);
        if (!Marks.empty() || Whole)
            FunctionRegions(F, R).run(std::move(Marks), std::move(Whole));
    }

    std::string nameOf(const CallBase &Call) {
        if (const auto *Text = Call.arg_empty() ? nullptr : literal(Call.getArgOperand(0)))
            return Text->isCString() ? Text->getAsCString().str() : Text->getAsString().str();
        M.getContext().diagnose(DiagnosticInfoUnsupported(*Call.getFunction(),
                                                          "trackway: the name of a region must be a string literal",
                                                          Call.getDebugLoc(), DS_Error));
        return "?";
    }

    // A construct of OpenMP belongs to the function around it, unless it is asked for by its own name.
    std::optional<std::string> wholeFunction(const Function &F) const {
        if (!isMadeForOpenMp(F))
            return named(F);
        StringRef Name = openMpName(F);
        bool IsBody = any_of(F.uses(), [](const Use &U) {
            auto *Call = dyn_cast<CallBase>(U.getUser());
            return Call && Call->isArgOperand(&U);
        });
        if (IsBody && !named(functionAround(F)) && any_of(Globs, [&](StringRef Glob) { return matches(Glob, {Name}); }))
            return Name.str();
        return std::nullopt;
    }

    std::optional<std::string> named(const Function &F) const {
        if (F.hasFnAttribute(Attribute::Naked))
            return std::nullopt;
        const DISubprogram *S = F.getSubprogram();
        std::string Name = demangle(F.getName().str());
        if (S && !S->getName().empty() && S->getLinkageName().empty())
            Name = S->getName().str();
        if (Annotated.contains(&F))
            return Name;
        StringRef Source = S ? S->getName() : "";
        if (any_of(Globs, [&](StringRef Glob) { return matches(Glob, {F.getName(), Name, Source}); }))
            return Name;
        return std::nullopt;
    }

    bool matches(StringRef Text, ArrayRef<StringRef> Names) const {
        Expected<GlobPattern> Glob = GlobPattern::create(Text);
        if (!Glob) {
            M.getContext().emitError("trackway: --region: " + toString(Glob.takeError()));
            return false;
        }
        return any_of(Names, [&](StringRef Name) { return Glob->match(Name); });
    }

    Module &M;
    Runtime R;
    ArrayRef<std::string> Globs;
    DenseSet<const Function *> Annotated;
};

} // namespace

bool isRegionMark(const CallBase &Call) {
    StringRef Name = calleeName(Call);
    return Name == Enter || Name == Leave || Name == LeaveAll || Name == Depth;
}

bool isRegionEnd(const CallBase &Call) {
    StringRef Name = calleeName(Call);
    return Name == Leave || Name == LeaveAll || Name == LeaveScope;
}

bool changesState(const CallBase &Call) {
    StringRef Name = calleeName(Call);
    return isRegionEnd(Call) || Name == Enter || Name == EnterScope;
}

static AllocaInst *placeOfDepth(CallInst &SetJump) {
    BasicBlock &Entry = SetJump.getFunction()->getEntryBlock();
    return new AllocaInst(Type::getInt32Ty(SetJump.getContext()), 0, "trackway.depth", &*Entry.begin());
}

bool isScopeMark(const CallBase &Call) {
    StringRef Name = calleeName(Call);
    return Name == EnterScope || Name == LeaveScope;
}

void leaveRegionsBehind(CallInst &SetJump) {
    Runtime R(*SetJump.getModule(), /*Counts=*/true);
    IRBuilder<> B(&SetJump);
    // The depth is kept in memory, since registers need not survive.
    AllocaInst *Kept = placeOfDepth(SetJump);
    B.CreateStore(R.depth(B), Kept, true);
    B.SetInsertPoint(SetJump.getNextNode());
    R.leaveAll(B, B.CreateLoad(B.getInt32Ty(), Kept, true), std::nullopt);
}

bool hasRegions(const Module &M) { return M.getFunction(Enter) || M.getFunction(EnterScope); }

// The optimiser is still to come, for which the runtime's accesses of the place are none of the function.
static void leaveWindowRegionsBehind(CallInst &SetJump) {
    Runtime R(*SetJump.getModule(), /*Counts=*/false);
    AllocaInst *Kept = placeOfDepth(SetJump);
    IRBuilder<> B(&SetJump);
    R.keepDepth(B, *Kept);
    B.SetInsertPoint(SetJump.getNextNode());
    R.leaveSince(B, *Kept);
}

// Where nothing switches windows, functions that call setjmp need not.
static void leaveWindowRegionsBehind(Module &M) {
    if (none_of(WindowMarks, [&](StringRef Name) { return M.getFunction(Name); }))
        return;
    SmallVector<CallInst *, 1> Twice;
    for (Function &F : M)
        for (Instruction &I : instructions(F))
            if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->hasFnAttr(Attribute::ReturnsTwice))
                Twice.push_back(Call);
    for (CallInst *Call : Twice)
        leaveWindowRegionsBehind(*Call);
}

ArrayRef<StringRef> windowMarks() { return WindowMarks; }
ArrayRef<StringRef> windowScopeMarks() { return WindowScopeMarks; }

std::vector<StringRef> regionNames(const Module &M) {
    SetVector<StringRef> Found; // several variables may have a name if modules were linked
    for (const GlobalVariable &G : M.globals()) {
        const auto *Region = G.hasInitializer() ? dyn_cast<ConstantStruct>(G.getInitializer()) : nullptr;
        if (!Region || !G.getName().starts_with(RegionVariable))
            continue;
        if (const ConstantDataSequential *Text = constantText(*Region->getOperand(0)))
            Found.insert(Text->getAsCString());
    }
    return {Found.begin(), Found.end()};
}

PreservedAnalyses RegionPass::run(Module &M, ModuleAnalysisManager &) {
    ModuleRegions(M, Counts, Globs).run();
    Counts ? inheritRegions(M) : leaveWindowRegionsBehind(M);
    return PreservedAnalyses::none();
}

} // namespace trackway
