#include "record/Activation.h"

#include "abi.h"

#include "llvm/Support/DJB.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace trackway {

Activation::Activation(Function &F, const Plan &P, const StreamWriter &Stream)
    : Stream(Stream), Owner(djbHash(F.getName()) % TRACKWAY_OWNERS) {
    if (none_of(P.Units, [](const Unit &U) { return U.resumesActivation(); }))
        return;
    IRBuilder<> Entry(&F.getEntryBlock(), F.getEntryBlock().begin());
    Identity = Entry.CreateAlloca(Entry.getInt8Ty(), nullptr, "trackway.activation");
    Home = Entry.CreateAlloca(Entry.getPtrTy(), nullptr, "trackway.home");
}

Value *Activation::owner(Value *Limit, IRBuilder<> &B) const {
    return StreamWriter::at(B, Limit, TRACKWAY_SLACK + Owner * sizeof(uint64_t));
}

// Volatile, like all that signal handlers and other functions change.
void Activation::begin(IRBuilder<> &B) {
    if (!Identity)
        return;
    Value *Limit = Stream.limit(B);
    B.CreateStore(Identity, owner(Limit, B), /*isVolatile=*/true);
    B.CreateStore(Limit, Home);
}

// There are owners behind the limit only where it is that of a buffer.
Instruction *Activation::insertIfLost(Value *Limit, Value *IsFull, Instruction *Before) {
    LLVMContext &Context = Before->getContext();
    BasicBlock *Front = Before->getParent();
    BasicBlock *Tail = SplitBlock(Front, Before);
    BasicBlock *Cold = BasicBlock::Create(Context, "", Front->getParent(), Tail);
    BasicBlock *SameBuffer = BasicBlock::Create(Context, "", Front->getParent(), Tail);
    Instruction *End = BranchInst::Create(Tail, Cold);

    IRBuilder<> B(Front->getTerminator());
    Value *IsElsewhere = B.CreateICmpNE(B.CreateLoad(B.getPtrTy(), Home), Limit);
    B.CreateCondBr(B.CreateOr(IsFull, IsElsewhere), Cold, SameBuffer, unlikely(Context));
    Front->getTerminator()->eraseFromParent();

    IRBuilder<> C(SameBuffer);
    Value *Last = C.CreateLoad(C.getPtrTy(), owner(Limit, C), /*isVolatile=*/true);
    C.CreateCondBr(C.CreateICmpNE(Last, Identity), Cold, Tail, unlikely(Context));
    return End;
}

std::vector<AllocaInst *> Activation::variables() const {
    if (!Home)
        return {};
    return {Home};
}

} // namespace trackway
