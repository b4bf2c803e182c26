#include "record/WindowLoops.h"

#include "LlvmVersion.h"
#include "code/Calls.h"
#include "code/OurInstructions.h"
#include "code/SpinWaits.h"
#include "code/TripCounts.h"
#include "record/RecordingWindow.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace trackway {

// ---- Which loops ----

// What means another thing in a function of its own, or may be there only once.
static bool staysInItsFunction(const Instruction &I) {
    if (auto *A = dyn_cast<AllocaInst>(&I))
        return !A->isStaticAlloca();
    if (isa<CallBrInst>(I) || isa<IndirectBrInst>(I) || I.getType()->isTokenTy() || I.isEHPad())
        return true;
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call)
        return false;
    if (Call->isMustTailCall() || Call->cannotDuplicate() || Call->hasFnAttr(Attribute::ReturnsTwice))
        return true;
    switch (Call->getIntrinsicID()) {
    case Intrinsic::vastart:
    case Intrinsic::frameaddress:
    case Intrinsic::returnaddress:
    case Intrinsic::addressofreturnaddress:
    case Intrinsic::sponentry:
    case Intrinsic::localescape:
    case Intrinsic::stacksave:
    case Intrinsic::stackrestore:
    case Intrinsic::eh_sjlj_setjmp:
        return true;
    default:
        return false;
    }
}

static bool canBeSplit(const Function &F) {
    return !F.hasOptNone() && none_of(F, [](const BasicBlock &BB) { return BB.hasAddressTaken(); }) &&
           none_of(instructions(F), [](const Instruction &I) {
               auto *Call = dyn_cast<CallBase>(&I);
               return Call && Call->hasFnAttr(Attribute::ReturnsTwice);
           });
}

// Calls in which a loop only waits don't count: such a loop is one record, too.
static bool hasCalls(const Loop &L) {
    auto CallsOther = [](const Instruction &I) {
        auto *Call = dyn_cast<CallBase>(&I);
        return endsUnit(I) && !(Call && isPause(*Call));
    };
    return any_of(L.blocks(), [&](const BasicBlock *BB) { return any_of(*BB, CallsOther); });
}

// A loop that has loops in it may go on for long without calls, too. An innermost one seldom does, and is better left
// whole, as one operation of the record.
static bool mayBeLong(const Loop &L, Function &F, DominatorTree &DT, LoopInfo &LI) {
    constexpr uint64_t Short = 1 << 16;
    return hasCalls(L) || (!L.isInnermost() && !TripCounts(F, DT, LI).isBounded(L, Short));
}

// A recording copy has some six times the instructions of a plain one, so what is recorded of these loops is in the
// function with their rest only. Calling that takes as long as recording some ten accesses.
static bool isLarge(const Loop &L) {
    constexpr size_t Least = 100;
    size_t Size = 0;
    for (const BasicBlock *BB : L.blocks())
        Size += BB->sizeWithoutDebug();
    return Size >= Least;
}

static bool canBeSplit(const Loop &L) {
    SmallVector<BasicBlock *, 4> Exits;
    L.getExitBlocks(Exits);
    return none_of(Exits, [](const BasicBlock *BB) { return BB->isEHPad(); }) && !L.getHeader()->isEHPad() &&
           none_of(L.blocks(), [](const BasicBlock *BB) { return any_of(*BB, staysInItsFunction); });
}

// ---- One loop ----

// Marks of an object's lifetime belong to the function that has it in its frame, and since 22 may stand nowhere else.
static void dropLifetime(Value &Address) {
    for (User *U : make_early_inc_range(Address.users()))
        if (auto *Marker = dyn_cast<IntrinsicInst>(U); Marker && Marker->isLifetimeStartOrEnd())
            Marker->eraseFromParent();
}

static void endAfterPhis(BasicBlock &BB) {
    for (BasicBlock *After : successors(&BB))
        After->removePredecessor(&BB);
    for (Instruction &I : make_early_inc_range(reverse(BB)))
        if (!isa<PHINode>(I)) {
            if (!I.use_empty())
                I.replaceAllUsesWith(PoisonValue::get(I.getType()));
            I.eraseFromParent();
        }
}

namespace {

// Where a value stands that the loop takes with it, or leaves until its function has returned.
struct Place {
    PHINode *Phi;
    unsigned Field;
};

class Splitter {
  public:
    Splitter(Function &F, Loop &L, BasicBlock &Again, AllocaInst *&PlaceForLeft, Chosen How,
             const RuntimeSymbols &Runtime)
        : F(F), L(L), Again(Again), Header(*L.getHeader()), C(F.getContext()), PlaceForLeft(PlaceForLeft), How(How),
          Runtime(Runtime) {
        L.getUniqueExitBlocks(Exits);
        for (PHINode &Phi : Header.phis())
            addPlace(Phi, Carried);
        for (BasicBlock *Exit : Exits)
            for (PHINode &Phi : Exit->phis())
                addPlace(Phi, Left[Exit]);
        findInputs();
    }

    bool canPassAll() const {
        auto CanPass = [](const Value *V) {
            Type *Ty = V->getType();
            return Ty->isFirstClassType() && !Ty->isTokenTy() && !Ty->isMetadataTy() && !Ty->isX86_AMXTy() &&
                   !isa<ScalableVectorType>(Ty) && !V->isSwiftError();
        };
        return all_of(Inputs, CanPass) && all_of(Carried, [&](Place P) { return CanPass(P.Phi); }) &&
               all_of(Left, [&](auto &Entry) { return all_of(Entry.second, [&](Place P) { return CanPass(P.Phi); }); });
    }

    LoopRest run(WindowQuestions &Questions) {
        Function *Rest = makeRest();
        Questions[Rest].push_back(stop(*Rest));
        EliminateUnreachableBlocks(*Rest);
        bool IsLarge = isLarge(L); // before questions are added
        Questions[&F].push_back(callRest(*Rest, IsLarge));
        return {Rest, std::move(TakenByRest), Header.getTerminator()->getDebugLoc(), !IsLarge};
    }

  private:
    static constexpr unsigned GoesOn = 0; // what the rest returns where the loop is not over

    bool isFromOutside(Value *V) const {
        if (isa<Argument>(V))
            return true;
        auto *I = dyn_cast<Instruction>(V);
        return I && !L.contains(I);
    }

    void findInputs() {
        for (BasicBlock *BB : L.blocks())
            for (Instruction &I : *BB)
                for (Use &U : I.operands())
                    if (!isBeforeFirst(U))
                        addInput(U);
        for (BasicBlock *Exit : Exits)
            for (PHINode &Phi : Exit->phis())
                for (Value *V : Phi.incoming_values())
                    addInput(V);
    }

    // What the loop begins its first iteration with.
    bool isBeforeFirst(const Use &U) const {
        auto *Phi = dyn_cast<PHINode>(U.getUser());
        return Phi && Phi->getParent() == &Header && !L.contains(Phi->getIncomingBlock(U));
    }

    void addInput(Value *V) {
        if (isFromOutside(V))
            Inputs.insert(V);
    }

    void addPlace(PHINode &Phi, SmallVectorImpl<Place> &To) { To.push_back({&Phi, static_cast<unsigned>(To.size())}); }

    // What the rest leaves in memory on a way out, each of which has all of that memory for itself.
    StructType *typeOf(ArrayRef<Place> Places) const {
        SmallVector<Type *, 8> Types;
        for (Place P : Places)
            Types.push_back(P.Phi->getType());
        return StructType::get(C, Types);
    }

    // What the rest takes from there: what is carried into its first iteration, and then its inputs.
    StructType *typeOfTaken() const {
        SmallVector<Type *, 8> Types;
        for (Place P : Carried)
            Types.push_back(P.Phi->getType());
        for (Value *V : Inputs)
            Types.push_back(V->getType());
        return StructType::get(C, Types);
    }

    StoreInst *store(IRBuilder<> &B, Value *V, Value *To, StructType *Ty, unsigned Field) const {
        StoreInst *Store = B.CreateStore(V, B.CreateStructGEP(Ty, To, Field));
        markOurs(*Store);
        return Store;
    }

    LoadInst *load(IRBuilder<> &B, Value *From, StructType *Ty, unsigned Field) const {
        LoadInst *Value = B.CreateLoad(Ty->getElementType(Field), B.CreateStructGEP(Ty, From, Field));
        markOurs(*Value);
        return Value;
    }

    // ---- The function with the rest of the loop ----

    Function *makeRest() {
        auto *Type = FunctionType::get(Type::getInt32Ty(C), {PointerType::getUnqual(C)}, false);
        auto *Rest = Function::Create(Type, GlobalValue::InternalLinkage, F.getAddressSpace(), F.getName() + ".loop",
                                      F.getParent());
        auto *Entry = BasicBlock::Create(C, "begin", Rest);
        ValueToValueMapTy Map;
        for (Argument &A : F.args())
            Map[&A] = PoisonValue::get(A.getType());
        IRBuilder<> B(Entry);
        SmallVector<Value *, 8> Taken;
        for (auto [Number, V] : enumerate(Inputs)) {
            Taken.push_back(load(B, Rest->arg_begin(), typeOfTaken(), Carried.size() + Number));
            if (isa<Argument>(V))
                Map[V] = Taken.back();
            TakenByRest.push_back({Taken.back(), V});
        }
        SmallVector<ReturnInst *, 4> Returns;
        CloneFunctionInto(Rest, &F, Map, CloneFunctionChangeType::LocalChangesOnly, Returns);
        dress(*Rest);
        for (auto [V, Given] : zip(Inputs, Taken))
            if (auto *Copy = dyn_cast<Instruction>(Map[V]); isa<Instruction>(V) && Copy)
                Copy->replaceAllUsesWith(Given);
        for (Value *Given : Taken)
            dropLifetime(*Given);
        begin(*Entry, *Rest, Map);
        for (auto [Number, Exit] : enumerate(Exits))
            leave(*Rest, *cast<BasicBlock>(Map[Exit]), Left[Exit], Number + 1, Map);
        AgainInRest = cast<BasicBlock>(Map[&Again]);
        for (Place P : Carried)
            CarriedInRest.push_back({cast<PHINode>(Map[P.Phi]), P.Field});
        return Rest;
    }

    void dress(Function &Rest) const {
        Rest.setAttributes(AttributeList::get(C, F.getAttributes().getFnAttrs(), {}, {}));
        for (Attribute::AttrKind No : {Attribute::Memory, Attribute::WillReturn, Attribute::NoReturn,
                                       Attribute::Speculatable, Attribute::AlwaysInline, Attribute::InlineHint,
                                       Attribute::NoSync, Attribute::AllocKind, Attribute::AllocSize})
            Rest.removeFnAttr(No);
        for (StringRef No : {"alloc-family", "thunk"})
            Rest.removeFnAttr(No);
        Rest.addFnAttr(Attribute::NoInline);
        Rest.setCallingConv(CallingConv::C);
        Rest.setLinkage(GlobalValue::InternalLinkage);
        Rest.setVisibility(GlobalValue::DefaultVisibility);
        Rest.setDSOLocal(true);
        Rest.setComdat(F.getComdat());
        if (F.hasPersonalityFn())
            Rest.setPersonalityFn(F.getPersonalityFn());
    }

    void begin(BasicBlock &Entry, Function &Rest, ValueToValueMapTy &Map) {
        IRBuilder<> B(&Entry);
        for (Place P : Carried) {
            LoadInst *First = load(B, Rest.arg_begin(), typeOfTaken(), P.Field);
            cast<PHINode>(Map[P.Phi])->addIncoming(First, &Entry);
            TakenByRest.push_back({First, P.Phi});
        }
        B.CreateBr(cast<BasicBlock>(Map[&Header]));
    }

    void leave(Function &Rest, BasicBlock &Exit, ArrayRef<Place> Places, unsigned Number, ValueToValueMapTy &Map) {
        endAfterPhis(Exit);
        IRBuilder<> B(&Exit);
        for (Place P : Places)
            store(B, Map[P.Phi], Rest.arg_begin(), typeOf(Places), P.Field);
        B.CreateRet(B.getInt32(Number));
    }

    // The question, in the copy of the loop.
    WindowQuestion stop(Function &Rest) {
        auto *Stop = BasicBlock::Create(C, "stop", &Rest);
        IRBuilder<> B(Stop);
        for (Place P : CarriedInRest)
            store(B, P.Phi->getIncomingValueForBlock(AgainInRest), Rest.arg_begin(), typeOf(Carried), P.Field);
        B.CreateRet(B.getInt32(GoesOn));
        return ask(*AgainInRest, *Stop, *AgainInRest->getTerminator()->getSuccessor(0));
    }

    WindowQuestion ask(BasicBlock &In, BasicBlock &Changed, BasicBlock &Same) {
        Instruction *End = In.getTerminator(), *Before = End->getPrevNode();
        IRBuilder<> B(End);
        LoadInst *Open = loadOpenWindow(B, Runtime);
        Value *RegionsSwitch = How == Chosen::WithRegions ? loadRegionsSwitch(B, Runtime) : nullptr;
        Value *Wanted = RegionsSwitch ? B.CreateOr(Open, RegionsSwitch) : Open;
        auto *Changes = cast<ICmpInst>(B.CreateICmpNE(Wanted, B.getInt32(0)));
        B.CreateCondBr(Changes, &Changed, &Same, unlikely(C));
        for (Instruction *I = Before ? Before->getNextNode() : &In.front(); I; I = I->getNextNode())
            markOurs(*I);
        End->eraseFromParent();
        return {Changes, Open, RegionsSwitch, {}};
    }

    // ---- The call of it ----

    WindowQuestion callRest(Function &Rest, bool IsLarge) {
        auto *Call = BasicBlock::Create(C, "switch", &F);
        AllocaInst *Left = placeForLeft();
        IRBuilder<> B(Call);
        std::vector<CarriedValue> Given;
        for (Place P : Carried) {
            Value *V = P.Phi->getIncomingValueForBlock(&Again);
            Given.push_back({P.Phi, store(B, V, Left, typeOfTaken(), P.Field)});
        }
        for (auto [Number, V] : enumerate(Inputs))
            store(B, V, Left, typeOfTaken(), Carried.size() + Number);
        B.SetCurrentDebugLocation(location());
        CallInst *Result = B.CreateCall(&Rest, {Left});
        BasicBlock &Next = blockBeforeHeader();
        auto *Choice = B.CreateSwitch(Result, come(*Left, CarriedByNext, Next), Exits.size());
        for (auto [Number, Exit] : enumerate(Exits))
            Choice->addCase(B.getInt32(Number + 1), come(*Left, this->Left[Exit], *Exit));
        WindowQuestion Question = ask(Again, *Call, Next);
        Question.In = {IsLarge ? &Header : nullptr, Call, std::move(Given)};
        return Question;
    }

    // Where the loop's own way to the next iteration meets the one from its rest, so that the loop has one latch still.
    BasicBlock &blockBeforeHeader() {
        auto *Next = BasicBlock::Create(C, "next", &F);
        BranchInst *End = BranchInst::Create(&Header, Next);
        for (Place P : Carried) {
            int From = P.Phi->getBasicBlockIndex(&Again);
            PHINode *Phi = PHINode::Create(P.Phi->getType(), 2, "", End);
            Phi->addIncoming(P.Phi->getIncomingValue(From), &Again);
            P.Phi->setIncomingValue(From, Phi);
            P.Phi->setIncomingBlock(From, Next);
            CarriedByNext.push_back({Phi, P.Field});
        }
        return *Next;
    }

    uint64_t sizeOf(Type *Ty) const { return F.getParent()->getDataLayout().getTypeAllocSize(Ty).getFixedValue(); }

    // One for all loops of the function, since frames should stay small.
    AllocaInst *placeForLeft() {
        const DataLayout &DL = F.getParent()->getDataLayout();
        uint64_t Size = sizeOf(typeOfTaken());
        Align Alignment = DL.getABITypeAlign(typeOfTaken());
        for (auto &Entry : Left) {
            Size = std::max(Size, sizeOf(typeOf(Entry.second)));
            Alignment = std::max(Alignment, DL.getABITypeAlign(typeOf(Entry.second)));
        }
        if (PlaceForLeft)
            Size = std::max(Size, sizeOf(PlaceForLeft->getAllocatedType()));
        auto *Ty = ArrayType::get(Type::getInt8Ty(C), Size);
        auto *Place =
            new AllocaInst(Ty, DL.getAllocaAddrSpace(), "trackway.left", &*F.getEntryBlock().getFirstInsertionPt());
        Place->setAlignment(PlaceForLeft ? std::max(Alignment, PlaceForLeft->getAlign()) : Alignment);
        if (PlaceForLeft) {
            PlaceForLeft->replaceAllUsesWith(Place);
            PlaceForLeft->eraseFromParent();
        }
        PlaceForLeft = Place;
        return Place;
    }

    // A block that goes where the rest has left off.
    BasicBlock *come(AllocaInst &Out, ArrayRef<Place> Places, BasicBlock &To) {
        auto *BB = BasicBlock::Create(C, "back", &F);
        IRBuilder<> B(BB);
        for (Place P : Places)
            P.Phi->addIncoming(load(B, &Out, typeOf(Places), P.Field), BB);
        B.CreateBr(&To);
        return BB;
    }

    // Calls of functions with debug information need a location.
    DebugLoc location() const {
        DISubprogram *Text = F.getSubprogram();
        return Text ? DebugLoc(DILocation::get(C, 0, 0, Text)) : DebugLoc();
    }

    Function &F;
    Loop &L;
    BasicBlock &Again, &Header;
    LLVMContext &C;
    AllocaInst *&PlaceForLeft;
    Chosen How;
    const RuntimeSymbols &Runtime;
    SmallVector<BasicBlock *, 4> Exits;
    SmallVector<Place, 8> Carried; // into the next iteration
    DenseMap<BasicBlock *, SmallVector<Place, 4>> Left;
    SetVector<Value *> Inputs;
    std::vector<TakenValue> TakenByRest;
    BasicBlock *AgainInRest = nullptr;
    SmallVector<Place, 8> CarriedInRest, CarriedByNext;
};

} // namespace

// A block of its own through which all iterations but the first one begin.
static BasicBlock *blockBeforeNext(Loop &L, DominatorTree &DT, LoopInfo &LI) {
    SmallVector<BasicBlock *, 4> Latches;
    L.getLoopLatches(Latches);
    return SplitBlockPredecessors(L.getHeader(), Latches, ".again", &DT, &LI, nullptr, false);
}

// The first outermost loop that has not been looked at yet. Splitting one changes what surrounds the others.
static Loop *nextLongLoop(Function &F, DominatorTree &DT, LoopInfo &LI, SmallPtrSetImpl<BasicBlock *> &Seen) {
    for (Loop *L : LI)
        if (Seen.insert(L->getHeader()).second && canBeSplit(*L) && mayBeLong(*L, F, DT, LI))
            return L;
    return nullptr;
}

std::vector<LoopRest> splitLongLoops(Function &F, Chosen How, const RuntimeSymbols &Runtime,
                                     WindowQuestions &Questions) {
    std::vector<LoopRest> Rests;
    SmallPtrSet<BasicBlock *, 8> Seen;
    AllocaInst *PlaceForLeft = nullptr;
    while (canBeSplit(F)) {
        DominatorTree DT(F);
        LoopInfo LI(DT);
        Loop *L = nextLongLoop(F, DT, LI, Seen);
        if (!L)
            break;
        formDedicatedExitBlocks(L, &DT, &LI, nullptr, false);
        formLCSSARecursively(*L, DT, &LI, nullptr);
        BasicBlock *Again = blockBeforeNext(*L, DT, LI);
        Splitter S(F, *L, *Again, PlaceForLeft, How, Runtime);
        if (S.canPassAll())
            Rests.push_back(S.run(Questions));
    }
    return Rests;
}

// The rest uses objects of this function's frame while the marks of their lifetimes go away with the loop: such an
// object may not share its place with another one.
static void keepObjectsForRest(const BasicBlock &CallOfRest) {
    for (const Instruction &I : CallOfRest)
        if (auto *Given = dyn_cast<StoreInst>(&I))
            if (auto *Object = dyn_cast<AllocaInst>(Given->getValueOperand()))
                dropLifetime(*const_cast<AllocaInst *>(Object));
}

// The head of the loop goes to the call of the rest, and comes back where that says that the loop goes on.
static void replaceByRest(const LargeLoop &L) {
    keepObjectsForRest(*L.CallOfRest);
    endAfterPhis(*L.Header);
    BranchInst::Create(L.CallOfRest, L.Header);
    for (CarriedValue V : L.Carried)
        V.Given->setOperand(0, V.Phi);
}

void leaveLargeLoopsToRests(Function &F, std::vector<WindowQuestion> &Questions) {
    for (const WindowQuestion &Q : Questions)
        if (Q.In.Header)
            replaceByRest(Q.In);
    erase_if(Questions, [](const WindowQuestion &Q) { return Q.In.Header != nullptr; });
    EliminateUnreachableBlocks(F);
}

// No window's number where the plain copy is to go on: regions may begin no more.
static Value *orNone(IRBuilder<> &B, Value *Joined, Value &RegionsSwitch) {
    Value *Either = B.CreateOr(Joined, &RegionsSwitch), *IsNone = B.CreateICmpEQ(Either, B.getInt32(0));
    Value *Chosen = B.CreateSelect(IsNone, B.getInt32(UINT32_MAX), Joined);
    for (Value *V : {Either, IsNone, Chosen})
        if (auto *I = dyn_cast<Instruction>(V))
            markOurs(*I);
    return Chosen;
}

void askInRecordingCopy(ArrayRef<WindowQuestion> Questions, const RuntimeSymbols &Runtime) {
    for (const WindowQuestion &Q : Questions) {
        ICmpInst *Changes = Q.Changes;
        IRBuilder<> B(Changes);
        Value *Place = B.CreateThreadLocalAddress(Runtime.Window);
        Value *Joined = B.CreateLoad(B.getInt32Ty(), Place);
        markOurs(*cast<Instruction>(Place));
        markOurs(*cast<Instruction>(Joined));
        Changes->setOperand(0, Q.Open);
        Changes->setOperand(1, Q.RegionsSwitch ? orNone(B, Joined, *Q.RegionsSwitch) : Joined);
    }
}

DenseSet<const Function *> recursiveFunctions(Module &M) {
    DenseSet<const Function *> Found;
    CallGraph Calls(M);
    for (auto At = scc_begin(&Calls); !At.isAtEnd(); ++At)
        if (At.hasCycle())
            for (CallGraphNode *Node : *At)
                if (const Function *F = Node->getFunction())
                    Found.insert(F);
    return Found;
}

} // namespace trackway
