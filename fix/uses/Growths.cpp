#include "Growths.h"

#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ParentMapContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;
using namespace llvm;

namespace trackway {

static const ClassTemplateSpecializationDecl *standardTemplate(QualType Type) {
    const auto *Class =
        dyn_cast_or_null<ClassTemplateSpecializationDecl>(Type.getNonReferenceType()->getAsCXXRecordDecl());
    return Class && Class->isInStdNamespace() ? Class : nullptr;
}

// A vector with the usual allocator, which no program can watch.
static bool isVector(QualType Type) {
    const ClassTemplateSpecializationDecl *Vector = standardTemplate(Type);
    if (!Vector || Vector->getName() != "vector" || Vector->getTemplateArgs().size() < 2)
        return false;
    const ClassTemplateSpecializationDecl *Allocator = standardTemplate(Vector->getTemplateArgs()[1].getAsType());
    return Allocator && Allocator->getName() == "allocator";
}

static bool knowsItsSize(QualType Type) {
    static constexpr StringRef Containers[] = {"vector",
                                               "basic_string",
                                               "deque",
                                               "list",
                                               "array",
                                               "span",
                                               "set",
                                               "map",
                                               "multiset",
                                               "multimap",
                                               "unordered_set",
                                               "unordered_map",
                                               "unordered_multiset",
                                               "unordered_multimap"};
    const ClassTemplateSpecializationDecl *Class = standardTemplate(Type);
    return Class && is_contained(Containers, Class->getName());
}

static bool isEmptyAtFirst(const VarDecl *Vector) {
    const Expr *Value = Vector->getInit();
    const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(Value ? Value->IgnoreImplicit() : nullptr);
    return Construct && Construct->getConstructor()->isDefaultConstructor();
}

static bool callsMethod(const Stmt *Of, const VarDecl *On, ArrayRef<StringRef> Names) {
    const auto *Call = dyn_cast<CXXMemberCallExpr>(Of);
    if (Call && Call->getMethodDecl() && Call->getMethodDecl()->getIdentifier() &&
        is_contained(Names, Call->getMethodDecl()->getName()) && variableOf(Call->getImplicitObjectArgument()) == On)
        return true;
    return any_of(Of->children(), [&](const Stmt *Child) { return Child && callsMethod(Child, On, Names); });
}

bool Growths::isHere(const CXXMemberCallExpr *Call) const {
    return Loops::isHere(Call, Line) || Loops::isHere(Call->getCallee(), Line);
}

const Stmt *Growths::loopAround(const Stmt *Of) const {
    DynTypedNodeList Parents = Context.getParents(*Of);
    while (!Parents.empty()) {
        const Stmt *Up = Parents[0].get<Stmt>();
        if (isa_and_nonnull<LambdaExpr>(Up) || Parents[0].get<FunctionDecl>())
            return nullptr;
        if (isa_and_nonnull<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(Up))
            return Up;
        Parents = Context.getParents(Parents[0]);
    }
    return nullptr;
}

bool Growths::VisitCXXMemberCallExpr(CXXMemberCallExpr *Call) {
    const CXXMethodDecl *Method = Call->getMethodDecl();
    bool Adds =
        Method && Method->getIdentifier() && (Method->getName() == "push_back" || Method->getName() == "emplace_back");
    if (!Adds || !isVector(Call->getImplicitObjectArgument()->getType()) || !isHere(Call))
        return true;
    const Expr *Vector = Call->getImplicitObjectArgument()->IgnoreParenImpCasts();
    const Stmt *Loop = loopAround(Call);
    Reasons Against;
    Count Number;
    const Stmt *Body = nullptr;
    if (const auto *For = dyn_cast_or_null<ForStmt>(Loop)) {
        Body = For->getBody();
        Number = countOf(For, Against);
        if (Counting Of; isCounting(For, Of))
            findBoundChanges(Of.Bound, For, Body, Call, Against);
    } else if (const auto *Range = dyn_cast_or_null<CXXForRangeStmt>(Loop)) {
        Body = Range->getBody();
        Number = countOf(Range, Against);
        findBoundChanges(Range->getRangeInit(), Range, Body, Call, Against);
    } else {
        Against.insert(Loop ? "how often the loop runs isn't known before it" : "no loop is around it");
    }
    if (Body) {
        findEnds(Body, true, Against);
        if (!isAlwaysExecuted(Call, Body))
            Against.insert("it isn't sure that each iteration adds one");
    }
    const VarDecl *Variable = variableOf(Vector);
    if (!Variable || !Variable->hasLocalStorage() || isa<ParmVarDecl>(Variable) ||
        Variable->getType()->isReferenceType())
        Against.insert("the vector isn't a local one: a loop that comes again would copy it each time");
    else if (Loop)
        findUses(Vector, Variable, Loop, Against);
    json::Object Growth = Written.of(Loop ? Loop->getSourceRange() : Call->getSourceRange());
    Growth["call"] = Written.of(Call->getSourceRange())["line"];
    Growth["kind"] = "growth";
    Growth["vector"] = textOf(Vector->getSourceRange());
    Growth["count"] = Number.Text;
    Growth["guard"] = Number.Guard;
    json::Array All;
    for (const std::string &Reason : Against)
        All.push_back(Reason);
    Growth["reasons"] = std::move(All);
    Found.push_back(std::move(Growth));
    return true;
}

// Where the loop's variable begins, as a text; empty for 0. A signed one may begin below 0 if it isn't a number.
bool Growths::beginsAt(const ForStmt *Loop, const VarDecl *Index, std::string &Text, Reasons &Against) const {
    const Expr *First = nullptr;
    if (const auto *Declared = dyn_cast_or_null<DeclStmt>(Loop->getInit()); Declared && Declared->isSingleDecl())
        First = Declared->getSingleDecl() == Index ? Index->getInit() : nullptr;
    if (const auto *Set = dyn_cast_or_null<BinaryOperator>(Loop->getInit()); Set && Set->getOpcode() == BO_Assign)
        First = variableOf(Set->getLHS()) == Index ? Set->getRHS() : nullptr;
    if (!First) {
        Against.insert("where the loop begins isn't known");
        return false;
    }
    const auto *Number = dyn_cast<IntegerLiteral>(First->IgnoreParenImpCasts());
    const VarDecl *Variable = variableOf(First);
    if (!Number && (!Variable || !First->IgnoreParenImpCasts()->getType()->isUnsignedIntegerType() ||
                    !Index->getType()->isUnsignedIntegerType())) {
        Against.insert("where the loop begins may be below 0");
        return false;
    }
    Text = Number && Number->getValue() == 0 ? "" : operandOf(First);
    return (Number && Number->getValue() == 0) || !Text.empty();
}

Growths::Count Growths::countOf(const ForStmt *Loop, Reasons &Against) const {
    Counting Of;
    if (!isCounting(Loop, Of)) {
        Against.insert("the loop isn't `for (i = ...; i < n; i++)`");
        return {};
    }
    if (!isSteady(Of.Index, Of.Body))
        Against.insert("the loop's own variable changes within it");
    std::string First, Bound = operandOf(Of.Bound);
    if (!beginsAt(Loop, Of.Index, First, Against) || Bound.empty()) {
        if (Bound.empty())
            Against.insert("a macro writes the bound");
        return {};
    }
    const Expr *Plain = Of.Bound->IgnoreParenImpCasts();
    bool IsSigned = Plain->getType()->isSignedIntegerOrEnumerationType();
    bool IsNumber = isa<IntegerLiteral>(Plain);
    Count Result;
    if (!First.empty() || (IsSigned && !IsNumber))
        Result.Guard = Bound + (Of.IsLess ? " > " : " >= ") + (First.empty() ? "0" : First);
    std::string Difference = First.empty() ? textOf(Of.Bound->getSourceRange()) : Bound + " - " + First;
    Result.Text = IsSigned && !IsNumber ? "static_cast<std::size_t>(" + Difference + ")"
                  : Of.IsLess           ? Difference
                                        : (First.empty() ? Bound : Difference);
    if (!Of.IsLess)
        Result.Text += " + 1";
    return Result;
}

Growths::Count Growths::countOf(const CXXForRangeStmt *Loop, Reasons &Against) const {
    const Expr *Range = Loop->getRangeInit()->IgnoreParenImpCasts();
    if (const auto *Array = Context.getAsConstantArrayType(Range->getType()))
        return {std::to_string(Array->getSize().getZExtValue()), ""};
    std::string Text = textOf(Range->getSourceRange());
    if (!isa<DeclRefExpr, MemberExpr>(Range) || !knowsItsSize(Range->getType()) || Text.empty()) {
        Against.insert("how often the loop runs isn't known before it");
        return {};
    }
    return {Text + ".size()", ""};
}

// Adds what may change the bound between the place before the loop and its end. `But`: the call that adds.
void Growths::findBoundChanges(const Expr *Bound, const Stmt *Loop, const Stmt *Body, const Expr *But,
                               Reasons &Against) const {
    bool MayBeReached = false;
    SmallPtrSet<const VarDecl *, 4> Named;
    auto Look = [&](auto &Self, const Stmt *Of) -> void {
        if (const auto *Reference = dyn_cast<DeclRefExpr>(Of))
            if (const auto *Variable = dyn_cast<VarDecl>(Reference->getDecl())) {
                Named.insert(Variable);
                const SourceManager &Sources = Context.getSourceManager();
                if (Sources.isBeforeInTranslationUnit(Loop->getBeginLoc(), Variable->getLocation()) &&
                    Sources.isBeforeInTranslationUnit(Variable->getLocation(), Loop->getEndLoc()))
                    Against.insert(Variable->getNameAsString() + " is known within the loop only");
                bool IsReachable = mayHavePointers(Variable, Body) && !Variable->getType().isConstQualified();
                MayBeReached |= IsReachable;
                if (!isSteady(Variable, Body) || (IsReachable && setsByPointer(Body, Variable->getType())))
                    Against.insert(Variable->getNameAsString() + " changes in the loop");
            }
        if (const auto *Member = dyn_cast<MemberExpr>(Of); Member && isa<FieldDecl>(Member->getMemberDecl())) {
            MayBeReached = true;
            if (assigns(Body, Member->getMemberDecl()) || setsByPointer(Body, Member->getType()))
                Against.insert(Member->getMemberNameInfo().getAsString() + " changes in the loop");
        }
        const auto *Part = dyn_cast<Expr>(Of);
        MayBeReached |= Part && isSubscript(Part);
        for (const Stmt *Child : Of->children())
            if (Child)
                Self(Self, Child);
    };
    Look(Look, Bound);
    // The library changes what it is given, and nothing else.
    auto IsFine = [&](const CallExpr *Call) {
        return Call == But || (isStandard(Call->getDirectCallee()) && none_of(Named, [&](const VarDecl *Variable) {
                                   return mentions(Call, Variable) && !Variable->getType().isConstQualified() &&
                                          !Variable->getType()->getPointeeType().isConstQualified();
                               }));
    };
    if (MayBeReached)
        findCalls(Body, IsFine, Against);
}

// Adds what speaks against the vector's being empty when the loop begins, and growing by one in each iteration.
void Growths::findUses(const Expr *Vector, const VarDecl *Variable, const Stmt *Loop, Reasons &Against) const {
    if (!isEmptyAtFirst(Variable))
        Against.insert("it isn't sure that the vector is empty before the loop");
    DynTypedNodeList Around = Context.getParents(*Loop);
    const auto *Block = Around.empty() ? nullptr : Around[0].get<CompoundStmt>();
    auto Declares = [&](const Stmt *Of) {
        const auto *Declared = dyn_cast<DeclStmt>(Of);
        return Declared && is_contained(Declared->decls(), Variable);
    };
    const auto *Declared = Block ? find_if(Block->body(), Declares) : nullptr;
    if (!Block || Declared == Block->body_end()) {
        Against.insert("the vector isn't declared in the block that the loop stands in");
        return;
    }
    for (const Stmt *Between : make_range(std::next(Declared), find(Block->body(), Loop)))
        if (callsMethod(Between, Variable, {"reserve"}))
            Against.insert("room is reserved already");
        else if (mentions(Between, Variable))
            Against.insert("the vector is used between its declaration and the loop");
    for (const Stmt *Later : Block->body())
        if (callsMethod(Later, Variable, {"capacity", "shrink_to_fit"}))
            Against.insert("the program asks for the vector's capacity");
    auto Look = [&](auto &Self, const Stmt *Of) -> void {
        const auto *Named = dyn_cast<DeclRefExpr>(Of);
        if (Named && Named != Vector && Named->getDecl() == Variable && !isOnlyRead(Named))
            Against.insert("the loop does more with the vector than to add one element");
        for (const Stmt *Child : Of->children())
            if (Child)
                Self(Self, Child);
    };
    Look(Look, Loop);
}

} // namespace trackway
