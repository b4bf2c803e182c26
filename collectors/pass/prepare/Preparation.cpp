#include "prepare/Preparation.h"

#include "code/Calls.h"
#include "prepare/Dispatch.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace trackway {

// Code that the compiler itself calls from within other code, without a call in the IR that we could see.
static bool isCalledImplicitly(const Function &F) {
    return StringSwitch<bool>(F.getName()).Cases("memcpy", "memmove", "memset", "memcmp", "bcmp", true).Default(false);
}

static bool hasFunclets(const Function &F) {
    return any_of(F, [](const BasicBlock &BB) { return isa<FuncletPadInst, CatchSwitchInst>(BB.getFirstNonPHI()); });
}

static bool isOurs(const Function &F) {
    return F.getName().starts_with("__trackway_") || F.getName().starts_with("trackway.");
}

void gatherAllocas(Function &F) {
    BasicBlock &Entry = F.getEntryBlock();
    Instruction *Top = &*Entry.getFirstInsertionPt();
    for (Instruction &I : make_early_inc_range(Entry))
        if (auto *A = dyn_cast<AllocaInst>(&I); A && A->isStaticAlloca()) {
            if (A == Top)
                Top = A->getNextNode();
            else
                A->moveBefore(Top);
        }
}

void forgetMemoryEffectsOfCalls(Function &F) {
    for (BasicBlock &BB : F)
        for (Instruction &I : BB)
            if (auto *Call = dyn_cast<CallBase>(&I); Call && endsUnit(I)) {
                Call->removeFnAttr(Attribute::Memory);
                if (Function *Callee = Call->getCalledFunction())
                    Callee->removeFnAttr(Attribute::Memory);
            }
}

std::vector<Function *> instrumentedFunctions(Module &M) {
    std::vector<Function *> Functions;
    for (Function &F : M)
        if (!F.isDeclaration() && !F.hasAvailableExternallyLinkage() && !isOurs(F) && !F.empty())
            Functions.push_back(&F);
    return Functions;
}

bool isUnoptimised(const Function &F, const Options &O) { return O.IsUnoptimised || F.hasOptNone(); }

bool canInstrument(const Function &F) { return !isCalledImplicitly(F) && !hasFunclets(F) && Dispatch::canChoose(F); }

} // namespace trackway
