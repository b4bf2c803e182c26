#include "DebugVariables.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace trackway {

namespace {

bool startsWithOffset(const DIExpression &Expression) {
    return Expression.getNumElements() != 0 && Expression.getElement(0) == dwarf::DW_OP_plus_uconst;
}

bool isIndirect(const DIExpression &Expression) {
    return Expression.getNumElements() != 0 && Expression.getElement(0) == dwarf::DW_OP_deref;
}

// Nothing but the variable itself, or a piece of it.
bool isPlain(const DIExpression &Expression) {
    return Expression.getNumElements() == 0 ||
           (Expression.getNumElements() == 3 && Expression.getElement(0) == dwarf::DW_OP_LLVM_fragment);
}

void prefer(AttachedVariable &Best, const DILocalVariable *Variable, const DIExpression *Expression) {
    if (Variable->getName().empty() || startsWithOffset(*Expression))
        return;
    if (!Best)
        Best = {Variable, Expression, isIndirect(*Expression)};
}

void considerAssignments(AttachedVariable &Best, const AllocaInst &Slot) {
    for (DbgVariableRecord *Record : at::getDVRAssignmentMarkers(&Slot))
        prefer(Best, Record->getVariable(),
               Record->getAddressExpression()->getNumElements() ? Record->getAddressExpression()
                                                                : Record->getExpression());
    for (DbgAssignIntrinsic *Marker : at::getAssignmentMarkers(&Slot))
        prefer(Best, Marker->getVariable(),
               Marker->getAddressExpression()->getNumElements() ? Marker->getAddressExpression()
                                                                : Marker->getExpression());
}

struct Holder {
    const DILocalVariable *Variable;
    const DIExpression *Expression;
};

} // namespace

AttachedVariable declaredVariable(const Value &Address) {
    AttachedVariable Best;
    // The finders take their argument without const, but only read.
    auto *Writable = const_cast<Value *>(&Address);
    for (DbgVariableRecord *Record : findDVRDeclares(Writable))
        prefer(Best, Record->getVariable(), Record->getExpression());
    for (DbgDeclareInst *Declare : findDbgDeclares(Writable))
        prefer(Best, Declare->getVariable(), Declare->getExpression());
    if (const auto *Slot = dyn_cast<AllocaInst>(&Address); Slot && !Best)
        considerAssignments(Best, *Slot);
    return Best;
}

AttachedVariable heldVariable(const Value &V) {
    SmallVector<DbgValueInst *, 4> Intrinsics;
    SmallVector<DbgVariableRecord *, 4> Records;
    findDbgValues(Intrinsics, const_cast<Value *>(&V), &Records);
    SmallVector<Holder, 4> Holders;
    for (const DbgVariableRecord *Record : Records)
        Holders.push_back({Record->getVariable(), Record->getExpression()});
    for (const DbgValueInst *Intrinsic : Intrinsics)
        Holders.push_back({Intrinsic->getVariable(), Intrinsic->getExpression()});
    AttachedVariable Only;
    for (const Holder &H : Holders) {
        if (!isPlain(*H.Expression) || H.Expression->getNumElements() || H.Variable->getName().empty())
            continue;
        if (Only && Only.Variable != H.Variable)
            return {};
        Only = {H.Variable, H.Expression, false};
    }
    return Only;
}

const DIType *resultType(const DISubprogram &Program) {
    const DISubroutineType *Type = Program.getType();
    if (!Type || Type->getTypeArray().size() == 0)
        return nullptr;
    return Type->getTypeArray()[0];
}

} // namespace trackway
