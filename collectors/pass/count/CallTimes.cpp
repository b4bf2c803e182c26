#include "count/CallTimes.h"

#include "LlvmVersion.h"
#include "code/Calls.h"
#include "regions/Regions.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace trackway {

bool canBeTimed(const CallBase &Call) {
    const Function *Callee = Call.getCalledFunction();
    return Callee && Callee->isDeclaration() && !Callee->isIntrinsic() &&
           !Callee->getName().starts_with("__trackway_") && endsUnit(Call) && !changesCounters(Call) &&
           !isScopeMark(Call) && !Call.isMustTailCall() && !Call.doesNotReturn() && !isa<CallBrInst>(Call);
}

std::vector<TimedCallee> timedCallees(Function &F, uint32_t &NextCounter) {
    MapVector<const Function *, TimedCallee> Found;
    for (Instruction &I : instructions(F)) {
        auto *Call = dyn_cast<CallBase>(&I);
        if (!Call || !canBeTimed(*Call))
            continue;
        const Function *Callee = Call->getCalledFunction();
        auto [It, IsNew] = Found.insert({Callee, {Callee, NextCounter, {}}});
        NextCounter += IsNew ? CountersOfCallee : 0;
        It->second.Calls.push_back(Call);
    }
    std::vector<TimedCallee> Callees;
    for (auto &[Function, Callee] : Found)
        Callees.push_back(std::move(Callee));
    return Callees;
}

// The first instruction after the call's return.
static Instruction *behind(CallBase &Call) {
    auto *Invoke = dyn_cast<InvokeInst>(&Call);
    if (!Invoke)
        return Call.getNextNode();
    BasicBlock *Next = Invoke->getNormalDest();
    return startOf(*(Next->getUniquePredecessor() ? Next : SplitEdge(Invoke->getParent(), Next)));
}

// The first counter says how many calls may pass: below 0, this one is timed.
void timeCall(CallBase &Call, function_ref<Value *(IRBuilder<> &)> Callee, const CountingSymbols &Symbols) {
    LLVMContext &C = Call.getContext();
    IRBuilder<> B(&Call);
    Type *I64 = B.getInt64Ty();
    Value *Place = Callee(B), *Passing = B.CreateLoad(I64, Place);
    B.CreateStore(B.CreateSub(Passing, B.getInt64(1)), Place);
    Value *IsTimed = B.CreateICmpEQ(Passing, B.getInt64(0));
    Instruction *Begin = SplitBlockAndInsertIfThen(IsTimed, &Call, false, unlikely(C));
    BasicBlock *Untimed = Begin->getParent()->getUniquePredecessor();
    B.SetInsertPoint(Begin);
    Value *Started = B.CreateCall(Symbols.BeginCall, {Place});
    B.SetInsertPoint(Call.getParent(), Call.getParent()->begin());
    PHINode *Start = B.CreatePHI(I64, 2);
    Start->addIncoming(Started, Begin->getParent());
    Start->addIncoming(B.getInt64(0), Untimed);

    Instruction *Next = behind(Call);
    B.SetInsertPoint(Next);
    Instruction *End = SplitBlockAndInsertIfThen(B.CreateICmpNE(Start, B.getInt64(0)), Next, false, unlikely(C));
    B.SetInsertPoint(End);
    B.CreateCall(Symbols.EndCall, {Place, Start});
}

} // namespace trackway
