#include "code/Calls.h"

#include "LlvmVersion.h"
#include "code/LibraryEffects.h"
#include "code/SpinWaits.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace trackway {

// Intrinsics that become calls of functions that may record, or that return twice.
static bool isCallInDisguise(Intrinsic::ID Id) {
    switch (Id) {
    case Intrinsic::eh_sjlj_longjmp:
    case Intrinsic::eh_sjlj_setjmp:
    case Intrinsic::coro_resume:
    case Intrinsic::coro_destroy:
        return true;
    default:
        return isAwaitSuspend(Id);
    }
}

bool endsUnit(const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || isCallOfSpinWait(*Call) || findsExtent(*Call))
        return false;
    if (auto *II = dyn_cast<IntrinsicInst>(Call))
        return isCallInDisguise(II->getIntrinsicID());
    // Assembly may switch stacks or call back; an empty one is only a barrier for the compiler.
    if (auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand()))
        return isa<CallBrInst>(Call) || (Call->mayReadOrWriteMemory() && !Asm->getAsmString().empty());
    return true;
}

bool callsItself(const Function &F) {
    return any_of(F.users(), [&](const User *U) {
        auto *Call = dyn_cast<CallBase>(U);
        return Call && Call->getFunction() == &F;
    });
}

} // namespace trackway
