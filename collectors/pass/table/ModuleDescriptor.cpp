#include "table/ModuleDescriptor.h"
#include "abi.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace trackway {

static constexpr StringRef TableName = "trackway.table";

bool isEmbedded(const Module &M) { return M.getNamedGlobal(TableName); }

// The type that `declareModule` gives the descriptor is this structure.
static_assert(offsetof(trackway_module, window) == 8 && offsetof(trackway_module, table) == 16 &&
              offsetof(trackway_module, symbols) == 32 && offsetof(trackway_module, next) == 48 &&
              offsetof(trackway_module, counter_count) == 56 && offsetof(trackway_module, has_regions) == 80 &&
              sizeof(trackway_module) == 88);

GlobalVariable *declareModule(Module &M) {
    LLVMContext &C = M.getContext();
    Type *Ptr = PointerType::getUnqual(C), *I32 = Type::getInt32Ty(C), *I64 = Type::getInt64Ty(C);
    auto *Ty = StructType::get(C, {I32, I32, Ptr, Ptr, I64, Ptr, I64, Ptr, I64, I64, I64, I64});
    return new GlobalVariable(M, Ty, false, GlobalValue::InternalLinkage, ConstantAggregateZero::get(Ty),
                              "trackway.module");
}

static GlobalVariable *embedTable(Module &M, StringRef Bytes) {
    auto *Data = ConstantDataArray::getString(M.getContext(), Bytes, false);
    auto *Table = new GlobalVariable(M, Data->getType(), true, GlobalValue::PrivateLinkage, Data, TableName);
    Table->setSection("trackway_table");
    Table->setAlignment(Align(1));
    return Table;
}

static GlobalVariable *embedSymbols(Module &M, const std::vector<GlobalVariable *> &Symbols) {
    std::vector<Constant *> Addresses(Symbols.begin(), Symbols.end());
    auto *Array =
        ConstantArray::get(ArrayType::get(PointerType::getUnqual(M.getContext()), Addresses.size()), Addresses);
    return new GlobalVariable(M, Array->getType(), true, GlobalValue::PrivateLinkage, Array, "trackway.symbols");
}

static Function *makeFunction(Module &M, StringRef Name) {
    LLVMContext &C = M.getContext();
    auto *F = Function::createWithDefaultAttr(FunctionType::get(Type::getVoidTy(C), false),
                                              GlobalValue::InternalLinkage, 0, Name, &M);
    BasicBlock::Create(C, "entry", F);
    return F;
}

static void addConstructor(Module &M, GlobalVariable &Descriptor) {
    auto *Ptr = PointerType::getUnqual(M.getContext());
    Function *Constructor = makeFunction(M, "trackway.register");
    IRBuilder<> B(&Constructor->getEntryBlock());
    // Fails to link with a runtime of another version.
    auto *Version = new GlobalVariable(M, B.getInt8Ty(), true, GlobalValue::ExternalLinkage, nullptr,
                                       "__trackway_abi_" + Twine(TRACKWAY_ABI));
    FunctionCallee Register = M.getOrInsertFunction("__trackway_register", B.getVoidTy(), Ptr, Ptr);
    B.CreateCall(Register, {&Descriptor, Version});
    B.CreateRetVoid();
    appendToGlobalCtors(M, Constructor, 0);
}

static void addDestructor(Module &M, GlobalVariable &Descriptor) {
    Function *Destructor = makeFunction(M, "trackway.unregister");
    IRBuilder<> B(&Destructor->getEntryBlock());
    auto *Ptr = PointerType::getUnqual(M.getContext());
    B.CreateCall(M.getOrInsertFunction("__trackway_unregister", B.getVoidTy(), Ptr), &Descriptor);
    B.CreateRetVoid();
    appendToGlobalDtors(M, Destructor, 0);
}

void embedModule(GlobalVariable &Descriptor, const ModuleContent &Content) {
    Module &M = *Descriptor.getParent();
    LLVMContext &C = M.getContext();
    auto I32 = [&](uint32_t Value) { return ConstantInt::get(Type::getInt32Ty(C), Value); };
    auto I64 = [&](uint64_t Value) { return ConstantInt::get(Type::getInt64Ty(C), Value); };
    GlobalVariable *Table = embedTable(M, Content.Table), *Symbols = embedSymbols(M, Content.Symbols);
    Descriptor.setInitializer(
        ConstantStruct::get(cast<StructType>(Descriptor.getValueType()),
                            {I32(0), I32(Content.Segments), &Descriptor, Table, I64(Content.Table.size()), Symbols,
                             I64(Content.Symbols.size()), ConstantPointerNull::get(PointerType::getUnqual(C)),
                             I64(Content.Counters), I64(0), I64(0), I64(Content.Regions)}));
    addConstructor(M, Descriptor);
    if (Content.Counters == 0)
        addDestructor(M, Descriptor);
}

} // namespace trackway
