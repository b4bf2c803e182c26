#include "names/DebugVariables.h"
#include "LlvmVersion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
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

struct Declaration {
    const DILocalVariable *Variable;
    const DIExpression *Expression;
    const DILocation *Location;
};

using Declarations = SmallVector<Declaration, 2>;

// If the optimiser tracks assignments, they stand for the declaration.
template <typename Marker> void addAssignment(Declarations &Found, const Marker &Assignment) {
    const DIExpression *Address = Assignment.getAddressExpression();
    const DIExpression *Expression = Address->getNumElements() ? Address : Assignment.getExpression();
    Found.push_back({Assignment.getVariable(), Expression, Assignment.getDebugLoc().get()});
}

Declarations declarations(const Value &Address) {
    Declarations Found;
    visitDebugDeclares(Address, [&](const auto &Marker) {
        Found.push_back({Marker.getVariable(), Marker.getExpression(), Marker.getDebugLoc().get()});
    });
    if (const auto *Slot = dyn_cast<AllocaInst>(&Address); Slot && Found.empty())
        visitDebugAssignments(*Slot, [&](const auto &Marker) { addAssignment(Found, Marker); });
    return Found;
}

} // namespace

SmallVector<AttachedVariable, 1> declaredVariables(const Value &Address) {
    Declarations All = declarations(Address);
    auto Inlined = [](const Declaration &D) { return D.Location && D.Location->getInlinedAt(); };
    bool OnlyInlined = all_of(All, Inlined);
    SmallVector<AttachedVariable, 1> Kept;
    for (const Declaration &D : All) {
        bool Known = any_of(Kept, [&](const AttachedVariable &Other) { return Other.Variable == D.Variable; });
        if (Known || D.Variable->getName().empty() || (Inlined(D) && (!OnlyInlined || !Kept.empty())))
            continue;
        AttachedVariable Attached{D.Variable, D.Expression, isIndirect(*D.Expression)};
        Kept.insert(startsWithOffset(*D.Expression) ? Kept.end() : Kept.begin(), Attached);
    }
    return Kept;
}

AttachedVariable heldVariable(const Value &V) {
    Declarations Holders;
    visitDebugValues(
        V, [&](const auto &Marker) { Holders.push_back({Marker.getVariable(), Marker.getExpression(), nullptr}); });
    AttachedVariable Only;
    for (const Declaration &H : Holders) {
        if (H.Expression->getNumElements() || H.Variable->getName().empty() || isCompilerDeclared(*H.Variable))
            continue;
        if (Only && Only.Variable != H.Variable)
            return {};
        Only = {H.Variable, H.Expression, false};
    }
    return Only;
}

bool isCompilerDeclared(const DILocalVariable &Variable) { return Variable.isArtificial() && !Variable.isParameter(); }

const DIType *resultType(const DISubprogram &Program) {
    const DISubroutineType *Type = Program.getType();
    if (!Type || Type->getTypeArray().size() == 0)
        return nullptr;
    return Type->getTypeArray()[0];
}

} // namespace trackway
