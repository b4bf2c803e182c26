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

// For RISC-V, LLVM has the convention since 20, and clang, which compiles the runtime, hasn't.
static CallingConv::ID flushConvention(const Module &M) {
    return Triple(M.getTargetTriple()).isRISCV() ? CallingConv::C : CallingConv::PreserveMost;
}

// Whether a call by another convention makes the function save vector registers for its caller.
static bool keepsVectorRegisters(const Function &F) {
    if (Triple(F.getParent()->getTargetTriple()).getArch() != Triple::x86_64)
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
    if (!keepsVectorRegisters(F))
        return Flush;
    bool AreLarge = F.getFnAttribute("target-features").getValueAsString().contains("+avx");
    StringRef Name = AreLarge ? "__trackway_flush_all_avx" : "__trackway_flush_all";
    return declareFlush(*F.getParent(), Name, CallingConv::PreserveAll);
}

// The address goes by the register of a nested function's frame, which no other value is likely to be in.
void RuntimeSymbols::callReadClock(IRBuilderBase &B, Value *Address) {
    FunctionCallee ReadClock = B.GetInsertBlock()->getModule()->getOrInsertFunction("__trackway_read_clock",
                                                                                    B.getVoidTy(), Address->getType());
    auto *Callee = cast<Function>(ReadClock.getCallee());
    Callee->setCallingConv(CallingConv::PreserveAll);
    Callee->setDoesNotThrow();
    Callee->addParamAttr(0, Attribute::Nest);
    CallInst *Call = B.CreateCall(ReadClock, {Address});
    Call->setCallingConv(CallingConv::PreserveAll);
    Call->setDoesNotThrow();
    Call->addParamAttr(0, Attribute::Nest);
}

Value *RuntimeSymbols::threadField(IRBuilderBase &B, unsigned Field) const {
    return B.CreateStructGEP(Thread->getValueType(), B.CreateThreadLocalAddress(Thread), Field);
}

RuntimeSymbols RuntimeSymbols::declare(llvm::Module &M) {
    LLVMContext &C = M.getContext();
    Type *Ptr = PointerType::getUnqual(C);
    // struct trackway_thread of abi.h
    auto *ThreadTy = StructType::get(C, {Ptr, Ptr, Ptr});

    RuntimeSymbols S;
    S.ModuleRecord = declareModule(M);
    S.Thread = new GlobalVariable(M, ThreadTy, false, GlobalValue::ExternalLinkage, nullptr, "__trackway_thread",
                                  nullptr, GlobalValue::InitialExecTLSModel);
    S.Flush = declareFlush(M, "__trackway_flush", flushConvention(M));
    S.Window = new GlobalVariable(M, Type::getInt32Ty(C), false, GlobalValue::ExternalLinkage, nullptr,
                                  "__trackway_recorded_window", nullptr, GlobalValue::InitialExecTLSModel);
    S.JoinWindow = M.getOrInsertFunction("__trackway_join_window", Type::getInt32Ty(C));
    cast<Function>(S.JoinWindow.getCallee())->setDoesNotThrow();
    S.CameBack = M.getOrInsertFunction("__trackway_came_back", Type::getVoidTy(C));
    cast<Function>(S.CameBack.getCallee())->setDoesNotThrow();
    return S;
}

} // namespace trackway
