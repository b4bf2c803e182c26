#include "record/SignalHandlers.h"

using namespace llvm;

namespace trackway {

// The functions that collectors/runtime/signals.c defines. `signal` has several names, depending on the standard.
static constexpr std::pair<const char *, const char *> Installers[] = {
    {"sigaction", "__trackway_sigaction"},
    {"__sigaction", "__trackway_sigaction"},
    {"signal", "__trackway_signal"},
    {"ssignal", "__trackway_signal"},
    {"bsd_signal", "__trackway_bsd_signal"},
    {"sysv_signal", "__trackway_sysv_signal"},
    {"__sysv_signal", "__trackway_sysv_signal"},
    {"sigset", "__trackway_sigset"},
};

// A program may have a function of its own by such a name.
static bool isInstaller(const Function &F) {
    const FunctionType *Type = F.getFunctionType();
    bool TakesHandler = Type->getNumParams() >= 2 && Type->getParamType(0)->isIntegerTy(32) &&
                        all_of(drop_begin(Type->params()), [](const llvm::Type *T) { return T->isPointerTy(); });
    bool IsSigaction = Type->getNumParams() == 3 && Type->getReturnType()->isIntegerTy(32);
    bool IsSignal = Type->getNumParams() == 2 && Type->getReturnType()->isPointerTy();
    return F.isDeclaration() && !Type->isVarArg() && TakesHandler && (IsSigaction || IsSignal);
}

void redirectSignalHandlers(Module &M) {
    for (auto [Name, InRuntime] : Installers) {
        Function *Library = M.getFunction(Name);
        if (!Library || !isInstaller(*Library))
            continue;
        FunctionCallee Runtime = M.getOrInsertFunction(InRuntime, Library->getFunctionType(), Library->getAttributes());
        Library->replaceAllUsesWith(Runtime.getCallee());
    }
}

} // namespace trackway
