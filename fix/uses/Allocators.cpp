#include "Allocators.h"

#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace llvm;

namespace trackway {

bool isLikeAllocator(const FunctionDecl *Function) {
    if (!Function->getIdentifier() || Function->isVariadic() || Function->isTemplated())
        return false;
    ArrayRef<ParmVarDecl *> Parameters = Function->parameters();
    if (Function->getReturnType()->isVoidType())
        return Parameters.size() == 1 && Parameters[0]->getType()->isVoidPointerType();
    bool TakesSizes = all_of(Parameters, [](const ParmVarDecl *P) { return P->getType()->isIntegerType(); });
    return Function->getReturnType()->isVoidPointerType() && TakesSizes && !Parameters.empty() &&
           Parameters.size() <= 2;
}

static const CallExpr *callOf(const Expr *Of, StringRef Name) {
    const auto *Call = dyn_cast<CallExpr>(Of->IgnoreParenCasts());
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    return Callee && Callee->getIdentifier() && Callee->getName() == Name ? Call : nullptr;
}

static const ValueDecl *variable(const Expr *Of) {
    const auto *Named = dyn_cast<DeclRefExpr>(Of->IgnoreParenCasts());
    return Named ? Named->getDecl() : nullptr;
}

static bool isOne(const Expr *Of) {
    const auto *Number = dyn_cast<IntegerLiteral>(Of->IgnoreParenCasts());
    return Number && Number->getValue() == 1;
}

// X of `!X`.
static const Expr *negated(const Expr *Of) {
    const auto *Not = dyn_cast<UnaryOperator>(Of->IgnoreParenCasts());
    return Not && Not->getOpcode() == UO_LNot ? Not->getSubExpr() : nullptr;
}

static ArrayRef<Stmt *> statements(Stmt *const &Of) {
    if (auto *Compound = dyn_cast<CompoundStmt>(Of))
        return ArrayRef(Compound->body_begin(), Compound->size());
    return Of;
}

namespace {

// A function's body, statement by statement.
class Body {
  public:
    Body(const FunctionDecl *Function, ASTContext &Context, unsigned Depth = 3)
        : Function(Function), Context(Context), Depth(Depth) {}

    StringRef given() { return isWholeKnown() ? Allocator : ""; }

    // It gives back its parameter, and does something else only if that is null.
    bool givesItsParameter() {
        if (!Function->hasBody(Function) || Function->getNumParams() != 1 ||
            !Function->getParamDecl(0)->getType()->isVoidPointerType())
            return false;
        Memory = Function->getParamDecl(0);
        return isWholeKnown() && Allocator.empty();
    }

  private:
    bool isWholeKnown() {
        if (!Function->hasBody(Function))
            return false;
        Stmt *Whole = Function->getBody();
        return all_of(statements(Whole), [&](const Stmt *Part) { return !IsOver && isKnown(Part); }) && IsOver;
    }

    bool isKnown(const Stmt *Part) {
        if (const auto *Declared = dyn_cast<DeclStmt>(Part)) {
            const auto *Only = Declared->isSingleDecl() ? dyn_cast<VarDecl>(Declared->getSingleDecl()) : nullptr;
            return Only && Only->hasLocalStorage() && (!Only->hasInit() || isGiven(Only, Only->getInit()));
        }
        if (const auto *Returned = dyn_cast<ReturnStmt>(Part)) {
            IsOver = true;
            return Returned->getRetValue() && (isMemory(Returned->getRetValue()) || isCall(Returned->getRetValue()));
        }
        if (const auto *Condition = dyn_cast<IfStmt>(Part))
            return !Condition->getElse() && !Condition->getInit() && !Condition->getConditionVariable() &&
                   isOfNothing(Condition->getCond()) && leavesMemory(Condition->getThen());
        const auto *Expression = dyn_cast<Expr>(Part);
        return Expression && isAssigned(Expression);
    }

    bool isAssigned(const Expr *Of) {
        const auto *Assignment = dyn_cast<BinaryOperator>(Of->IgnoreParenCasts());
        if (!Assignment || Assignment->getOpcode() != BO_Assign)
            return false;
        const auto *To = dyn_cast_or_null<VarDecl>(variable(Assignment->getLHS()));
        return To && To->hasLocalStorage() && isGiven(To, Assignment->getRHS());
    }

    bool isGiven(const VarDecl *To, const Expr *From) {
        if (Memory || !isCall(From))
            return false;
        Memory = To;
        return true;
    }

    bool isMemory(const Expr *Of) const { return Memory && variable(Of) == Memory; }

    // The one call, with the parameters as its sizes; perhaps within that of a function that only tests its result.
    bool isCall(const Expr *Of) {
        const auto *Call = dyn_cast<CallExpr>(Of->IgnoreParenCasts());
        const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
        if (!Allocator.empty() || !Callee || !Callee->getIdentifier() || Depth == 0)
            return false;
        if (Call->getNumArgs() == 1 && Body(Callee, Context, Depth - 1).givesItsParameter())
            return isCall(Call->getArg(0));
        if (Call->getNumArgs() == 1 ? areSizes(Call->getArg(0)) : areSizesOf(Call))
            Allocator = allocatorOf(Callee);
        return !Allocator.empty();
    }

    StringRef allocatorOf(const FunctionDecl *Callee) const {
        if (!Callee->hasBody(Callee))
            return is_contained({"malloc", "calloc"}, Callee->getName()) ? Callee->getName() : "";
        return isLikeAllocator(Callee) ? Body(Callee, Context, Depth - 1).given() : "";
    }

    bool areSizesOf(const CallExpr *Call) const {
        if (Call->getNumArgs() != 2)
            return false;
        const Expr *First = Call->getArg(0), *Second = Call->getArg(1);
        return isOne(First) ? areSizes(Second) : isOne(Second) ? areSizes(First) : areBoth(First, Second);
    }

    // The only parameter, but perhaps 1 for 0; or the product of both.
    bool areSizes(const Expr *Bytes) const {
        if (const auto *Product = dyn_cast<BinaryOperator>(Bytes->IgnoreParenCasts()))
            return Product->getOpcode() == BO_Mul && areBoth(Product->getLHS(), Product->getRHS());
        if (const auto *Choice = dyn_cast<ConditionalOperator>(Bytes->IgnoreParenCasts()))
            return areSizes(Choice->getCond()) && areSizes(Choice->getTrueExpr()) && isOne(Choice->getFalseExpr());
        return Function->getNumParams() == 1 && variable(Bytes) == Function->getParamDecl(0);
    }

    bool areBoth(const Expr *First, const Expr *Second) const {
        if (Function->getNumParams() != 2)
            return false;
        const ValueDecl *Parameters[] = {Function->getParamDecl(0), Function->getParamDecl(1)};
        const ValueDecl *Sizes[] = {variable(First), variable(Second)};
        return equal(Parameters, Sizes) || equal(Parameters, reverse(Sizes));
    }

    // True only if there is no memory.
    bool isOfNothing(const Expr *Condition) {
        Condition = Condition->IgnoreParenCasts();
        if (const CallExpr *Expected = callOf(Condition, "__builtin_expect"))
            return isOfNothing(Expected->getArg(0));
        if (const Expr *Something = negated(Condition)) {
            const Expr *Nothing = negated(Something);
            return Nothing ? isOfNothing(Nothing) : isPointer(Something) || isLikely(Something);
        }
        const auto *Both = dyn_cast<BinaryOperator>(Condition);
        if (!Both)
            return false;
        const Expr *Left = Both->getLHS(), *Right = Both->getRHS();
        if (Both->getOpcode() == BO_LAnd)
            return (isOfNothing(Left) && !Right->HasSideEffects(Context)) ||
                   (!Left->HasSideEffects(Context) && isOfNothing(Right));
        return Both->getOpcode() == BO_EQ && ((isPointer(Left) && isNull(Right)) || (isNull(Left) && isPointer(Right)));
    }

    // `__builtin_expect(!!memory, 1)`, perhaps without the negations.
    bool isLikely(const Expr *Condition) {
        const CallExpr *Expected = callOf(Condition, "__builtin_expect");
        if (!Expected)
            return false;
        const Expr *Inner = Expected->getArg(0);
        const Expr *Nothing = negated(Inner);
        return isPointer(Nothing && negated(Nothing) ? negated(Nothing) : Inner);
    }

    bool isPointer(const Expr *Of) { return isMemory(Of) || isAssigned(Of); }

    bool isNull(const Expr *Of) const {
        return Of->isNullPointerConstant(Context, Expr::NPC_ValueDependentIsNotNull) != Expr::NPCK_NotNull;
    }

    // The variable is only returned, and no other memory is.
    bool leavesMemory(const Stmt *Part) const {
        if (const auto *Returned = dyn_cast<ReturnStmt>(Part))
            return Returned->getRetValue() && (isMemory(Returned->getRetValue()) || isNull(Returned->getRetValue()));
        if (isa<GotoStmt, IndirectGotoStmt>(Part))
            return false;
        if (const auto *Named = dyn_cast<DeclRefExpr>(Part))
            return Named->getDecl() != Memory;
        return all_of(Part->children(), [&](const Stmt *Child) { return !Child || leavesMemory(Child); });
    }

    const FunctionDecl *Function;
    ASTContext &Context;
    const VarDecl *Memory = nullptr;
    StringRef Allocator;
    unsigned Depth;
    bool IsOver = false;
};

} // namespace

// `free(memory)`, perhaps only where there is memory.
static bool frees(Stmt *Part, const ParmVarDecl *Memory, ASTContext &Context) {
    ArrayRef<Stmt *> Parts = statements(Part);
    if (Parts.size() != 1)
        return false;
    if (auto *Condition = dyn_cast<IfStmt>(Parts[0])) {
        const Expr *Asked = Condition->getCond()->IgnoreParenCasts();
        if (const auto *Compared = dyn_cast<BinaryOperator>(Asked);
            Compared && Compared->getOpcode() == BO_NE &&
            Compared->getRHS()->isNullPointerConstant(Context, Expr::NPC_ValueDependentIsNotNull) != Expr::NPCK_NotNull)
            Asked = Compared->getLHS();
        return !Condition->getElse() && variable(Asked) == Memory && frees(Condition->getThen(), Memory, Context);
    }
    const auto *Expression = dyn_cast<Expr>(Parts[0]);
    const CallExpr *Call = Expression ? callOf(Expression, "free") : nullptr;
    return Call && Call->getNumArgs() == 1 && variable(Call->getArg(0)) == Memory;
}

StringRef passesOn(const FunctionDecl *Function, ASTContext &Context) {
    if (Function->getReturnType()->isVoidType())
        return frees(Function->getBody(), Function->getParamDecl(0), Context) ? "free" : "";
    return Body(Function, Context).given();
}

} // namespace trackway
