#include "regions/Inheritance.h"

#include "code/OpenMp.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace trackway {

namespace {

using Kind = OpenMpStart::Kind;

// The body is started through a function that joins the regions that were kept at a place, and leaves them. A team
// finds the place as a further argument of the body, a task in its own memory.
class Inheritance {
  public:
    explicit Inheritance(Module &M) : M(M), C(M.getContext()), Pointer(PointerType::getUnqual(C)) {}

    void run() {
        std::vector<OpenMpStart> Starts = openMpStarts(M);
        for (const OpenMpStart &Start : Starts)
            switch (Start.K) {
            case Kind::Team:
                fork(Start, SmallVector<Value *, 8>(drop_begin(Start.Call->args(), 3)));
                Start.Call->eraseFromParent();
                break;
            case Kind::TeamIf:
                forkIf(Start);
                break;
            case Kind::Task:
                task(Start);
                break;
            case Kind::TaskLoop:
                break;
            }
        // They copy tasks that are larger by now.
        for (const OpenMpStart &Start : Starts)
            if (Start.K == Kind::TaskLoop)
                taskLoop(Start);
    }

  private:
    void fork(const OpenMpStart &Start, ArrayRef<Value *> BodysArguments) {
        BasicBlock &Entry = Start.Call->getFunction()->getEntryBlock();
        IRBuilder<> B(&Entry, Entry.begin());
        Value *Place = B.CreateAlloca(B.getInt64Ty(), nullptr, "trackway.place");
        B.SetInsertPoint(Start.Call);
        share(B, "__trackway_share_with_team", Place);
        SmallVector<Type *, 8> Types{Pointer, Pointer};
        for (Value *Argument : BodysArguments)
            Types.push_back(Argument->getType());
        Types.push_back(Pointer);
        Function *Joining = joining(*Start.Body, Types, [](IRBuilder<> &, Function &F) { return F.arg_end() - 1; });
        SmallVector<Value *, 8> Arguments{Start.Call->getArgOperand(0), B.getInt32(BodysArguments.size() + 1), Joining};
        append_range(Arguments, BodysArguments);
        Arguments.push_back(Place);
        CallInst *Fork = B.CreateCall(forkWithArguments(*Start.Call), Arguments);
        Fork->setAttributes(Start.Call->getAttributes());
    }

    FunctionCallee forkWithArguments(const CallInst &Call) {
        Function *Callee = Call.getCalledFunction();
        if (Callee->isVarArg())
            return Callee;
        auto *Type = FunctionType::get(Type::getVoidTy(C), {Pointer, Type::getInt32Ty(C), Pointer}, true);
        return M.getOrInsertFunction("__kmpc_fork_call", Type);
    }

    // There is no room for a further argument, but what it does may be written out.
    void forkIf(const OpenMpStart &Start) {
        IRBuilder<> B(Start.Call);
        Value *Condition = B.CreateICmpNE(Start.Call->getArgOperand(3), B.getInt32(0));
        Instruction *Then, *Else;
        SplitBlockAndInsertIfThenElse(Condition, Start.Call, &Then, &Else);
        OpenMpStart InTeam = Start;
        InTeam.Call = cast<CallInst>(Start.Call->clone());
        InTeam.Call->insertBefore(Then);
        SmallVector<Value *, 1> Arguments;
        if (Start.Body->arg_size() > 2)
            Arguments.push_back(Start.Call->getArgOperand(4));
        fork(InTeam, Arguments);
        InTeam.Call->eraseFromParent();
        Start.Call->moveBefore(Else);
    }

    void task(const OpenMpStart &Start) {
        auto *Size = dyn_cast<ConstantInt>(Start.Call->getArgOperand(3));
        if (!Size)
            return;
        uint64_t Offset = alignTo(Size->getZExtValue(), 8);
        Start.Call->setArgOperand(3, ConstantInt::get(Size->getType(), Offset + 8));
        PlacesInTasks[Start.Call] = Offset;
        Function *Joining = joining(*Start.Body, {Type::getInt32Ty(C), Pointer},
                                    [&](IRBuilder<> &B, Function &F) { return inTask(B, F.getArg(1), Offset); });
        Start.Call->setArgOperand(Start.Position, Joining);
        IRBuilder<> B(Start.Call->getNextNode());
        share(B, "__trackway_share_regions", inTask(B, Start.Call, Offset));
    }

    // The function that constructs a copy gets the copy and the task that it copies.
    void taskLoop(const OpenMpStart &Start) {
        auto Task = PlacesInTasks.find(Start.Call->getArgOperand(2)->stripPointerCasts());
        if (!Start.Body || Task == PlacesInTasks.end())
            return;
        Function *Joining = joining(*Start.Body, {Pointer, Pointer, Type::getInt32Ty(C)},
                                    [&](IRBuilder<> &B, Function &F) { return inTask(B, F.getArg(1), Task->second); });
        Start.Call->setArgOperand(Start.Position, Joining);
    }

    static Value *inTask(IRBuilder<> &B, Value *Task, uint64_t Offset) {
        return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Task, Offset);
    }

    void share(IRBuilder<> &B, StringRef Callee, Value *Place) {
        B.CreateCall(runtime(Callee, Type::getVoidTy(C), {Pointer}), {Place});
    }

    FunctionCallee runtime(StringRef Name, Type *Result, ArrayRef<Type *> Parameters) {
        FunctionCallee Callee = M.getOrInsertFunction(Name, FunctionType::get(Result, Parameters, false));
        cast<Function>(Callee.getCallee())->setDoesNotThrow();
        return Callee;
    }

    // It isn't instrumented itself, by its name; so the body must not become a part of it.
    Function *joining(Function &Body, ArrayRef<Type *> Parameters,
                      function_ref<Value *(IRBuilder<> &, Function &)> PlaceIn) {
        FunctionType *Type = Body.getFunctionType();
        Function *F = Function::Create(FunctionType::get(Type->getReturnType(), Parameters, false),
                                       GlobalValue::InternalLinkage, "trackway.join." + Body.getName(), M);
        F->setCallingConv(Body.getCallingConv());
        F->addFnAttrs(AttrBuilder(C, Body.getAttributes().getFnAttrs()));
        IRBuilder<> B(BasicBlock::Create(C, "", F));
        auto *I32 = B.getInt32Ty();
        Value *Depth = B.CreateCall(runtime("__trackway_join_regions", I32, {Pointer}), {PlaceIn(B, *F)});
        SmallVector<Value *, 8> Arguments;
        for (unsigned I = 0; I < Type->getNumParams(); ++I)
            Arguments.push_back(F->getArg(I));
        CallInst *Call = B.CreateCall(&Body, Arguments);
        Call->setCallingConv(Body.getCallingConv());
        Call->setAttributes(AttributeList::get(C, AttributeSet(), Body.getAttributes().getRetAttrs(), {}));
        Call->setIsNoInline();
        B.CreateCall(runtime("__trackway_leave_regions", B.getVoidTy(), {I32, Pointer}),
                     {Depth, ConstantPointerNull::get(Pointer)});
        Call->getType()->isVoidTy() ? B.CreateRetVoid() : B.CreateRet(Call);
        return F;
    }

    Module &M;
    LLVMContext &C;
    PointerType *Pointer;
    DenseMap<const Value *, uint64_t> PlacesInTasks; // offsets
};

} // namespace

void inheritRegions(Module &M) { Inheritance(M).run(); }

} // namespace trackway
