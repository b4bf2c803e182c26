#include "record/RecordingWindow.h"

#include "abi.h"
#include "regions/Regions.h"

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

void chooseByWindow(BasicBlock &From, BasicBlock &Recording, BasicBlock &Plain, BasicBlock &Before, Chosen How,
                    const RuntimeSymbols &Runtime) {
    auto *Records = BasicBlock::Create(From.getContext(), "records", From.getParent(), &Recording);
    IRBuilder<> B(&From);
    Value *Open = loadOpenWindow(B, Runtime);
    Value *Wanted = How == Chosen::Always ? B.CreateLoad(B.getInt32Ty(), Runtime.ModuleRecord) : Open;
    B.CreateCondBr(B.CreateICmpNE(Wanted, B.getInt32(0)), Records, &Plain);
    B.SetInsertPoint(Records);
    Value *Joined = B.CreateLoad(B.getInt32Ty(), B.CreateThreadLocalAddress(Runtime.Window));
    B.CreateCondBr(B.CreateICmpEQ(Joined, Open), &Recording, &Before);
}

void joinWindow(BasicBlock &From, BasicBlock &Recording, BasicBlock &Plain, Chosen How, const RuntimeSymbols &Runtime) {
    IRBuilder<> B(&From);
    Value *Joined = B.CreateCall(Runtime.JoinWindow);
    Value *Wanted = How == Chosen::Always ? B.getTrue() : B.CreateICmpNE(Joined, B.getInt32(0));
    B.CreateCondBr(Wanted, &Recording, &Plain);
}

static void addCallers(const Function &Callee, DenseSet<const Function *> &To) {
    for (const User *U : Callee.users()) {
        auto *Call = dyn_cast<CallBase>(U);
        if (Call && Call->getCalledOperand() == &Callee && To.insert(Call->getFunction()).second)
            addCallers(*Call->getFunction(), To);
    }
}

// Regions end where their function does at the latest, so that who calls it is in the right copy before and after.
static void addCallersOfRegions(const Function &Mark, bool IsOfGuard, DenseSet<const Function *> &To) {
    for (const User *U : Mark.users()) {
        auto *Call = dyn_cast<CallBase>(U);
        if (!Call || Call->getCalledOperand() != &Mark)
            continue;
        const Function *Around = Call->getFunction();
        To.insert(Around);
        if (IsOfGuard)
            addCallersOfRegions(*Around, /*IsOfGuard=*/false, To);
    }
}

DenseSet<const Function *> functionsThatSwitch(const Module &M) {
    DenseSet<const Function *> Found;
    for (StringRef Name : windowMarks())
        if (const Function *Mark = M.getFunction(Name))
            addCallersOfRegions(*Mark, /*IsOfGuard=*/false, Found);
    for (StringRef Name : windowScopeMarks())
        if (const Function *Mark = M.getFunction(Name))
            addCallersOfRegions(*Mark, /*IsOfGuard=*/true, Found);
    for (StringRef Name : {"__trackway_open_window", "__trackway_close_window"})
        if (const Function *Switch = M.getFunction(Name))
            addCallers(*Switch, Found);
    return Found;
}

} // namespace trackway
