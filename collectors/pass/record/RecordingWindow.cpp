#include "record/RecordingWindow.h"

#include "abi.h"
#include "regions/Regions.h"

#include "llvm/IR/Module.h"

using namespace llvm;

namespace trackway {

// An atomic load stays where it is: a loop must see that a window was opened.
static LoadInst *loadFromRing(IRBuilder<> &B, unsigned Offset, const RuntimeSymbols &Runtime) {
    static_assert(offsetof(trackway_module, window) == 8);
    Value *Place = B.CreateConstInBoundsGEP1_64(B.getInt64Ty(), Runtime.ModuleRecord, 1);
    Value *Window = B.CreateLoad(B.getPtrTy(), Place);
    Value *Word = Offset ? B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Window, Offset) : Window;
    LoadInst *Load = B.CreateAlignedLoad(B.getInt32Ty(), Word, Align(4));
    Load->setAtomic(AtomicOrdering::Monotonic);
    return Load;
}

LoadInst *loadOpenWindow(IRBuilder<> &B, const RuntimeSymbols &Runtime) { return loadFromRing(B, 0, Runtime); }

Value *loadRegionsSwitch(IRBuilder<> &B, const RuntimeSymbols &Runtime) {
    constexpr unsigned Offset = offsetof(trackway_ring, regions_switch) - offsetof(trackway_ring, window);
    static_assert(Offset + 4 <= sizeof(trackway_module) - offsetof(trackway_module, counter_count),
                  "a module that isn't registered has zeros there");
    return loadFromRing(B, Offset, Runtime);
}

// Not 0 where the recording copy is wanted.
static Value *wanted(IRBuilder<> &B, Value *Open, Chosen How, const RuntimeSymbols &Runtime) {
    switch (How) {
    case Chosen::WithRegions:
        return B.CreateOr(Open, loadRegionsSwitch(B, Runtime));
    case Chosen::Always:
        return B.CreateLoad(B.getInt32Ty(), Runtime.ModuleRecord);
    default:
        return Open;
    }
}

void chooseByWindow(BasicBlock &From, BasicBlock &Recording, BasicBlock &Plain, BasicBlock &Before, Chosen How,
                    const RuntimeSymbols &Runtime) {
    auto *Records = BasicBlock::Create(From.getContext(), "records", From.getParent(), &Recording);
    IRBuilder<> B(&From);
    Value *Open = loadOpenWindow(B, Runtime);
    B.CreateCondBr(B.CreateICmpNE(wanted(B, Open, How, Runtime), B.getInt32(0)), Records, &Plain);
    B.SetInsertPoint(Records);
    Value *Joined = B.CreateLoad(B.getInt32Ty(), B.CreateThreadLocalAddress(Runtime.Window));
    B.CreateCondBr(B.CreateICmpEQ(Joined, Open), &Recording, &Before);
}

void joinWindow(BasicBlock &From, BasicBlock &Recording, BasicBlock &Plain, Chosen How, const RuntimeSymbols &Runtime) {
    IRBuilder<> B(&From);
    Value *Joined = B.CreateCall(Runtime.JoinWindow);
    B.CreateCondBr(B.CreateICmpNE(wanted(B, Joined, How, Runtime), B.getInt32(0)), &Recording, &Plain);
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

DenseSet<const Function *> functionsOfRegions(const Module &M) {
    DenseSet<const Function *> Found;
    for (StringRef Name : windowMarks())
        if (const Function *Mark = M.getFunction(Name))
            addCallersOfRegions(*Mark, /*IsOfGuard=*/false, Found);
    for (StringRef Name : windowScopeMarks())
        if (const Function *Mark = M.getFunction(Name))
            addCallersOfRegions(*Mark, /*IsOfGuard=*/true, Found);
    return Found;
}

DenseSet<const Function *> functionsThatSwitch(const Module &M) {
    DenseSet<const Function *> Found;
    for (StringRef Name : {"__trackway_open_window", "__trackway_close_window"})
        if (const Function *Switch = M.getFunction(Name))
            addCallers(*Switch, Found);
    return Found;
}

} // namespace trackway
