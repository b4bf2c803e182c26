#include "names/Captures.h"
#include "names/DebugTypes.h"
#include "names/RustTypes.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace trackway {

namespace {

bool takeOperation(ArrayRef<uint64_t> &Rest, uint64_t Operation) {
    bool IsThere = !Rest.empty() && Rest.front() == Operation;
    if (IsThere)
        Rest = Rest.drop_front();
    return IsThere;
}

// `DW_OP_deref, DW_OP_plus_uconst 8, DW_OP_deref`: the environment's address, a place in it, and what that points to.
std::optional<Capture> parse(const AttachedVariable &Declared, const Environment &In) {
    ArrayRef<uint64_t> Rest = Declared.Expression->getElements();
    Capture Found{Declared.Variable, 0, false};
    if (In.HasAddress && !takeOperation(Rest, dwarf::DW_OP_deref))
        return std::nullopt;
    if (Rest.size() > 1 && takeOperation(Rest, dwarf::DW_OP_plus_uconst)) {
        Found.Offset = Rest.front();
        Rest = Rest.drop_front();
    }
    Found.ByReference = takeOperation(Rest, dwarf::DW_OP_deref);
    return Rest.empty() ? std::optional(Found) : std::nullopt;
}

const AllocaInst *slotOf(const Argument &Parameter) {
    for (const User *By : Parameter.users())
        if (const auto *Store = dyn_cast<StoreInst>(By); Store && Store->getValueOperand() == &Parameter)
            if (const auto *Slot = dyn_cast<AllocaInst>(Store->getPointerOperand()))
                return Slot;
    return nullptr;
}

} // namespace

Environment environment(const Value &Pointer) {
    if (const auto *Slot = dyn_cast<AllocaInst>(&Pointer))
        return {Slot, false};
    if (const auto *Parameter = dyn_cast<Argument>(&Pointer))
        return {slotOf(*Parameter), true};
    const auto *Load = dyn_cast<LoadInst>(&Pointer);
    return {Load ? dyn_cast<AllocaInst>(Load->getPointerOperand()) : nullptr, true};
}

std::optional<Capture> captureAt(ArrayRef<AttachedVariable> Declared, const Environment &In, uint64_t Offset,
                                 const DataLayout &Layout) {
    for (const AttachedVariable &Variable : Declared) {
        auto Found = parse(Variable, In);
        if (!Found || !isRust(Variable.Variable->getScope()))
            return std::nullopt;
        uint64_t Size = Found->ByReference ? Layout.getPointerSize() : sizeInBytes(Found->Variable->getType());
        if (Offset < Found->Offset || Offset - Found->Offset >= Size)
            continue;
        Found->Offset = Offset - Found->Offset;
        return Found;
    }
    return std::nullopt;
}

} // namespace trackway
