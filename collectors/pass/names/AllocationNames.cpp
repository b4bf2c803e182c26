#include "names/AllocationNames.h"
#include "names/DebugTypes.h"
#include "names/DebugVariables.h"
#include "names/Referents.h"
#include "names/RustTypes.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace trackway {

namespace {

constexpr StringRef AllocationKind = "trackway.alloc";

bool beginsWith(const InsertValueInst &Whole, const Value &Part) {
    return Whole.getAggregateOperand() == &Part ||
           (Whole.getInsertedValueOperand() == &Part && Whole.getIndices() == ArrayRef<unsigned>(0u));
}

const StoreInst *storeOf(const Value &V) {
    for (const User *U : V.users())
        if (const auto *Store = dyn_cast<StoreInst>(U); Store && Store->getValueOperand() == &V)
            return Store;
    return nullptr;
}

// Flang makes the descriptor of a new array in a slot of its own, and copies it to the variable from there: version 22
// by memcpy, version 19 by a load and a store. Null: it doesn't.
const Value *copyOf(const AllocaInst &Descriptor) {
    for (const User *U : Descriptor.users()) {
        if (const auto *Copy = dyn_cast<MemCpyInst>(U); Copy && Copy->getRawSource() == &Descriptor)
            return Copy->getRawDest();
        if (const auto *Load = dyn_cast<LoadInst>(U); Load && Load->getType()->isStructTy())
            if (const StoreInst *Copy = storeOf(*Load))
                return Copy->getPointerOperand();
    }
    return nullptr;
}

// The address that takes what was allocated, or an array's descriptor that begins with it.
const Value *assignedTo(const User &User, const Value &Allocated) {
    if (const auto *Store = dyn_cast<StoreInst>(&User)) {
        if (Store->getValueOperand() != &Allocated)
            return nullptr;
        const auto *Slot = dyn_cast<AllocaInst>(Store->getPointerOperand());
        const Value *Variable = Slot && Allocated.getType()->isStructTy() ? copyOf(*Slot) : nullptr;
        return Variable ? Variable : Store->getPointerOperand();
    }
    const auto *Whole = dyn_cast<InsertValueInst>(&User);
    return Whole && Whole->hasOneUse() && beginsWith(*Whole, Allocated) ? assignedTo(**Whole->user_begin(), *Whole)
                                                                        : nullptr;
}

bool isEmpty(const AllocationName &Name) { return Name.ElementType.empty() && Name.Variable.empty(); }

} // namespace

void AllocationNames::setElement(const DIType *Type, AllocationName &Name) const {
    if (!Type || !Name.ElementType.empty())
        return;
    Name.ElementType = Types.canonicalName(Type);
    Name.ElementSize = Name.ElementType.empty() ? 0 : sizeInBytes(Type);
}

void AllocationNames::fromAssignment(const Value *Address, AllocationName &Name) const {
    Referent Holder = Where.of(Address);
    LLVMContext &Context = Address->getContext();
    AccessShape Pointer{8, PointerType::get(Context, 0), {}};
    Spots Leaves = Where.paths().leaves(Holder.At, Pointer);
    AccessName Field;
    Where.paths().describe(Leaves, Field);
    Where.throughOwner(Leaves, Field.Field);
    if (Holder.Kind != VariableKind::CompilerMade)
        Name.Variable = Holder.spell(Field.Field);
    if (Leaves.size() != 1)
        return;
    const DIType *Element = describedElement(Leaves.front().Type);
    setElement(Element ? Element : pointee(Leaves.front().Type), Name);
}

AllocationName AllocationNames::infer(const CallBase &Call) const {
    AllocationName Name;
    if (const auto *Type = dyn_cast_or_null<DIType>(Call.getMetadata("heapallocsite")))
        setElement(Type, Name);
    setElement(allocatedType(Call), Name);
    const Function *Callee = Call.getCalledFunction();
    if (Callee && Callee->getName() == "posix_memalign" && Call.arg_size() == 3)
        fromAssignment(Call.getArgOperand(0), Name);
    for (const User *U : Call.users()) {
        if (const Value *Place = assignedTo(*U, Call))
            fromAssignment(Place, Name);
        else if (isa<ReturnInst>(U) && Call.getFunction()->getSubprogram())
            setElement(pointee(resultType(*Call.getFunction()->getSubprogram())), Name);
        if (!Name.Variable.empty())
            break;
    }
    if (isEmpty(Name))
        if (auto Held = heldVariable(Call)) {
            Name.Variable = Held.Variable->getName().str();
            setElement(pointee(Held.Variable->getType()), Name);
        }
    return Name;
}

void attachAllocationName(CallBase &Call, const AllocationName &Name) {
    if (isEmpty(Name))
        return;
    LLVMContext &Context = Call.getContext();
    auto *Size = ConstantAsMetadata::get(ConstantInt::get(Type::getInt64Ty(Context), Name.ElementSize));
    Call.setMetadata(AllocationKind, MDNode::get(Context, {MDString::get(Context, Name.ElementType), Size,
                                                           MDString::get(Context, Name.Variable)}));
}

AllocationName readAllocationName(const CallBase &Call) {
    AllocationName Name;
    const MDNode *Node = Call.getMetadata(AllocationKind);
    if (!Node || Node->getNumOperands() != 3)
        return Name;
    Name.ElementType = cast<MDString>(Node->getOperand(0))->getString().str();
    Name.ElementSize = mdconst::extract<ConstantInt>(Node->getOperand(1))->getZExtValue();
    Name.Variable = cast<MDString>(Node->getOperand(2))->getString().str();
    return Name;
}

void removeAllocationName(CallBase &Call) { Call.setMetadata(AllocationKind, nullptr); }

} // namespace trackway
