#include "record/RuntimeSymbols.h"

#include "table/ModuleDescriptor.h"
#include "table/Operation.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace trackway {

static FunctionCallee declareFlush(Module &M, StringRef Name, CallingConv::ID Convention) {
    Type *Ptr = PointerType::getUnqual(M.getContext());
    FunctionCallee Declared = M.getOrInsertFunction(Name, Ptr, Ptr);
    auto *Flush = cast<Function>(Declared.getCallee());
    Flush->setCallingConv(Convention);
    Flush->setDoesNotThrow();
    return Declared;
}

// Whether a call by another convention makes the function save vector registers for its caller, all of which
// `__trackway_flush_all` preserves. With AVX they are larger than what that preserves.
static bool keepsVectorRegisters(const Function &F) {
    if (Triple(F.getParent()->getTargetTriple()).getArch() != Triple::x86_64 ||
        F.getFnAttribute("target-features").getValueAsString().contains("+avx"))
        return false;
    switch (F.getCallingConv()) {
    case CallingConv::Win64:
    case CallingConv::X86_RegCall:
    case CallingConv::X86_VectorCall:
    case CallingConv::PreserveAll:
        return true;
    default:
        return false;
    }
}

FunctionCallee RuntimeSymbols::flushInSmallFrame(Function &F) const {
    return keepsVectorRegisters(F) ? declareFlush(*F.getParent(), "__trackway_flush_all", CallingConv::PreserveAll)
                                   : Flush;
}

Value *RuntimeSymbols::threadField(IRBuilderBase &B, unsigned Field) const {
    return B.CreateStructGEP(Thread->getValueType(), B.CreateThreadLocalAddress(Thread), Field);
}

RuntimeSymbols RuntimeSymbols::declare(llvm::Module &M) {
    LLVMContext &C = M.getContext();
    Type *Ptr = PointerType::getUnqual(C), *I32 = Type::getInt32Ty(C), *I64 = Type::getInt64Ty(C);
    // struct trackway_thread of abi.h
    auto *ThreadTy =
        StructType::get(C, {Ptr, Ptr, ArrayType::get(I32, StreamHighHalves), ArrayType::get(I64, StreamValues)});

    RuntimeSymbols S;
    S.ModuleRecord = declareModule(M);
    S.Thread = new GlobalVariable(M, ThreadTy, false, GlobalValue::ExternalLinkage, nullptr, "__trackway_thread",
                                  nullptr, GlobalValue::InitialExecTLSModel);
    S.Flush = declareFlush(M, "__trackway_flush", CallingConv::PreserveMost);
    S.CameBack = M.getOrInsertFunction("__trackway_came_back", Type::getVoidTy(C));
    cast<Function>(S.CameBack.getCallee())->setDoesNotThrow();
    return S;
}

} // namespace trackway
