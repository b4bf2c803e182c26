#include "code/OpenMp.h"

using namespace llvm;

namespace trackway {

using StartKind = OpenMpStart::Kind;

constexpr struct {
    StringRef Callee;
    StartKind K;
    unsigned Position;
} Starts[] = {
    {"__kmpc_fork_call", StartKind::Team, 2},      {"__kmpc_fork_teams", StartKind::Team, 2},
    {"__kmpc_fork_call_if", StartKind::TeamIf, 2}, {"__kmpc_omp_task_alloc", StartKind::Task, 5},
    {"__kmpc_taskloop", StartKind::TaskLoop, 10},  {"__kmpc_taskloop_5", StartKind::TaskLoop, 11},
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
            if (Body || K == StartKind::TaskLoop)
                Found.push_back({K, Call, Position, Body});
        }
    }
    return Found;
}

} // namespace trackway
