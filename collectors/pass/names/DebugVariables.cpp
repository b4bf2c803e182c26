#include "names/DebugVariables.h"
#include "LlvmVersion.h"
#include "names/FieldPaths.h"
#include "names/RustTypes.h"
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

AttachedVariable attached(const Declaration &D) { return {D.Variable, D.Expression, false}; }

// The parts of Rust's pointers to slices, of its vectors and iterators are values of their own.
bool isPartInRust(const DIExpression &Expression, const DILocalVariable &Variable) {
    return Expression.isFragment() && Expression.getNumElements() == 3 && isRust(Variable.getScope());
}

// What debug information says of a value that a variable holds as a whole, and of a pointer that is a part of one.
Declarations describedAs(const Value &V) {
    Declarations Found;
    visitDebugValues(V, [&](const auto &Marker) {
        const DILocalVariable *Variable = Marker.getVariable();
        const DIExpression &Expression = *Marker.getExpression();
        bool IsHeld =
            !Expression.getNumElements() || (V.getType()->isPointerTy() && isPartInRust(Expression, *Variable));
        if (IsHeld && !Variable->getName().empty() && !isCompilerDeclared(*Variable))
            Found.push_back({Variable, Marker.getExpression(), Marker.getDebugLoc().get()});
    });
    return Found;
}

// `n = n->next`: what the phi becomes is loaded from where it points to.
bool isNextOf(const Value &Incoming, const PHINode &Phi) {
    auto *Load = dyn_cast<LoadInst>(&Incoming);
    return Load && Load->getPointerOperand()->stripInBoundsConstantOffsets() == &Phi;
}

// A pointer that follows a list loses its description where the optimiser joined the loads of the first and the next
// one; the next one still has it.
Declarations holders(const Value &V) {
    Declarations Found = describedAs(V);
    auto *Phi = dyn_cast<PHINode>(&V);
    if (!Phi || !Found.empty())
        return Found;
    for (const Value *Incoming : Phi->incoming_values())
        if (isNextOf(*Incoming, *Phi))
            Found.append(describedAs(*Incoming));
    return Found;
}

Declarations distinct(ArrayRef<Declaration> All) {
    Declarations Kept;
    for (const Declaration &D : All)
        if (none_of(Kept, [&](const Declaration &Other) { return Other.Variable == D.Variable; }))
            Kept.push_back(D);
    return Kept;
}

// Those whose pointers say what they point to.
Declarations withTarget(ArrayRef<Declaration> All) {
    Declarations Kept;
    copy_if(All, std::back_inserter(Kept),
            [](const Declaration &D) { return D.Expression->getNumElements() || onlyPointer(D.Variable->getType()); });
    return Kept;
}

bool isWithin(const DILocalScope *Inner, const DILocalScope &Outer) {
    for (const DIScope *Scope = Inner; Scope; Scope = isa<DISubprogram>(Scope) ? nullptr : Scope->getScope())
        if (Scope == &Outer)
            return true;
    return false;
}

// Those that the source can name at this place of a function, or of an inlined copy of it.
Declarations visibleAt(ArrayRef<Declaration> All, const DILocation &At) {
    Declarations Kept;
    copy_if(All, std::back_inserter(Kept), [&](const Declaration &D) {
        return D.Location && D.Location->getInlinedAt() == At.getInlinedAt() &&
               isWithin(At.getScope(), *D.Variable->getScope());
    });
    return Kept;
}

} // namespace

const DIGlobalVariable *describedVariable(const GlobalVariable &Global) {
    SmallVector<DIGlobalVariableExpression *, 1> Infos;
    Global.getDebugInfo(Infos);
    const DIGlobalVariable *First = Infos.empty() ? nullptr : Infos.front()->getVariable();
    return First && isa_and_nonnull<DICommonBlock>(First->getScope()) ? nullptr : First;
}

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
    Declarations Holders = distinct(holders(V));
    erase_if(Holders, [](const Declaration &D) { return D.Expression->getNumElements() != 0; });
    return Holders.size() == 1 ? attached(Holders.front()) : AttachedVariable();
}

SmallVector<AttachedVariable, 1> heldVariables(const Value &V, const DILocation *Reader) {
    Declarations All = holders(V), Seen;
    // Variables of Rust's standard library say less than those of its callers.
    for (const DILocation *At = Reader; At && Seen.empty(); At = At->getInlinedAt())
        if (!isInStandardLibrary(*At))
            Seen = withTarget(visibleAt(All, *At));
    for (const DILocation *At = Reader; At && Seen.empty(); At = At->getInlinedAt())
        Seen = withTarget(visibleAt(All, *At));
    SmallVector<AttachedVariable, 1> Attached;
    for (const Declaration &D : distinct(Seen))
        Attached.push_back(attached(D));
    return Attached;
}

bool isCompilerDeclared(const DILocalVariable &Variable) { return Variable.isArtificial() && !Variable.isParameter(); }

const DIType *resultType(const DISubprogram &Program) {
    const DISubroutineType *Type = Program.getType();
    if (!Type || Type->getTypeArray().size() == 0)
        return nullptr;
    return Type->getTypeArray()[0];
}

} // namespace trackway
