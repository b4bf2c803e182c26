#include "oracle/Oracle.h"

#include "code/OurInstructions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace trackway {

namespace {

// Numbers as in docs/format.md, section 2 (sites).
enum SiteKind : uint64_t {
    Load,
    Store,
    AtomicLoad,
    AtomicStore,
    AtomicReadModifyWrite,
    AtomicCompareExchange,
    CopyRead,
    CopyWrite,
    Fill,
    LibraryRead,
    LibraryWrite,
};

enum PartMask : uint8_t { First = 1, Second = 2 };

bool isCopy(Intrinsic::ID Id) {
    switch (Id) {
    case Intrinsic::memcpy:
    case Intrinsic::memcpy_inline:
    case Intrinsic::memmove:
    case Intrinsic::memcpy_element_unordered_atomic:
    case Intrinsic::memmove_element_unordered_atomic:
        return true;
    default:
        return false;
    }
}

bool isFill(Intrinsic::ID Id) {
    switch (Id) {
    case Intrinsic::memset:
    case Intrinsic::memset_inline:
    case Intrinsic::memset_element_unordered_atomic:
        return true;
    default:
        return false;
    }
}

bool isOrdinarySpace(const Value *Pointer) {
    Type *Scalar = Pointer->getType()->getScalarType();
    return Scalar->getPointerAddressSpace() == 0 && !Pointer->isSwiftError();
}

bool hasFixedSize(Type *Accessed, const DataLayout &Layout) {
    TypeSize Size = Layout.getTypeStoreSize(Accessed);
    return !Size.isScalable() && !Size.isZero(); // an empty value is no access
}

// A masked intrinsic, its operands told apart.
struct Masked {
    bool Writes;
    bool Packed;
    bool Gathered; // a vector of pointers
    Value *Pointer;
    Value *Mask;
    FixedVectorType *Data; // null: scalable
};

std::optional<Masked> asMasked(const IntrinsicInst &Call) {
    auto Arg = [&](unsigned I) { return Call.getArgOperand(I); };
    // The mask is the last operand but for what inactive lanes become.
    auto Read = [&](bool Packed, bool Gathered) {
        Value *Mask = Arg(Call.arg_size() - 2);
        return Masked{false, Packed, Gathered, Arg(0), Mask, dyn_cast<FixedVectorType>(Call.getType())};
    };
    auto Write = [&](bool Packed, bool Gathered) {
        Value *Mask = Arg(Call.arg_size() - 1);
        return Masked{true, Packed, Gathered, Arg(1), Mask, dyn_cast<FixedVectorType>(Arg(0)->getType())};
    };
    switch (Call.getIntrinsicID()) {
    case Intrinsic::masked_load:
        return Read(false, false);
    case Intrinsic::masked_expandload:
        return Read(true, false);
    case Intrinsic::masked_gather:
        return Read(false, true);
    case Intrinsic::masked_store:
        return Write(false, false);
    case Intrinsic::masked_compressstore:
        return Write(true, false);
    case Intrinsic::masked_scatter:
        return Write(false, true);
    default:
        return std::nullopt;
    }
}

uint8_t partsOfIntrinsic(const IntrinsicInst &Call) {
    Intrinsic::ID Id = Call.getIntrinsicID();
    if (isFill(Id))
        return isOrdinarySpace(Call.getArgOperand(0)) ? First : 0;
    if (isCopy(Id))
        return (isOrdinarySpace(Call.getArgOperand(1)) ? First : 0) |
               (isOrdinarySpace(Call.getArgOperand(0)) ? Second : 0);
    auto Lanes = asMasked(Call);
    return Lanes && Lanes->Data && isOrdinarySpace(Lanes->Pointer) ? First : 0;
}

// Which parts of the instruction access memory; 0: none.
uint8_t partsOf(const Instruction &I, const DataLayout &Layout) {
    if (isOurs(I))
        return 0;
    if (const auto *Access = dyn_cast<LoadInst>(&I))
        return isOrdinarySpace(Access->getPointerOperand()) && hasFixedSize(Access->getType(), Layout) ? First : 0;
    if (const auto *Access = dyn_cast<StoreInst>(&I)) {
        Type *Stored = Access->getValueOperand()->getType();
        return isOrdinarySpace(Access->getPointerOperand()) && hasFixedSize(Stored, Layout) ? First : 0;
    }
    if (const auto *Access = dyn_cast<AtomicRMWInst>(&I))
        return isOrdinarySpace(Access->getPointerOperand()) ? First : 0;
    if (const auto *Access = dyn_cast<AtomicCmpXchgInst>(&I))
        return isOrdinarySpace(Access->getPointerOperand()) ? First : 0;
    if (const auto *Call = dyn_cast<IntrinsicInst>(&I))
        return partsOfIntrinsic(*Call);
    return 0;
}

// Writes the calls for one access.
class Reporter {
  public:
    Reporter(Instruction &Access, Instruction &Place, uint64_t Function, uint64_t Ordinal)
        : Access(Access), M(*Access.getModule()), Layout(M.getDataLayout()), Builder(&Place), Function(Function),
          Ordinal(Ordinal) {
        if (!Builder.getCurrentDebugLocation())
            if (DISubprogram *Program = Access.getFunction()->getSubprogram())
                Builder.SetCurrentDebugLocation(DILocation::get(M.getContext(), 0, 0, Program));
    }

    void report(uint8_t Parts) {
        if (auto *Simple = dyn_cast<LoadInst>(&Access))
            return single(Simple->isAtomic() ? AtomicLoad : Load, Simple->getPointerOperand(), Simple->getType());
        if (auto *Simple = dyn_cast<StoreInst>(&Access))
            return single(Simple->isAtomic() ? AtomicStore : Store, Simple->getPointerOperand(),
                          Simple->getValueOperand()->getType());
        if (auto *Update = dyn_cast<AtomicRMWInst>(&Access))
            return single(AtomicReadModifyWrite, Update->getPointerOperand(), Update->getValOperand()->getType());
        if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&Access))
            return single(AtomicCompareExchange, Exchange->getPointerOperand(),
                          Exchange->getCompareOperand()->getType());
        auto &Call = cast<IntrinsicInst>(Access);
        if (auto Lanes = asMasked(Call))
            return Lanes->Gathered ? gather(*Lanes) : masked(*Lanes);
        block(Call, Parts);
    }

    // The next report is of an access with this value: what lies in a slot after it was stored there.
    void value(OracleSlots &Slots) {
        Value *Content = written(Access);
        if (!Content)
            Content = isa<AtomicCmpXchgInst>(Access) ? Builder.CreateExtractValue(&Access, 0) : &Access;
        Type *Stored = Content->getType();
        uint64_t Bytes = Layout.getTypeStoreSize(Stored).getFixedValue();
        auto *Words = ArrayType::get(Builder.getInt64Ty(), divideCeil(Bytes, 8));
        AllocaInst *&Slot = Slots[{Access.getFunction(), Words}];
        if (!Slot)
            Slot = slot(Words);
        if (Bytes % 8 != 0 || Stored->isAggregateType())
            fill(Constant::getNullValue(Words), Slot);
        fill(Content, Slot);
        auto *Lanes = isa<IntrinsicInst>(Access) ? cast<FixedVectorType>(Stored) : nullptr;
        call(
            "__trackway_oracle_value",
            {Slot, Builder.getInt32(Lanes ? Layout.getTypeStoreSize(Lanes->getElementType()).getFixedValue() : Bytes)});
    }

    // The value that the instruction stores; null if it loads.
    static Value *written(Instruction &Access) {
        if (auto *Simple = dyn_cast<StoreInst>(&Access))
            return Simple->getValueOperand();
        auto *Call = dyn_cast<IntrinsicInst>(&Access);
        return Call && Call->getType()->isVoidTy() ? Call->getArgOperand(0) : nullptr;
    }

  private:
    uint64_t key(SiteKind K, uint64_t Part) const { return Ordinal << 16 | Part << 8 | K; }

    Value *address(Value *Pointer) { return Builder.CreatePtrToInt(Pointer, Builder.getInt64Ty()); }

    void call(StringRef Name, ArrayRef<Value *> Arguments) {
        SmallVector<Type *, 8> Types;
        for (Value *Argument : Arguments)
            Types.push_back(Argument->getType());
        auto *Signature = FunctionType::get(Builder.getVoidTy(), Types, false);
        CallInst *Made = Builder.CreateCall(M.getOrInsertFunction(Name, Signature), Arguments);
        Made->setDoesNotThrow();
    }

    void access(SiteKind K, uint64_t Part, Value *Pointer, Value *Size) {
        call("__trackway_oracle_access",
             {Builder.getInt64(Function), Builder.getInt64(key(K, Part)), address(Pointer), Size});
    }

    void single(SiteKind K, Value *Pointer, Type *Accessed) {
        access(K, 0, Pointer, Builder.getInt64(Layout.getTypeStoreSize(Accessed).getFixedValue()));
    }

    void block(IntrinsicInst &Call, uint8_t Parts) {
        Value *Size = Builder.CreateZExtOrTrunc(Call.getArgOperand(2), Builder.getInt64Ty());
        if (isFill(Call.getIntrinsicID()))
            return access(Fill, 0, Call.getArgOperand(0), Size);
        if (Parts & First)
            access(CopyRead, 0, Call.getArgOperand(1), Size);
        if (Parts & Second)
            access(CopyWrite, 1, Call.getArgOperand(0), Size);
    }

    // A slot in the entry block, so that a loop does not grow the stack.
    AllocaInst *slot(Type *Held) {
        BasicBlock &Entry = Access.getFunction()->getEntryBlock();
        IRBuilder<> AtEntry(&Entry, Entry.begin());
        AllocaInst *Slot = AtEntry.CreateAlloca(Held);
        Slot->setAlignment(Align(16));
        Slot->setMetadata(OracleMark, MDNode::get(M.getContext(), {}));
        return Slot;
    }

    void fill(Value *Content, AllocaInst *Slot) {
        StoreInst *Stored = Builder.CreateAlignedStore(Content, Slot, Align(8));
        Stored->setMetadata(OracleMark, MDNode::get(M.getContext(), {}));
    }

    // The mask as bytes in memory, lane 0 in bit 0 of byte 0.
    Value *maskBits(const Masked &Lanes) {
        unsigned Count = Lanes.Data->getNumElements();
        Value *Bits = Builder.CreateBitCast(Lanes.Mask, Builder.getIntNTy(Count));
        Value *Bytes = Builder.CreateZExt(Bits, Builder.getIntNTy(alignTo(Count, 8)));
        AllocaInst *Slot = slot(Bytes->getType());
        fill(Bytes, Slot);
        return Slot;
    }

    void masked(const Masked &Lanes) {
        Type *Element = Lanes.Data->getElementType();
        call("__trackway_oracle_masked",
             {Builder.getInt64(Function), Builder.getInt64(key(Lanes.Writes ? Store : Load, 0)), address(Lanes.Pointer),
              maskBits(Lanes), Builder.getInt32(Lanes.Data->getNumElements()),
              Builder.getInt32(Layout.getTypeStoreSize(Element)), Builder.getInt32(Layout.getTypeAllocSize(Element)),
              Builder.getInt32(Lanes.Packed)});
    }

    void gather(const Masked &Lanes) {
        unsigned Count = Lanes.Data->getNumElements();
        auto *Words = FixedVectorType::get(Builder.getInt64Ty(), Count);
        AllocaInst *Slot = slot(Words);
        fill(Builder.CreatePtrToInt(Lanes.Pointer, Words), Slot);
        call("__trackway_oracle_gather",
             {Builder.getInt64(Function), Builder.getInt64(key(Lanes.Writes ? Store : Load, 0)), Slot, maskBits(Lanes),
              Builder.getInt32(Count), Builder.getInt32(Layout.getTypeStoreSize(Lanes.Data->getElementType()))});
    }

    Instruction &Access;
    Module &M;
    const DataLayout &Layout;
    IRBuilder<> Builder;
    uint64_t Function;
    uint64_t Ordinal;
};

} // namespace

uint64_t oracleFunctionHash(const Module &M, const Function &F) {
    uint64_t Hash = 0xcbf29ce484222325;
    auto Add = [&](uint8_t Byte) { Hash = (Hash ^ Byte) * 0x100000001b3; };
    for (char C : M.getSourceFileName())
        Add(static_cast<uint8_t>(C));
    Add(0);
    for (char C : F.getName())
        Add(static_cast<uint8_t>(C));
    return Hash;
}

void Oracle::collect(Function &F, Predicates Of) {
    uint64_t Hash = oracleFunctionHash(M, F);
    uint64_t Ordinal = 0;
    for (Instruction &I : instructions(F)) {
        if (isa<DbgInfoIntrinsic>(I))
            continue;
        uint8_t Parts = partsOf(I, M.getDataLayout());
        for (unsigned Part : {0u, 1u})
            if (Parts & (1u << Part) && !Of.IsWanted(I, Part))
                Parts &= ~(1u << Part);
        if (Parts)
            Found.push_back({WeakVH(&I), Hash, Ordinal, Parts, Of.HasValue(I), WeakVH(I.getNextNode())});
        ++Ordinal;
    }
}

// Around a wait.
static void reportWait(Module &M, const SpinWait &W) {
    for (bool Begins : {true, false}) {
        IRBuilder<> B(Begins ? W.Before : W.After);
        auto *Signature = FunctionType::get(B.getVoidTy(), {B.getInt32Ty()}, false);
        FunctionCallee Callee = M.getOrInsertFunction("__trackway_oracle_wait", Signature);
        B.CreateCall(Callee, {B.getInt32(Begins)})->setDoesNotThrow();
    }
}

static void reportRange(Module &M, uint64_t Function, const Oracle::Range &R) {
    IRBuilder<> B(cast<Instruction>(static_cast<Value *>(R.Anchor)));
    Type *Word = B.getInt64Ty();
    uint64_t Key = R.Ordinal << 16 | R.Part << 8 | (R.IsWritten ? LibraryWrite : LibraryRead);
    FunctionCallee Callee = M.getOrInsertFunction("__trackway_oracle_access",
                                                  FunctionType::get(B.getVoidTy(), {Word, Word, Word, Word}, false));
    Value *Address = B.CreatePtrToInt(R.Pointer, Word);
    B.CreateCall(Callee, {B.getInt64(Function), B.getInt64(Key), Address, R.Length})->setDoesNotThrow();
}

// What a call did comes before the access that the instruction after it makes.
void Oracle::insert() {
    for (auto &[Function, R] : Ranges)
        reportRange(M, Function, R);
    for (Access &A : Found) {
        Value *Still = A.Instruction;
        if (!Still)
            continue;
        auto *I = cast<Instruction>(Still);
        if (auto Wait = Waits.find(I); Wait != Waits.end())
            reportWait(M, Wait->second);
        bool Behind = A.HasValue && !Reporter::written(*I);
        Value *Next = A.Next ? static_cast<Value *>(A.Next) : I->getNextNode();
        Reporter Calls(*I, Behind ? *cast<Instruction>(Next) : *I, A.Function, A.Ordinal);
        if (A.HasValue)
            Calls.value(ValueSlots);
        Calls.report(A.Parts);
        ++Inserted;
    }
}

} // namespace trackway
