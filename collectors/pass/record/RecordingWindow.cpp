#include "record/RecordingWindow.h"

#include "abi.h"

using namespace llvm;

namespace trackway {

// An atomic one stays where it is: a loop must see that a window was opened.
LoadInst *loadOpenWindow(IRBuilder<> &B, const RuntimeSymbols &Runtime) {
    static_assert(offsetof(trackway_module, window) == 8);
    Value *Place = B.CreateConstInBoundsGEP1_64(B.getInt64Ty(), Runtime.ModuleRecord, 1);
    LoadInst *Window = B.CreateAlignedLoad(B.getInt32Ty(), B.CreateLoad(B.getPtrTy(), Place), Align(4));
    Window->setAtomic(AtomicOrdering::Monotonic);
    return Window;
}

void chooseByWindow(BasicBlock &From, BasicBlock &Recording, BasicBlock &Plain, BasicBlock &Before,
                    const RuntimeSymbols &Runtime) {
    auto *IsOpen = BasicBlock::Create(From.getContext(), "open", From.getParent(), &Recording);
    IRBuilder<> B(&From);
    Value *Open = loadOpenWindow(B, Runtime);
    B.CreateCondBr(B.CreateICmpNE(Open, B.getInt32(0)), IsOpen, &Plain);
    B.SetInsertPoint(IsOpen);
    Value *Joined = B.CreateLoad(B.getInt32Ty(), B.CreateThreadLocalAddress(Runtime.Window));
    B.CreateCondBr(B.CreateICmpEQ(Joined, Open), &Recording, &Before);
}

void joinWindow(BasicBlock &From, BasicBlock &Recording, BasicBlock &Plain, const RuntimeSymbols &Runtime) {
    IRBuilder<> B(&From);
    Value *Joined = B.CreateCall(Runtime.JoinWindow);
    B.CreateCondBr(B.CreateICmpNE(Joined, B.getInt32(0)), &Recording, &Plain);
}

} // namespace trackway
