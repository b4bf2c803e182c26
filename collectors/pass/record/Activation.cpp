#include "record/Activation.h"

#include "LlvmVersion.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace trackway {

Activation::Activation(Function &F, const Plan &P, const StreamWriter &Stream)
    : Stream(Stream), Owner(P.Window % (sizeof(trackway_cells::owners) / sizeof(uint64_t))) {
    if (none_of(P.Units, [](const Unit &U) { return U.resumesActivation(); }))
        return;
    IRBuilder<> Entry(&F.getEntryBlock(), F.getEntryBlock().begin());
    Identity = Entry.CreateAlloca(Entry.getInt8Ty(), nullptr, "trackway.activation");
    Home = Entry.CreateAlloca(Entry.getPtrTy(), nullptr, "trackway.home");
}

Value *Activation::owner(Value *Cells, IRBuilder<> &B) const {
    return StreamWriter::at(B, Cells, offsetof(trackway_cells, owners) + Owner * sizeof(uint64_t));
}

// Volatile, like all that signal handlers and other functions change.
void Activation::begin(Instruction *Before) {
    if (!Identity)
        return;
    IRBuilder<> B(Before);
    Value *Cells = Stream.cells(B);
    B.CreateStore(Identity, owner(Cells, B), /*isVolatile=*/true);
    B.CreateStore(Cells, Home);
}

// There are cells only in a buffer.
Instruction *Activation::insertIfLost(Value *IsFull, Instruction *Before) {
    LLVMContext &Context = Before->getContext();
    BasicBlock *Front = Before->getParent();
    BasicBlock *Tail = SplitBlock(Front, Before);
    BasicBlock *Cold = BasicBlock::Create(Context, "", Front->getParent(), Tail);
    BasicBlock *SameBuffer = BasicBlock::Create(Context, "", Front->getParent(), Tail);
    Instruction *End = BranchInst::Create(Tail, Cold);

    IRBuilder<> B(Front->getTerminator());
    Value *Cells = Stream.cells(B);
    Value *IsElsewhere = B.CreateICmpNE(B.CreateLoad(B.getPtrTy(), Home), Cells);
    B.CreateCondBr(B.CreateOr(IsFull, IsElsewhere), Cold, SameBuffer, unlikely(Context));
    Front->getTerminator()->eraseFromParent();

    IRBuilder<> C(SameBuffer);
    Value *Last = C.CreateLoad(C.getPtrTy(), owner(Cells, C), /*isVolatile=*/true);
    C.CreateCondBr(C.CreateICmpNE(Last, Identity), Cold, Tail, unlikely(Context));
    return End;
}

std::vector<AllocaInst *> Activation::variables() const {
    if (!Home)
        return {};
    return {Home};
}

} // namespace trackway
