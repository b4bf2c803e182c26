#include "names/UnnamedSlots.h"
#include "names/DebugTypes.h"
#include "names/DebugVariables.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace trackway {

namespace {

// The parts of a pair are loaded on their own, and a truth value as a byte.
bool flowsToReturn(const Value &V) {
    return any_of(V.users(), [](const User *By) {
        return isa<ReturnInst>(By) || (isa<InsertValueInst, TruncInst>(By) && flowsToReturn(*By));
    });
}

bool isLoadedToReturn(const Value &Address) {
    return any_of(Address.users(), [](const User *By) {
        if (const auto *Part = dyn_cast<GetElementPtrInst>(By))
            return Part->hasAllConstantIndices() && isLoadedToReturn(*Part);
        return isa<LoadInst>(By) && flowsToReturn(*By);
    });
}

bool isWhole(const MemCpyInst &Copy, const AllocaInst &Slot, const DataLayout &Layout) {
    const auto *Length = dyn_cast<ConstantInt>(Copy.getLength());
    return Length && Length->getValue() == slotSize(Slot, Layout);
}

// The type of the variable that lives there as a whole.
const DIType *declaredAt(const Value &Address) {
    auto Declared = declaredVariables(Address);
    return Declared.size() == 1 && !Declared.front().isFragment() ? Declared.front().Variable->getType() : nullptr;
}

} // namespace

uint64_t slotSize(const AllocaInst &Slot, const DataLayout &Layout) {
    auto Size = Slot.getAllocationSize(Layout);
    return Size && !Size->isScalable() ? Size->getFixedValue() : 0;
}

bool returnsInto(const CallBase &Call, const AllocaInst &Slot, const DataLayout &Layout) {
    if (!Call.hasStructRetAttr() || Call.getArgOperand(0)->stripPointerCasts() != &Slot)
        return false;
    return Layout.getTypeAllocSize(Call.getParamStructRetType(0)) == slotSize(Slot, Layout);
}

bool isReturned(const AllocaInst &Slot, const DataLayout &Layout) {
    const DISubprogram *Program = Slot.getFunction()->getSubprogram();
    const DIType *Result = Program ? resultType(*Program) : nullptr;
    // A part of something larger may be returned as well, and that isn't the result.
    return Result && sizeInBytes(Result) == slotSize(Slot, Layout) && isLoadedToReturn(Slot);
}

const Value *copiedTo(const Use &U, const AllocaInst &Slot, const DataLayout &Layout) {
    const auto *Copy = dyn_cast<MemCpyInst>(U.getUser());
    bool IsSource = Copy && &Copy->getRawSourceUse() == &U;
    return IsSource && isWhole(*Copy, Slot, Layout) ? Copy->getRawDest() : nullptr;
}

const Value *copiedFrom(const Use &U, const AllocaInst &Slot, const DataLayout &Layout) {
    const auto *Copy = dyn_cast<MemCpyInst>(U.getUser());
    bool IsDestination = Copy && &Copy->getRawDestUse() == &U;
    return IsDestination && isWhole(*Copy, Slot, Layout) ? Copy->getRawSource() : nullptr;
}

const DIType *passedAs(const Use &U) {
    const auto *Call = dyn_cast<CallBase>(U.getUser());
    const Function *Callee = Call && Call->isArgOperand(&U) ? Call->getCalledFunction() : nullptr;
    if (!Callee || Callee->isDeclaration() || Call->getArgOperandNo(&U) >= Callee->arg_size())
        return nullptr;
    const Argument &Parameter = *Callee->getArg(Call->getArgOperandNo(&U));
    if (const DIType *Type = declaredAt(Parameter))
        return Type;
    for (const User *By : Parameter.users())
        if (const auto *Store = dyn_cast<StoreInst>(By); Store && Store->getValueOperand() == &Parameter)
            return pointee(declaredAt(*Store->getPointerOperand()));
    return nullptr;
}

} // namespace trackway
