#include "LookUps.h"

#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace llvm;

namespace trackway {

// Locals that are set from each other are followed so far.
static constexpr unsigned MostDepth = 4;

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

bool LookUps::VisitForStmt(ForStmt *Loop) {
    Counting Of;
    if (!isCounting(Loop, Of) || textOf(Of.Bound->getSourceRange()).empty())
        return true;
    Reasons Against;
    findEnds(Of.Body, true, Against);
    findCalls(Of.Body, [](const CallExpr *) { return false; }, Against);
    findMemoryChanges(Of.Body, Against);
    if (!isSteady(Of.Index, Of.Body))
        Against.insert("the loop's own variable changes within it");
    findIn(Of.Body, Of, Against);
    return true;
}

// True as long as the loop goes on until then. The difference can't overflow: the index is below the bound here.
std::string LookUps::guardOf(const Counting &Loop) const {
    return operandOf(Loop.Bound) + " - " + Loop.Index->getNameAsString() + (Loop.IsLess ? " > " : " >= ") +
           std::to_string(Distance);
}

// What may take away what later iterations read.
void LookUps::findMemoryChanges(const Stmt *Of, Reasons &Against) const {
    if (isa<CXXNewExpr, CXXDeleteExpr, CXXTryStmt>(Of))
        Against.insert("the loop allocates or frees, or catches exceptions");
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(Of); Construct && !Construct->getConstructor()->isTrivial())
        Against.insert("the loop constructs objects");
    if (isa<LambdaExpr>(Of))
        return;
    for (const Stmt *Child : Of->children())
        if (Child)
            findMemoryChanges(Child, Against);
}

// The largest expressions first: what is within a look-up is asked for with it.
void LookUps::findIn(const Stmt *Of, const Counting &Loop, Reasons &Body) {
    const auto *Expression = dyn_cast<Expr>(Of);
    if (Expression && isElement(Expression) && isHere(Expression, Line) && look(Expression, Loop, Body))
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
    LookUp["guard"] = guardOf(Loop);
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

// What a variable of the body is set to, if it stays so.
const Expr *LookUps::valueOf(const VarDecl *Local, const Counting &Loop) const {
    const SourceManager &Sources = Context.getSourceManager();
    SourceRange Body = Loop.Body->getSourceRange();
    bool IsInBody = Sources.isBeforeInTranslationUnit(Body.getBegin(), Local->getLocation()) &&
                    Sources.isBeforeInTranslationUnit(Local->getLocation(), Body.getEnd());
    bool IsKnown = IsInBody && Local->hasLocalStorage() && Local->hasInit() && isSteady(Local, Loop.Body);
    return IsKnown ? Local->getInit()->IgnoreImplicit() : nullptr;
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
