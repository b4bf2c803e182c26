#include "Loops.h"

#include "clang/AST/ExprCXX.h"
#include "clang/AST/ParentMapContext.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace llvm;

namespace trackway {

// Functions that call each other are followed so far.
static constexpr unsigned MostCalls = 4;

const VarDecl *variableOf(const Expr *Named) {
    const auto *Reference = dyn_cast<DeclRefExpr>(Named->IgnoreParenImpCasts());
    return Reference ? dyn_cast<VarDecl>(Reference->getDecl()) : nullptr;
}

bool mentions(const Stmt *Of, const VarDecl *Variable) {
    const auto *Named = dyn_cast<DeclRefExpr>(Of);
    return (Named && Named->getDecl() == Variable) ||
           any_of(Of->children(), [&](const Stmt *Child) { return Child && mentions(Child, Variable); });
}

bool isStandard(const FunctionDecl *Function) {
    for (const DeclContext *In = Function ? Function->getDeclContext() : nullptr; In; In = In->getParent())
        if (In->isStdNamespace())
            return true;
    return false;
}

// An element of a container of C++'s library, as that of an array.
bool isSubscript(const Expr *Of) {
    const auto *Call = dyn_cast<CXXOperatorCallExpr>(Of);
    return isa<ArraySubscriptExpr>(Of) ||
           (Call && Call->getOperator() == OO_Subscript && isStandard(Call->getDirectCallee()));
}

bool readsVolatile(const Stmt *Of) {
    const auto *Expression = dyn_cast<Expr>(Of);
    return (Expression && (Expression->getType().isVolatileQualified() || Expression->getType()->isAtomicType())) ||
           any_of(Of->children(), [](const Stmt *Child) { return Child && readsVolatile(Child); });
}

// What a statement sets, if it is an assignment or a step.
const Expr *setBy(const Stmt *Of) {
    const auto *Assignment = dyn_cast<BinaryOperator>(Of);
    const auto *Step = dyn_cast<UnaryOperator>(Of);
    const Expr *Set = Assignment && Assignment->isAssignmentOp() ? Assignment->getLHS()
                      : Step && Step->isIncrementDecrementOp()   ? Step->getSubExpr()
                                                                 : nullptr;
    return Set ? Set->IgnoreParens() : nullptr;
}

// Whether a statement sets this member of something.
bool assigns(const Stmt *Of, const ValueDecl *Field) {
    const auto *Member = dyn_cast_or_null<MemberExpr>(setBy(Of));
    return (Member && Member->getMemberDecl() == Field) ||
           any_of(Of->children(), [&](const Stmt *Child) { return Child && assigns(Child, Field); });
}

std::string Loops::textOf(SourceRange Range) const {
    CharSourceRange Text = Lexer::makeFileCharRange(CharSourceRange::getTokenRange(Range), Context.getSourceManager(),
                                                    Context.getLangOpts());
    return Text.isInvalid() ? "" : Lexer::getSourceText(Text, Context.getSourceManager(), Context.getLangOpts()).str();
}

bool Loops::isHere(const Expr *Of, unsigned Line) const {
    SourceLocation Place = Context.getSourceManager().getExpansionLoc(Of->getExprLoc());
    SourceLocation Begin = Context.getSourceManager().getExpansionLoc(Of->getBeginLoc());
    const SourceManager &Sources = Context.getSourceManager();
    return Sources.getSpellingLineNumber(Place) == Line || Sources.getSpellingLineNumber(Begin) == Line;
}

// `for (...; i < n; i++)`, with a bound that can be read once more.
bool Loops::isCounting(const ForStmt *Loop, Counting &Into) const {
    const auto *Condition = dyn_cast_or_null<BinaryOperator>(Loop->getCond());
    if (!Condition || !Loop->getInc() || !Loop->getBody())
        return false;
    Into.Index = variableOf(Condition->getLHS());
    Into.Body = Loop->getBody();
    Into.Bound = Condition->getRHS();
    Into.IsLess = Condition->getOpcode() == BO_LT;
    if (!Into.Index || (!Into.IsLess && Condition->getOpcode() != BO_LE) || !Into.Index->hasLocalStorage())
        return false;
    QualType Type = Into.Index->getType();
    if (!Type->isIntegerType() || Type.isVolatileQualified() || !hasNoEffect(Into.Bound, 0) ||
        readsVolatile(Into.Bound) || !Into.Bound->getType()->isIntegerType() || mentions(Into.Bound, Into.Index))
        return false;
    const auto *Step = dyn_cast<UnaryOperator>(Loop->getInc()->IgnoreParens());
    return Step && Step->isIncrementOp() && variableOf(Step->getSubExpr()) == Into.Index;
}

// As an operand of any operator.
std::string Loops::operandOf(const Expr *Of) const {
    std::string Text = textOf(Of->getSourceRange());
    bool IsSimple =
        isa<DeclRefExpr, IntegerLiteral, MemberExpr, ArraySubscriptExpr, ParenExpr, CallExpr>(Of->IgnoreImpCasts());
    return IsSimple || Text.empty() ? Text : "(" + Text + ")";
}

// Whether a statement sets something of this type whose place is computed. What has another type is something else.
bool Loops::setsByPointer(const Stmt *Of, QualType Type) const {
    const Expr *Set = setBy(Of);
    bool IsComputed = Set && !isa<DeclRefExpr>(Set) && Context.hasSameUnqualifiedType(Set->getType(), Type);
    return IsComputed || any_of(Of->children(), [&](const Stmt *Child) { return Child && setsByPointer(Child, Type); });
}

// Only a local whose address nobody takes has none.
bool Loops::mayHavePointers(const VarDecl *Variable, const Stmt *Body) const {
    const FunctionDecl *Function = nullptr;
    DynTypedNodeList Parents = Context.getParents(*Body);
    while (!Parents.empty() && !(Function = Parents[0].get<FunctionDecl>()))
        Parents = Context.getParents(Parents[0]);
    if (!Function || !Function->getBody() || !Variable->hasLocalStorage() || Variable->getType()->isReferenceType())
        return true;
    auto IsTaken = [&](auto &Self, const Stmt *Of) -> bool {
        const auto *Operator = dyn_cast<UnaryOperator>(Of);
        if (Operator && Operator->getOpcode() == UO_AddrOf && variableOf(Operator->getSubExpr()) == Variable)
            return true;
        if (const auto *Declared = dyn_cast<DeclStmt>(Of))
            for (const Decl *One : Declared->decls())
                if (const auto *Other = dyn_cast<VarDecl>(One); Other && Other->getType()->isReferenceType() &&
                                                                Other->hasInit() &&
                                                                variableOf(Other->getInit()) == Variable)
                    return true;
        return isa<LambdaExpr>(Of) ||
               any_of(Of->children(), [&](const Stmt *Child) { return Child && Self(Self, Child); });
    };
    return IsTaken(IsTaken, Function->getBody());
}

// Nothing in the body changes it, or could by its address.
bool Loops::isSteady(const ValueDecl *Named, const Stmt *Body) const {
    const auto *Reference = dyn_cast<DeclRefExpr>(Body);
    if (Reference && Reference->getDecl() == Named && !Named->getType()->isReferenceType() && !isOnlyRead(Reference))
        return false;
    return all_of(Body->children(), [&](const Stmt *Child) { return !Child || isSteady(Named, Child); });
}

bool Loops::isOnlyRead(const Expr *Named) const {
    for (const Expr *Of = Named;;) {
        const Expr *Up = nullptr;
        // A list of initialisers has two forms. In the one that was written, what it reads has no cast.
        for (const DynTypedNode &Parent : Context.getParents(*Of))
            if (!Up || isa<InitListExpr>(Up))
                Up = Parent.get<Expr>();
        if (!Up)
            return false;
        if (isa<UnaryExprOrTypeTraitExpr, CXXOperatorCallExpr>(Up))
            return isSubscript(Up) || isa<UnaryExprOrTypeTraitExpr>(Up);
        const auto *Cast = dyn_cast<CastExpr>(Up);
        // It is passed as a constant.
        if (Cast && Cast->getCastKind() == CK_NoOp && Cast->getType().isConstQualified())
            return true;
        if (Cast && Cast->getCastKind() != CK_NoOp)
            return Cast->getCastKind() == CK_LValueToRValue || Cast->getCastKind() == CK_ArrayToPointerDecay;
        const auto *Member = dyn_cast<MemberExpr>(Up);
        if (const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Member ? Member->getMemberDecl() : nullptr))
            return Method->isConst();
        if (!Cast && !Member && !isa<ParenExpr>(Up))
            return false;
        Of = Up;
    }
}

// Each iteration comes to it, whatever it reads: so it is safe to read for iterations to come.
bool Loops::isAlwaysExecuted(const Stmt *Of, const Stmt *Body) const {
    DynTypedNode At = DynTypedNode::create(*Of);
    for (;;) {
        DynTypedNodeList Parents = Context.getParents(At);
        if (Parents.empty())
            return false;
        const Stmt *Child = At.get<Stmt>();
        if (Child == Body)
            return true;
        const Stmt *Up = Parents[0].get<Stmt>();
        if (const auto *If = dyn_cast_or_null<IfStmt>(Up); If && Child != If->getCond())
            return false;
        if (const auto *Choice = dyn_cast_or_null<AbstractConditionalOperator>(Up);
            Choice && Child != Choice->getCond())
            return false;
        if (const auto *Both = dyn_cast_or_null<BinaryOperator>(Up);
            Both && Both->isLogicalOp() && Child != Both->getLHS())
            return false;
        if (const auto *Inner = dyn_cast_or_null<ForStmt>(Up); Inner && Up != nullptr) {
            bool IsOurs = Inner->getBody() == Body;
            if (!IsOurs && Child != Inner->getInit())
                return false;
        }
        if (isa_and_nonnull<WhileStmt, DoStmt, CXXForRangeStmt, SwitchCase, LabelStmt, LambdaExpr, SwitchStmt,
                            CXXTryStmt, CXXCatchStmt>(Up))
            return false;
        At = Parents[0];
    }
}

// `IsOurs`: a break here leaves this loop.
void Loops::findEnds(const Stmt *Of, bool IsOurs, Reasons &Against) const {
    if (isa<ReturnStmt, GotoStmt, IndirectGotoStmt, CXXThrowExpr, CoreturnStmt, CoyieldExpr, CoawaitExpr>(Of) ||
        (isa<BreakStmt>(Of) && IsOurs))
        Against.insert("the loop may end before its bound");
    if (isa<ContinueStmt>(Of) && IsOurs)
        Against.insert("an iteration may be cut short by continue");
    if (isa<AsmStmt>(Of))
        Against.insert("the loop has assembly");
    if (isa<LabelStmt>(Of))
        Against.insert("the loop has labels");
    if (isa<LambdaExpr>(Of))
        return;
    bool IsLoop = isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(Of);
    for (const Stmt *Child : Of->children())
        if (Child)
            findEnds(Child, IsOurs && !IsLoop && !isa<SwitchStmt>(Of), Against);
}

void Loops::findCalls(const Stmt *Of, function_ref<bool(const CallExpr *)> IsFine, Reasons &Against) const {
    const auto *Call = dyn_cast<CallExpr>(Of);
    if (Call && !isSubscript(Call) && !isHarmless(Call) && !IsFine(Call)) {
        const FunctionDecl *Callee = Call->getDirectCallee();
        Against.insert("the loop calls " + (Callee ? Callee->getNameAsString() : std::string("by a pointer")) +
                       ", which may end it or change what it reads");
    }
    if (isa<LambdaExpr>(Of))
        return;
    for (const Stmt *Child : Of->children())
        if (Child)
            findCalls(Child, IsFine, Against);
}

// It comes back, and changes none of the variables from which addresses are computed.
bool Loops::isHarmless(const CallExpr *Call, unsigned Depth) const {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee || Callee->isNoReturn() || Depth > MostCalls)
        return false;
    if (Callee->hasAttr<ConstAttr>() || Callee->hasAttr<PureAttr>())
        return true;
    if (Callee->getBuiltinID() != 0) {
        StringRef Name = Callee->getIdentifier() ? Callee->getName() : "";
        return !Name.contains("jmp") && !Name.contains("alloc") && !Name.contains("free") && !Name.contains("exit") &&
               !Name.contains("abort") && !Name.contains("trap") && !Name.contains("unreachable") &&
               !Name.contains("fork") && !Name.contains("vprintf");
    }
    if (const auto *Method = dyn_cast<CXXMethodDecl>(Callee); Method && isStandard(Method))
        return Method->isConst();
    const FunctionDecl *Definition = nullptr;
    return Callee->hasBody(Definition) && hasNoEffect(Definition->getBody(), Depth + 1);
}

// It computes from its arguments and from memory, in no loop.
bool Loops::hasNoEffect(const Stmt *Of, unsigned Depth) const {
    if (isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt, GotoStmt, AsmStmt, CXXThrowExpr, CXXNewExpr, CXXDeleteExpr,
            LambdaExpr, CXXTryStmt, AtomicExpr>(Of))
        return false;
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(Of); Construct && !Construct->getConstructor()->isTrivial())
        return false;
    if (const auto *Call = dyn_cast<CallExpr>(Of); Call && !isSubscript(Call) && !isHarmless(Call, Depth))
        return false;
    if (const Expr *Changed = setBy(Of)) {
        const VarDecl *Variable = variableOf(Changed);
        if (!Variable || !Variable->hasLocalStorage() || Variable->getType()->isReferenceType())
            return false;
    }
    return all_of(Of->children(), [&](const Stmt *Child) { return !Child || hasNoEffect(Child, Depth); });
}

} // namespace trackway
