#include "count/TwoVersions.h"

#include "LlvmVersion.h"
#include "code/OurInstructions.h"
#include "regions/Regions.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

using namespace llvm;

namespace trackway {

bool TwoVersions::canHave(const Function &F) {
    return none_of(F, [](const BasicBlock &BB) { return BB.hasAddressTaken(); });
}

TwoVersions::TwoVersions(Function &F) : F(F) {
    Copy = Function::Create(F.getFunctionType(), GlobalValue::InternalLinkage, F.getName(), F.getParent());
    for (auto [Own, Others] : zip(F.args(), Copy->args()))
        Copies[&Own] = &Others;
    SmallVector<BasicBlock *, 32> Blocks;
    for (BasicBlock &BB : F) {
        Blocks.push_back(CloneBasicBlock(&BB, Copies, "", Copy));
        Copies[&BB] = Blocks.back();
    }
    for (BasicBlock *BB : Blocks)
        for (Instruction &I : make_early_inc_range(reverse(*BB))) {
            if (isOurs(I)) { // computes what is only counted
                I.eraseFromParent();
                continue;
            }
            if (isa<DbgInfoIntrinsic>(I)) { // like records, they may speak of what isn't known in both versions
                I.eraseFromParent();
                continue;
            }
            dropDebugRecords(I);
            RemapInstruction(&I, Copies, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
        }
}

void TwoVersions::join(const CountingSymbols &Symbols) {
    SmallVector<CallInst *, 8> Marks;
    for (Instruction &I : instructions(F))
        if (auto *Call = dyn_cast<CallInst>(&I); Call && changesState(*Call))
            Marks.push_back(Call);
    BasicBlock &Counting = F.getEntryBlock(), &Plain = Copy->getEntryBlock();
    joinAllocas();
    findPairs();
    moveIn();
    chooseAtEntry(Counting, Plain, Symbols);
    for (CallInst *Mark : Marks)
        connect(*Mark, Symbols);
    repair();
}

// Both work on the same memory.
void TwoVersions::joinAllocas() {
    for (Instruction &I : F.getEntryBlock()) {
        auto *A = dyn_cast<AllocaInst>(&I);
        auto It = A && A->isStaticAlloca() ? Copies.find(A) : Copies.end();
        if (It == Copies.end())
            continue;
        auto *Other = cast<AllocaInst>(It->second);
        Other->replaceAllUsesWith(A);
        Other->eraseFromParent();
        Copies.erase(A);
    }
}

void TwoVersions::findPairs() {
    for (Instruction &I : instructions(F)) {
        auto *Others = dyn_cast_or_null<Instruction>(Copies.lookup(&I));
        if (Others && !I.getType()->isVoidTy() && !I.getType()->isTokenTy())
            Pairs.emplace_back(&I, Others);
    }
}

void TwoVersions::moveIn() {
    for (auto [Own, Others] : zip(F.args(), Copy->args()))
        Others.replaceAllUsesWith(&Own);
    F.splice(F.end(), Copy);
    Copy->eraseFromParent();
}

void TwoVersions::chooseAtEntry(BasicBlock &Counting, BasicBlock &Plain, const CountingSymbols &Symbols) {
    auto *Entry = BasicBlock::Create(F.getContext(), "", &F, &Counting);
    for (Instruction &I : make_early_inc_range(Counting))
        if (auto *A = dyn_cast<AllocaInst>(&I); A && isa<ConstantInt>(A->getArraySize()))
            A->moveBefore(*Entry, Entry->end());
    IRBuilder<> B(Entry);
    B.CreateCondBr(Symbols.countsNow(B), &Counting, &Plain);
}

static void replaceTerminator(BasicBlock &BB, function_ref<void(IRBuilder<> &)> Write) {
    Instruction *Old = BB.getTerminator();
    IRBuilder<> B(Old);
    Write(B);
    Old->eraseFromParent();
}

// After the mark, both versions branch to the one that the thread's state selects.
void TwoVersions::connect(CallInst &Mark, const CountingSymbols &Symbols) {
    auto &Others = *cast<CallInst>(Copies.lookup(&Mark));
    BasicBlock *Counting = Mark.getParent()->getUniqueSuccessor(), *Plain = Others.getParent()->getUniqueSuccessor();
    skipInPlain(Others, *Plain, Symbols);
    for (CallInst *Call : {&Mark, &Others})
        replaceTerminator(*Call->getParent(),
                          [&](IRBuilder<> &B) { B.CreateCondBr(Symbols.countsNow(B), Counting, Plain); });
}

// If no region that the runtime knows is open on the thread, there is none to leave, and most entries skip the call.
void TwoVersions::skipInPlain(CallInst &Mark, BasicBlock &Behind, const CountingSymbols &Symbols) {
    BasicBlock *Before = Mark.getParent();
    BasicBlock *Calling = SplitBlock(Before, &Mark);
    replaceTerminator(*Before, [&](IRBuilder<> &B) {
        Value *IsInNone = B.CreateICmpEQ(Symbols.openRegions(B), B.getInt64(0));
        if (isRegionEnd(Mark)) {
            B.CreateCondBr(IsInNone, &Behind, Calling);
            return;
        }
        auto *Skip = BasicBlock::Create(F.getContext(), "", &F, Calling);
        Value *Place = Symbols.countdown(B, *Mark.getArgOperand(0));
        Value *Left = B.CreateLoad(B.getInt64Ty(), Place);
        Value *IsSkipped = B.CreateAnd(IsInNone, B.CreateICmpNE(Left, B.getInt64(0)));
        B.CreateCondBr(IsSkipped, Skip, Calling);
        B.SetInsertPoint(Skip);
        B.CreateStore(B.CreateSub(Left, B.getInt64(1)), Place);
        B.CreateBr(&Behind);
    });
}

// A use may be reached from either version, so it needs the value of the version that was executed.
void TwoVersions::repair() {
    for (auto [Own, Others] : Pairs) {
        SmallVector<Use *, 8> Uses;
        for (Instruction *I : {Own, Others})
            for (Use &U : I->uses()) {
                auto *User = cast<Instruction>(U.getUser());
                auto *Phi = dyn_cast<PHINode>(User);
                if ((Phi ? Phi->getIncomingBlock(U) : User->getParent()) != I->getParent())
                    Uses.push_back(&U);
            }
        if (Uses.empty())
            continue;
        SSAUpdater Updater;
        Updater.Initialize(Own->getType(), Own->getName());
        Updater.AddAvailableValue(Own->getParent(), Own);
        Updater.AddAvailableValue(Others->getParent(), Others);
        for (Use *U : Uses)
            Updater.RewriteUse(*U);
    }
}

} // namespace trackway
