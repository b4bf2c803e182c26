#include "prepare/SharedLabels.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace trackway {

static bool mayJump(const CallBase &Call) {
    auto *Assembly = dyn_cast<InlineAsm>(Call.getCalledOperand());
    return Assembly && !Call.arg_empty() && !Assembly->getAsmString().empty();
}

bool SharedLabels::canShare(const Function &F) {
    bool HasJump = false;
    for (const Instruction &I : instructions(F)) {
        HasJump |= isa<IndirectBrInst>(I);
        if (auto *Call = dyn_cast<CallBase>(&I); Call && mayJump(*Call))
            return false;
    }
    return HasJump;
}

SharedLabels::SharedLabels(Function &F) {
    SmallVector<BlockAddress *, 8> Labels;
    for (BasicBlock &BB : F)
        if (BlockAddress *Label = BB.hasAddressTaken() ? BlockAddress::lookup(&BB) : nullptr) {
            Blocks.push_back(&BB);
            Labels.push_back(Label);
        }
    auto *Type = ArrayType::get(PointerType::getUnqual(F.getContext()), 2 * Blocks.size());
    // `coverage` knows by the name that reads of the table are none of the program's own.
    Table = new GlobalVariable(*F.getParent(), Type, /*isConstant=*/true, GlobalValue::InternalLinkage, nullptr,
                               "trackway.targets." + F.getName());
    Table->setDSOLocal(true);
    Table->setComdat(F.getComdat());
    Constant *Zero = ConstantInt::get(llvm::Type::getInt64Ty(F.getContext()), 0);
    for (auto [Number, Label] : enumerate(Labels)) {
        Constant *Index[] = {Zero, ConstantInt::get(Zero->getType(), Number)};
        Label->replaceAllUsesWith(ConstantExpr::getInBoundsGetElementPtr(Type, Table, Index));
    }
}

// Jumps to what stands in the table, by that many entries past the label.
static void jumpByTable(Function &F, unsigned Distance) {
    for (BasicBlock &BB : F) {
        auto *Jump = dyn_cast<IndirectBrInst>(BB.getTerminator());
        if (!Jump)
            continue;
        IRBuilder<> B(Jump);
        Value *Entry =
            Distance ? B.CreateConstInBoundsGEP1_64(B.getPtrTy(), Jump->getAddress(), Distance) : Jump->getAddress();
        LoadInst *Address = B.CreateLoad(B.getPtrTy(), Entry);
        Address->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(F.getContext(), {}));
        Address->setMetadata(LLVMContext::MD_nosanitize, MDNode::get(F.getContext(), {}));
        Jump->setAddress(Address);
    }
}

void SharedLabels::addPlain(Function &Plain, const ValueToValueMapTy &Map) {
    Function &Recording = *Blocks.front()->getParent();
    SmallVector<Constant *, 16> Entries;
    for (BasicBlock *Block : Blocks)
        Entries.push_back(BlockAddress::get(&Plain, cast<BasicBlock>(Map.lookup(Block))));
    for (BasicBlock *Block : Blocks)
        Entries.push_back(BlockAddress::get(&Recording, Block));
    Table->setInitializer(ConstantArray::get(cast<ArrayType>(Table->getValueType()), Entries));
    jumpByTable(Plain, 0);
}

void SharedLabels::finishRecording(Function &Recording) const { jumpByTable(Recording, Blocks.size()); }

} // namespace trackway
