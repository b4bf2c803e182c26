#include "count/Returning.h"

#include "code/Calls.h"
#include "regions/Regions.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace trackway {

static bool endsProcess(const Function &F) {
    return F.isDeclaration() && StringSwitch<bool>(F.getName())
                                    .Cases("exit", "_exit", "_Exit", "quick_exit", "abort", true)
                                    .Cases("__assert_fail", "__assert", "__stack_chk_fail", "err", "errx", true)
                                    .Case("_ZSt9terminatev", true)
                                    .Default(false);
}

Returning::Returning(const Module &M) : LibraryNames(Triple(M.getTargetTriple())), Library(LibraryNames) {
    for (const Function &F : M)
        if (!F.isDeclaration() && F.hasExactDefinition())
            Returns.insert(&F);
    for (bool Changed = true; Changed;) {
        Changed = false;
        for (const Function &F : M)
            if (Returns.contains(&F) && mayNotReturn(F))
                Changed = Returns.erase(&F);
    }
}

bool Returning::mayNotReturn(const Function &F) const {
    return any_of(instructions(F), [&](const Instruction &I) {
        auto *Call = dyn_cast<CallBase>(&I);
        return isa<ResumeInst>(I) || (Call && (isScopeMark(*Call) || mayNotReturn(*Call)));
    });
}

bool Returning::mayNotReturn(const CallBase &Call) const {
    if (!endsUnit(Call) || isRegionMark(Call))
        return false;
    const Function *Callee = Call.getCalledFunction();
    if (!Callee)
        return true;
    if (Returns.contains(Callee) || endsProcess(*Callee))
        return false;
    if (Call.doesNotThrow() && Call.hasFnAttr(Attribute::WillReturn))
        return false;
    LibFunc Known;
    return Call.doesNotReturn() || !Library.getLibFunc(*Callee, Known);
}

} // namespace trackway
