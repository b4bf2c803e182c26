#include "code/OpenMp.h"

using namespace llvm;

namespace trackway {

using Kind = OpenMpStart::Kind;

constexpr struct {
    StringRef Callee;
    Kind K;
    unsigned Position;
} Starts[] = {
    {"__kmpc_fork_call", Kind::Team, 2},      {"__kmpc_fork_teams", Kind::Team, 2},
    {"__kmpc_fork_call_if", Kind::TeamIf, 2}, {"__kmpc_omp_task_alloc", Kind::Task, 5},
    {"__kmpc_taskloop", Kind::TaskLoop, 10},  {"__kmpc_taskloop_5", Kind::TaskLoop, 11},
};

std::vector<OpenMpStart> openMpStarts(const Module &M) {
    std::vector<OpenMpStart> Found;
    for (auto &[Name, K, Position] : Starts) {
        const Function *Callee = M.getFunction(Name);
        if (!Callee)
            continue;
        for (const User *U : Callee->users()) {
            auto *Call = const_cast<CallInst *>(dyn_cast<CallInst>(U));
            if (!Call || Call->getCalledFunction() != Callee || Call->arg_size() <= Position)
                continue;
            auto *Body = dyn_cast<Function>(Call->getArgOperand(Position)->stripPointerCasts());
            if (Body || K == Kind::TaskLoop)
                Found.push_back({K, Call, Position, Body});
        }
    }
    return Found;
}

} // namespace trackway
