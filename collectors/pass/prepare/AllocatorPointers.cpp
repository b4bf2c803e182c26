#include "prepare/AllocatorPointers.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/CallPromotionUtils.h"

using namespace llvm;

namespace trackway {

static SmallVector<Function *, 4> pointedAllocators(Module &M) {
    SmallVector<Function *, 4> Found;
    for (StringRef Name : {"malloc", "calloc", "realloc", "free"})
        if (Function *F = M.getFunction(Name); F && F->isDeclaration() && F->hasAddressTaken())
            Found.push_back(F);
    return Found;
}

PreservedAnalyses AllocatorPointersPass::run(Module &M, ModuleAnalysisManager &) {
    SmallVector<Function *, 4> Allocators = pointedAllocators(M);
    if (Allocators.empty())
        return PreservedAnalyses::all();
    SmallVector<std::pair<CallBase *, Function *>, 16> Found;
    for (Function &F : M)
        for (Instruction &I : instructions(F)) {
            auto *Call = dyn_cast<CallBase>(&I);
            if (!Call || !Call->isIndirectCall() || Call->isMustTailCall() || isa<CallBrInst>(Call) ||
                Call->hasOperandBundles())
                continue;
            for (Function *Allocator : Allocators)
                if (Call->getFunctionType() == Allocator->getFunctionType())
                    Found.push_back({Call, Allocator});
        }
    for (auto [Call, Allocator] : Found)
        // The compiler may leave out calls of malloc by name, which the plain program makes by the pointer.
        promoteCallWithIfThenElse(*Call, Allocator).addFnAttr(Attribute::NoBuiltin);
    return Found.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace trackway
