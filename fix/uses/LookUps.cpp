#include "LookUps.h"

#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace llvm;

namespace trackway {

// Locals that are set from each other, and functions that call each other, are followed so far.
static constexpr unsigned MostDepth = 4;

static const VarDecl *variableOf(const Expr *Named) {
    const auto *Reference = dyn_cast<DeclRefExpr>(Named->IgnoreParenImpCasts());
    return Reference ? dyn_cast<VarDecl>(Reference->getDecl()) : nullptr;
}

static bool mentions(const Stmt *Of, const VarDecl *Variable) {
    const auto *Named = dyn_cast<DeclRefExpr>(Of);
    return (Named && Named->getDecl() == Variable) ||
           any_of(Of->children(), [&](const Stmt *Child) { return Child && mentions(Child, Variable); });
}

static bool isStandard(const FunctionDecl *Function) {
    for (const DeclContext *In = Function ? Function->getDeclContext() : nullptr; In; In = In->getParent())
        if (In->isStdNamespace())
            return true;
    return false;
}

// An element of a container of C++'s library, as that of an array.
static bool isSubscript(const Expr *Of) {
    const auto *Call = dyn_cast<CXXOperatorCallExpr>(Of);
    return isa<ArraySubscriptExpr>(Of) ||
           (Call && Call->getOperator() == OO_Subscript && isStandard(Call->getDirectCallee()));
}

// Whether the expression is something in memory whose place is computed.
static bool isElement(const Expr *Of) {
    const auto *Operator = dyn_cast<UnaryOperator>(Of);
    const auto *Member = dyn_cast<MemberExpr>(Of);
    return isSubscript(Of) || (Operator && Operator->getOpcode() == UO_Deref) ||
           (Member && isa<FieldDecl>(Member->getMemberDecl()));
}

// A member of something in memory has its place; what is reached by a pointer has one of its own.
static const Expr *placeOf(const Expr *Element) {
    while (const auto *Member = dyn_cast<MemberExpr>(Element)) {
        if (Member->isArrow())
            break;
        Element = Member->getBase()->IgnoreParens();
    }
    return Element;
}

static bool readsVolatile(const Stmt *Of) {
    const auto *Expression = dyn_cast<Expr>(Of);
    return (Expression && (Expression->getType().isVolatileQualified() || Expression->getType()->isAtomicType())) ||
           any_of(Of->children(), [](const Stmt *Child) { return Child && readsVolatile(Child); });
}

// What a statement sets, if it is an assignment or a step.
static const Expr *setBy(const Stmt *Of) {
    const auto *Assignment = dyn_cast<BinaryOperator>(Of);
    const auto *Step = dyn_cast<UnaryOperator>(Of);
    const Expr *Set = Assignment && Assignment->isAssignmentOp() ? Assignment->getLHS()
                      : Step && Step->isIncrementDecrementOp()   ? Step->getSubExpr()
                                                                 : nullptr;
    return Set ? Set->IgnoreParens() : nullptr;
}

// Whether a statement sets this member of something.
static bool assigns(const Stmt *Of, const ValueDecl *Field) {
    const auto *Member = dyn_cast_or_null<MemberExpr>(setBy(Of));
    return (Member && Member->getMemberDecl() == Field) ||
           any_of(Of->children(), [&](const Stmt *Child) { return Child && assigns(Child, Field); });
}

std::string LookUps::textOf(SourceRange Range) const {
    CharSourceRange Text = Lexer::makeFileCharRange(CharSourceRange::getTokenRange(Range), Context.getSourceManager(),
                                                    Context.getLangOpts());
    return Text.isInvalid() ? "" : Lexer::getSourceText(Text, Context.getSourceManager(), Context.getLangOpts()).str();
}

// `for (...; i < n; i++)`, with a bound that can be read once more.
bool LookUps::isCounting(const ForStmt *Loop, Counting &Into) const {
    const auto *Condition = dyn_cast_or_null<BinaryOperator>(Loop->getCond());
    if (!Condition || !Loop->getInc() || !Loop->getBody())
        return false;
    Into.Index = variableOf(Condition->getLHS());
    Into.Body = Loop->getBody();
    bool IsLess = Condition->getOpcode() == BO_LT;
    if (!Into.Index || (!IsLess && Condition->getOpcode() != BO_LE) || !Into.Index->hasLocalStorage())
        return false;
    QualType Type = Into.Index->getType();
    const Expr *Bound = Condition->getRHS();
    if (!Type->isIntegerType() || Type.isVolatileQualified() || !hasNoEffect(Bound, 0) || readsVolatile(Bound) ||
        !Bound->getType()->isIntegerType() || mentions(Bound, Into.Index))
        return false;
    const auto *Step = dyn_cast<UnaryOperator>(Loop->getInc()->IgnoreParens());
    if (!Step || !Step->isIncrementOp() || variableOf(Step->getSubExpr()) != Into.Index)
        return false;
    std::string Limit = textOf(Bound->getSourceRange());
    bool IsSimple =
        isa<DeclRefExpr, IntegerLiteral, MemberExpr, ArraySubscriptExpr, ParenExpr, CallExpr>(Bound->IgnoreImpCasts());
    // The difference can't overflow: the index is below the bound here.
    Into.Guard = (IsSimple ? Limit : "(" + Limit + ")") + " - " + Into.Index->getNameAsString() +
                 (IsLess ? " > " : " >= ") + std::to_string(Distance);
    return !Limit.empty();
}

bool LookUps::VisitForStmt(ForStmt *Loop) {
    Counting Of;
    if (!isCounting(Loop, Of))
        return true;
    Reasons Against;
    speakAgainst(Of.Body, true, Against);
    if (!isSteady(Of.Index, Of.Body))
        Against.insert("the loop's own variable changes within it");
    findIn(Of.Body, Of, Against);
    return true;
}

bool LookUps::isHere(const Expr *Element) const {
    SourceLocation Place = Context.getSourceManager().getExpansionLoc(Element->getExprLoc());
    SourceLocation Begin = Context.getSourceManager().getExpansionLoc(Element->getBeginLoc());
    const SourceManager &Sources = Context.getSourceManager();
    return Sources.getSpellingLineNumber(Place) == Line || Sources.getSpellingLineNumber(Begin) == Line;
}

// The largest expressions first: what is within a look-up is asked for with it.
void LookUps::findIn(const Stmt *Of, const Counting &Loop, Reasons &Body) {
    const auto *Expression = dyn_cast<Expr>(Of);
    if (Expression && isElement(Expression) && isHere(Expression) && look(Expression, Loop, Body))
        return;
    for (const Stmt *Child : Of->children())
        if (Child)
            findIn(Child, Loop, Body);
}

// Returns whether the element's place follows from one load at the loop's variable.
bool LookUps::look(const Expr *Element, const Counting &Loop, const Reasons &Body) {
    const Expr *Place = placeOf(Element);
    SmallVector<const Expr *, 4> Loads;
    Reasons Against = Body;
    loadsOf(Place, Loop, 0, Against, Loads);
    if (Loads.empty())
        return false;
    const auto *Member = dyn_cast<MemberExpr>(Element);
    const auto *Field = Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
    if (Field && Field->isBitField())
        Element = Member->isArrow() ? Element : Place;
    for (const Expr *Load : Loads) {
        if (!isAlwaysExecuted(Load, Loop.Body))
            Against.insert("it isn't sure that " + textOf(Load->getSourceRange()) + " is read in each iteration");
        if (Load->getType().isVolatileQualified() || Load->getType()->isAtomicType())
            Against.insert(textOf(Load->getSourceRange()) + " is volatile or atomic");
    }
    std::string Address = render(Element, Loop);
    if (Field && Field->isBitField() && Member->isArrow())
        Address = "*" + render(Member->getBase(), Loop);
    if (Address.empty() || isa_and_nonnull<NullStmt>(Loop.Body))
        Against.insert("a macro writes it");
    json::Object LookUp = Written.of(Element->getSourceRange());
    LookUp["kind"] = "look_up";
    LookUp["address"] = Address;
    LookUp["guard"] = Loop.Guard;
    LookUp["body"] = Written.span(Loop.Body->getSourceRange());
    LookUp["compound"] = isa<CompoundStmt>(Loop.Body);
    json::Array All;
    for (const std::string &Reason : Against)
        All.push_back(Reason);
    LookUp["reasons"] = std::move(All);
    Found.push_back(std::move(LookUp));
    return true;
}

// The loads at the loop's variable that the value needs. Returns whether it depends on the variable at all.
bool LookUps::loadsOf(const Stmt *Of, const Counting &Loop, unsigned Depth, Reasons &Against,
                      SmallVectorImpl<const Expr *> &Loads) const {
    if (const auto *Named = dyn_cast<DeclRefExpr>(Of)) {
        const auto *Variable = dyn_cast<VarDecl>(Named->getDecl());
        if (!Variable || Variable == Loop.Index)
            return Variable != nullptr;
        if (valueOf(Variable, Loop)) {
            if (Depth < MostDepth)
                return loadsOf(Variable->getInit(), Loop, Depth + 1, Against, Loads);
            Against.insert("its place is computed in too many steps");
        } else if (!isSteady(Variable, Loop.Body) ||
                   (mayHavePointers(Variable, Loop.Body) && setsByPointer(Loop.Body, Variable->getType()))) {
            Against.insert(Variable->getNameAsString() + " changes in the loop");
        }
        return false;
    }
    size_t Before = Loads.size();
    bool Depends = false;
    for (const Stmt *Child : Of->children())
        Depends |= Child && loadsOf(Child, Loop, Depth, Against, Loads);
    const auto *Expression = dyn_cast<Expr>(Of);
    if (!Expression)
        return Depends;
    if (const auto *Call = dyn_cast<CallExpr>(Expression); Call && !isSubscript(Call) && !isHarmless(Call))
        Against.insert("its place is computed by a call that may do more");
    const auto *Cast = dyn_cast<CastExpr>(Expression);
    if (Cast && Cast->getCastKind() == CK_LValueToRValue && isElement(Cast->getSubExpr()->IgnoreParens()) && Depends) {
        if (Loads.size() > Before)
            Against.insert("it needs another look-up first");
        Loads.push_back(Cast->getSubExpr());
    }
    const auto *Member = dyn_cast<MemberExpr>(Expression);
    bool IsRead = Member && Context.getParents(*Member)[0].get<ImplicitCastExpr>();
    if (IsRead && (assigns(Loop.Body, Member->getMemberDecl()) || setsByPointer(Loop.Body, Member->getType())))
        Against.insert(Member->getMemberNameInfo().getAsString() + " changes in the loop");
    if (isa<UnaryOperator>(Expression) && cast<UnaryOperator>(Expression)->isIncrementDecrementOp())
        Against.insert("its place is computed by what changes a variable");
    if (isa<BinaryOperator>(Expression) && cast<BinaryOperator>(Expression)->isAssignmentOp())
        Against.insert("its place is computed by what changes a variable");
    if (isa<LambdaExpr, StmtExpr, CXXNewExpr>(Expression))
        Against.insert("its place is computed by more than an expression");
    return Depends;
}

// Whether a statement sets something of this type whose place is computed. What has another type is something else.
bool LookUps::setsByPointer(const Stmt *Of, QualType Type) const {
    const Expr *Set = setBy(Of);
    bool IsComputed = Set && !isa<DeclRefExpr>(Set) && Context.hasSameUnqualifiedType(Set->getType(), Type);
    return IsComputed || any_of(Of->children(), [&](const Stmt *Child) { return Child && setsByPointer(Child, Type); });
}

// Only a local whose address nobody takes has none.
bool LookUps::mayHavePointers(const VarDecl *Variable, const Stmt *Body) const {
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

// What a variable of the body is set to, if it stays so.
const Expr *LookUps::valueOf(const VarDecl *Local, const Counting &Loop) const {
    const SourceManager &Sources = Context.getSourceManager();
    SourceRange Body = Loop.Body->getSourceRange();
    bool IsInBody = Sources.isBeforeInTranslationUnit(Body.getBegin(), Local->getLocation()) &&
                    Sources.isBeforeInTranslationUnit(Local->getLocation(), Body.getEnd());
    bool IsKnown = IsInBody && Local->hasLocalStorage() && Local->hasInit() && isSteady(Local, Loop.Body);
    return IsKnown ? Local->getInit()->IgnoreImplicit() : nullptr;
}

// Nothing in the body changes it, or could by its address.
bool LookUps::isSteady(const ValueDecl *Named, const Stmt *Body) const {
    const auto *Reference = dyn_cast<DeclRefExpr>(Body);
    if (Reference && Reference->getDecl() == Named && !Named->getType()->isReferenceType() && !isOnlyRead(Reference))
        return false;
    return all_of(Body->children(), [&](const Stmt *Child) { return !Child || isSteady(Named, Child); });
}

bool LookUps::isOnlyRead(const Expr *Named) const {
    for (const Expr *Of = Named;;) {
        DynTypedNodeList Parents = Context.getParents(*Of);
        const Expr *Up = Parents.empty() ? nullptr : Parents[0].get<Expr>();
        if (!Up)
            return false;
        if (isa<UnaryExprOrTypeTraitExpr, CXXOperatorCallExpr>(Up))
            return isSubscript(Up) || isa<UnaryExprOrTypeTraitExpr>(Up);
        const auto *Cast = dyn_cast<CastExpr>(Up);
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
bool LookUps::isAlwaysExecuted(const Stmt *Of, const Stmt *Body) const {
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

// What may end the loop before its bound, or change what it reads. `IsOurs`: a break here leaves this loop.
void LookUps::speakAgainst(const Stmt *Of, bool IsOurs, Reasons &Against) const {
    if (isa<ReturnStmt, GotoStmt, IndirectGotoStmt, CXXThrowExpr, CoreturnStmt, CoyieldExpr, CoawaitExpr>(Of) ||
        (isa<BreakStmt>(Of) && IsOurs))
        Against.insert("the loop may end before its bound, and what comes after needn't be there");
    if (isa<ContinueStmt>(Of) && IsOurs)
        Against.insert("an iteration may be cut short by continue");
    if (isa<AsmStmt>(Of))
        Against.insert("the loop has assembly");
    if (isa<LabelStmt>(Of))
        Against.insert("the loop has labels");
    if (isa<CXXNewExpr, CXXDeleteExpr, CXXTryStmt>(Of))
        Against.insert("the loop allocates or frees, or catches exceptions");
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(Of); Construct && !Construct->getConstructor()->isTrivial())
        Against.insert("the loop constructs objects");
    if (const auto *Call = dyn_cast<CallExpr>(Of); Call && !isSubscript(Call) && !isHarmless(Call)) {
        const FunctionDecl *Callee = Call->getDirectCallee();
        Against.insert("the loop calls " + (Callee ? Callee->getNameAsString() : std::string("by a pointer")) +
                       ", which may end it or change what it reads");
    }
    if (isa<LambdaExpr>(Of))
        return;
    bool IsLoop = isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(Of);
    for (const Stmt *Child : Of->children())
        if (Child)
            speakAgainst(Child, IsOurs && !IsLoop && !isa<SwitchStmt>(Of), Against);
}

// It comes back, and changes none of the variables from which addresses are computed.
bool LookUps::isHarmless(const CallExpr *Call, unsigned Depth) const {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee || Callee->isNoReturn() || Depth > MostDepth)
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
bool LookUps::hasNoEffect(const Stmt *Of, unsigned Depth) const {
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

// It stands in brackets alone.
bool LookUps::isWholeIndex(const Expr *Named) const {
    const Expr *Cast = Named;
    for (const Expr *Up = Named; Up && (Up == Named || isa<ImplicitCastExpr>(Up));) {
        Cast = Up;
        DynTypedNodeList Parents = Context.getParents(*Up);
        Up = Parents.empty() ? nullptr : Parents[0].get<Expr>();
        if (const auto *Subscript = dyn_cast_or_null<ArraySubscriptExpr>(Up))
            return Subscript->getIdx() == Cast;
        if (const auto *Call = dyn_cast_or_null<CXXOperatorCallExpr>(Up))
            return isSubscript(Call) && Call->getArg(1) == Cast;
    }
    return false;
}

// The text for a later iteration; empty if a macro wrote a part of it.
std::string LookUps::render(const Expr *Of, const Counting &Loop) const {
    std::string Text = textOf(Of->getSourceRange());
    if (Text.empty())
        return "";
    const SourceManager &Sources = Context.getSourceManager();
    unsigned Begin = Sources.getFileOffset(Of->getBeginLoc());
    SmallVector<const DeclRefExpr *, 8> Named;
    auto Collect = [&](auto &Self, const Stmt *At) -> void {
        if (const auto *Reference = dyn_cast<DeclRefExpr>(At))
            Named.push_back(Reference);
        for (const Stmt *Child : At->children())
            if (Child)
                Self(Self, Child);
    };
    Collect(Collect, Of);
    // From the last to the first, so that the places before stay.
    sort(Named, [&](const DeclRefExpr *One, const DeclRefExpr *Other) {
        return Sources.getFileOffset(One->getLocation()) > Sources.getFileOffset(Other->getLocation());
    });
    for (const DeclRefExpr *Reference : Named) {
        const auto *Variable = dyn_cast<VarDecl>(Reference->getDecl());
        const Expr *Value = Variable && Variable != Loop.Index ? valueOf(Variable, Loop) : nullptr;
        if (!Variable || (Variable != Loop.Index && !Value))
            continue;
        if (Reference->getLocation().isMacroID())
            return "";
        std::string Name = Variable->getNameAsString(), New;
        if (Variable == Loop.Index) {
            New = Name + " + " + std::to_string(Distance);
            if (!isWholeIndex(Reference))
                New = "(" + New + ")";
        } else {
            std::string Inner = render(Value, Loop);
            if (Inner.empty())
                return "";
            bool IsName = isa<DeclRefExpr, MemberExpr>(Value) || isSubscript(Value);
            New = IsName ? Inner : "(" + Inner + ")";
            QualType Type = Variable->getType().getUnqualifiedType();
            if (Type->isIntegerType() && !Context.hasSameUnqualifiedType(Type, Value->getType()))
                New = "((" + Type.getAsString(Context.getPrintingPolicy()) + ")" + New + ")";
        }
        unsigned At = Sources.getFileOffset(Reference->getLocation()) - Begin;
        if (At + Name.size() > Text.size() || Text.compare(At, Name.size(), Name) != 0)
            return "";
        Text.replace(At, Name.size(), New);
    }
    return Text;
}

} // namespace trackway
