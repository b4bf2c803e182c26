#include "Uses.h"

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace llvm;

namespace trackway {

// The name by which people know it: that of the typedef, for a structure without a tag.
static std::string nameOf(const RecordDecl *Record) {
    if (Record->getIdentifier())
        return Record->getQualifiedNameAsString();
    if (const TypedefNameDecl *Typedef = Record->getTypedefNameForAnonDecl())
        return Typedef->getQualifiedNameAsString();
    return "";
}

static StringRef calleeOf(const CallExpr *Call) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    return Callee && Callee->getIdentifier() ? Callee->getName() : "";
}

// free and its like.
static bool isFree(const CallExpr *Call) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    return Callee && calleeOf(Call).contains("free") && Callee->getReturnType()->isVoidType() &&
           Callee->getNumParams() == 1 && Callee->getParamDecl(0)->getType()->isVoidPointerType();
}

bool Uses::isSubject(const RecordDecl *Record) const { return Record && !Name.empty() && nameOf(Record) == Name; }

bool Uses::isSubject(QualType Type) const {
    return !Type.isNull() && isSubject(Type->getAsRecordDecl()) && !Type->isAnyPointerType() &&
           !Type->isReferenceType();
}

bool Uses::isPointerToSubject(QualType Type) const {
    if (Type.isNull())
        return false;
    if (const clang::ArrayType *Array = Context.getAsArrayType(Type))
        return isSubject(Context.getBaseElementType(Array));
    return Type->isPointerType() && isSubject(Type->getPointeeType());
}

void Uses::add(StringRef Kind, SourceRange Range, json::Object More) {
    Found.push_back(Written.use(Kind, Range, std::move(More)));
}

bool Uses::VisitRecordDecl(RecordDecl *Record) {
    if (Record->isThisDeclarationADefinition() && isSubject(Record))
        define(Record);
    if (const auto *Class = dyn_cast<CXXRecordDecl>(Record); Class && Class->hasDefinition())
        for (const CXXBaseSpecifier &Base : Class->bases())
            if (isSubject(Base.getType()))
                add("base", Base.getSourceRange(), json::Object{{"name", nameOf(Record)}});
    return true;
}

// Where the part of a declaration ends that all its declarators share.
json::Value Uses::endOfType(const FieldDecl *Field) const {
    TypeLoc Location = Field->getTypeSourceInfo()->getTypeLoc();
    while (TypeLoc Next = Location.getNextTypeLoc())
        Location = Next;
    json::Value Span = Written.span(Location.getSourceRange());
    const json::Array *Both = Span.getAsArray();
    return Both ? (*Both)[1] : json::Value(nullptr);
}

void Uses::define(const RecordDecl *Record) {
    json::Array Fields;
    for (const FieldDecl *Field : Record->fields()) {
        SourceRange Range = Field->getSourceRange();
        // An unnamed structure or union may be written here, before the name of the field, or alone.
        const auto *Inner = Field->getType()->getAsRecordDecl();
        if (Inner && !Inner->getIdentifier() && Record->getSourceRange().fullyContains(Inner->getSourceRange()))
            Range.setBegin(Inner->getBeginLoc());
        const auto *Array = Field->getType()->getAsArrayTypeUnsafe();
        const auto *Sized = dyn_cast_or_null<ConstantArrayType>(Array);
        Fields.push_back(json::Object{
            {"name", Field->getNameAsString()},
            {"span", Written.span(Range)},
            {"shared_end", endOfType(Field)},
            {"bits", Field->isBitField()},
            // Before C99, an array of one element, or of none, stood for one of any length.
            {"flexible", isa_and_nonnull<IncompleteArrayType>(Array) || (Sized && Sized->getSize().ule(1))},
        });
    }
    auto Braces = Record->getBraceRange();
    // What later fields may need, and what says who may use them.
    bool DeclaresMore = false, HasSections = false;
    AccessSpecifier Access = AS_none;
    for (const Decl *Inner : Record->decls()) {
        const auto *Tag = dyn_cast<TagDecl>(Inner);
        bool IsSelf = isa<CXXRecordDecl>(Inner) && cast<CXXRecordDecl>(Inner)->isInjectedClassName();
        DeclaresMore |= isa<VarDecl, TypedefNameDecl, EnumDecl>(Inner) || (Tag && Tag->getIdentifier() && !IsSelf);
        if (const auto *Field = dyn_cast<FieldDecl>(Inner)) {
            HasSections |= Access != AS_none && Access != Field->getAccess();
            Access = Field->getAccess();
        }
        // In C, the tags of a structure are declared around it.
        const auto *Type = dyn_cast<FieldDecl>(Inner);
        const TagDecl *Written = Type ? Type->getType()->getAsTagDecl() : nullptr;
        DeclaresMore |= Written && (Written->getIdentifier() || isa<EnumDecl>(Written)) &&
                        Record->getSourceRange().fullyContains(Written->getSourceRange());
    }
    const auto *Class = dyn_cast<CXXRecordDecl>(Record);
    add("definition", Record->getSourceRange(),
        json::Object{{"name", nameOf(Record)},
                     {"tag", Record->getKindName()},
                     {"named", Record->getIdentifier() != nullptr},
                     {"body", Written.span(Braces)},
                     {"fields", std::move(Fields)},
                     {"cxx", bool(Context.getLangOpts().CPlusPlus)},
                     {"nested", !Record->getDeclContext()->isFileContext()},
                     {"template", isa<ClassTemplateSpecializationDecl>(Record)},
                     {"aggregate", !Class || Class->isAggregate()},
                     {"trivial", !Class || Class->isTrivial()},
                     {"declares_more", DeclaresMore},
                     {"sections", HasSections},
                     {"packed", Record->hasAttr<PackedAttr>()},
                     {"union", Record->isUnion()}});
}

// Its own address becomes a value, also as that of an array's first element or of an inner structure's first field.
bool Uses::isAddressTaken(const Expr *Expression) const {
    for (const Stmt *Up = parent(Expression); Up; Up = parent(Up)) {
        if (const auto *Operator = dyn_cast<UnaryOperator>(Up))
            return Operator->getOpcode() == UO_AddrOf;
        if (const auto *Cast = dyn_cast<CastExpr>(Up); Cast && Cast->getCastKind() == CK_ArrayToPointerDecay)
            return true;
        const auto *Inner = dyn_cast<MemberExpr>(Up);
        if (!isa<ParenExpr>(Up) && (!Inner || Inner->isArrow()))
            return false;
    }
    return false;
}

// A field's address goes to a function with a size that is larger than the field.
bool Uses::reachesBeyond(const MemberExpr *Member) const {
    const auto *Address = dyn_cast_or_null<UnaryOperator>(parent(Member));
    const CallExpr *Call = Address ? callAround(Address) : nullptr;
    if (!Call || Address->getOpcode() != UO_AddrOf)
        return false;
    uint64_t Size = Context.getTypeSizeInChars(Member->getType()).getQuantity();
    return any_of(Call->arguments(), [&](const Expr *Argument) {
        Expr::EvalResult Value;
        return Argument->getType()->isIntegerType() && !Argument->isValueDependent() &&
               Argument->EvaluateAsInt(Value, Context) && Value.Val.getInt().getExtValue() > int64_t(Size);
    });
}

bool Uses::VisitDecompositionDecl(DecompositionDecl *Bound) {
    if (isSubject(Bound->getType().getNonReferenceType()))
        add("bound", Bound->getSourceRange());
    return true;
}

bool Uses::VisitCXXParenListInitExpr(CXXParenListInitExpr *List) {
    if (isSubject(List->getType()))
        add("initialiser", List->getSourceRange(),
            json::Object{{"designated", false}, {"elided", true}, {"elements", json::Array()}});
    return true;
}

bool Uses::VisitMemberExpr(MemberExpr *Member) {
    const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
    if (!Field)
        return true;
    // What an unnamed inner structure holds is reached through it.
    if (!isSubject(Field->getParent()) || Field->isAnonymousStructOrUnion())
        return true;
    const Expr *Base = Member->getBase();
    bool IsImplicit = Member->isImplicitAccess();
    SourceRange NameRange(Member->getMemberLoc(), Member->getMemberLoc());
    add("member", IsImplicit ? NameRange : SourceRange(Base->getBeginLoc(), Member->getMemberLoc()),
        json::Object{{"field", Field->getNameAsString()},
                     {"base", IsImplicit ? json::Value(nullptr) : Written.span(Base->getSourceRange())},
                     {"name", Written.span(NameRange)},
                     {"arrow", Member->isArrow()},
                     {"this", isa<CXXThisExpr>(Base->IgnoreImpCasts())},
                     {"address", isAddressTaken(Member)},
                     {"beyond", reachesBeyond(Member)},
                     // A part of an object that has no place of its own.
                     {"value", !Member->isArrow() && Base->isPRValue()}});
    return true;
}

bool Uses::VisitCXXDependentScopeMemberExpr(CXXDependentScopeMemberExpr *Member) {
    add("dependent", Member->getSourceRange(), json::Object{{"field", Member->getMember().getAsString()}});
    return true;
}

bool Uses::VisitUnaryExprOrTypeTraitExpr(UnaryExprOrTypeTraitExpr *Trait) {
    QualType Of = Trait->getTypeOfArgument();
    if (!isSubject(Context.getBaseElementType(Of)))
        return true;
    const CallExpr *Call = callAround(Trait);
    // The count of an array: sizeof a / sizeof a[0].
    bool IsRatio = false;
    for (const Stmt *Up = parent(Trait); Up && isa<Expr>(Up); Up = parent(Up))
        if (const auto *Operation = dyn_cast<BinaryOperator>(Up); Operation && Operation->getOpcode() == BO_Div)
            IsRatio = mentionsSize(Operation->getLHS()) && mentionsSize(Operation->getRHS());
    add("sizeof", Trait->getSourceRange(),
        json::Object{
            {"ratio", IsRatio}, {"callee", Call ? calleeOf(Call) : ""}, {"gives", Call && givesObjects(Call)}});
    return true;
}

bool Uses::VisitOffsetOfExpr(OffsetOfExpr *Offset) {
    if (isSubject(Offset->getTypeSourceInfo()->getType()))
        add("offsetof", Offset->getSourceRange());
    return true;
}

bool Uses::VisitDeclaratorDecl(DeclaratorDecl *Declared) {
    if (const auto *Function = dyn_cast<FunctionDecl>(Declared)) {
        if (isSubject(Function->getReturnType()))
            add("object", Function->getSourceRange(),
                json::Object{{"what", "result"}, {"name", Function->getNameAsString()}});
        return true;
    }
    QualType Type = Declared->getType();
    if (!isSubject(Context.getBaseElementType(Type)))
        return true;
    const auto *Variable = dyn_cast<VarDecl>(Declared);
    const auto *Field = dyn_cast<FieldDecl>(Declared);
    StringRef What = Field && Field->getParent()->isUnion()     ? "union"
                     : Field                                    ? "field"
                     : isa<ParmVarDecl>(Declared)               ? "parameter"
                     : Variable && Variable->hasGlobalStorage() ? "global"
                                                                : "local";
    add("object", Declared->getSourceRange(),
        json::Object{{"what", What},
                     {"name", Declared->getNameAsString()},
                     {"name_span", Written.span(Declared->getLocation())},
                     {"row", Type->isConstantArrayType() && isSubject(Context.getAsArrayType(Type)->getElementType())},
                     {"initialised", Variable && Variable->hasInit()},
                     {"each_thread", Variable && Variable->getTLSKind() != VarDecl::TLS_None},
                     {"static", Variable && Variable->getStorageClass() == SC_Static},
                     {"external", Variable && Variable->hasExternalStorage()}});
    return true;
}

// Whether the list's braces stand in the source. Where they are left out, it begins with its first element.
bool Uses::hasBraces(const InitListExpr *List) const {
    const SourceManager &Sources = Context.getSourceManager();
    SourceLocation Brace = List->getLBraceLoc();
    return Brace.isValid() && *Sources.getCharacterData(Sources.getSpellingLoc(Brace)) == '{';
}

// Objects whose own braces are left out exist in the meaning of the list around them alone.
void Uses::findWithoutBraces(const InitListExpr *List) {
    for (const Expr *Element : List->inits()) {
        const auto *Inner = dyn_cast_or_null<InitListExpr>(Element);
        if (!Inner || hasBraces(Inner) || Inner->getLBraceLoc().isInvalid())
            continue;
        if (isSubject(Inner->getType()))
            add("initialiser", List->getSourceRange(),
                json::Object{{"designated", false}, {"elided", true}, {"elements", json::Array()}});
        findWithoutBraces(Inner);
    }
}

bool Uses::VisitInitListExpr(InitListExpr *List) {
    if (const InitListExpr *Semantic = List->isSemanticForm() ? List : List->getSemanticForm())
        findWithoutBraces(Semantic);
    if (!isSubject(List->getType()))
        return true;
    const InitListExpr *Syntactic = List->isSyntacticForm() ? List : List->getSyntacticForm();
    if (!Syntactic || !hasBraces(Syntactic))
        return true;
    json::Array Elements;
    bool IsDesignated = false;
    for (const Expr *Element : Syntactic->inits()) {
        IsDesignated |= isa<DesignatedInitExpr>(Element);
        Elements.push_back(Written.span(Element->getSourceRange()));
    }
    add("initialiser", Syntactic->getSourceRange(),
        json::Object{{"designated", IsDesignated}, {"elided", false}, {"elements", std::move(Elements)}});
    return true;
}

bool Uses::VisitCastExpr(CastExpr *Cast) {
    const Expr *From = Cast->getSubExpr();
    if (Cast->getCastKind() == CK_LValueToRValue && isSubject(Cast->getType())) {
        const Stmt *Up = parent(Cast);
        const auto *Assignment = dyn_cast_or_null<BinaryOperator>(Up);
        if (Assignment && Assignment->getOpcode() == BO_Assign)
            copied(Assignment, Assignment->getLHS(), Cast);
        else
            copied(Cast, nullptr, Cast);
        return true;
    }
    if (Cast->getCastKind() == CK_NoOp || Cast->getCastKind() == CK_ArrayToPointerDecay ||
        Cast->getCastKind() == CK_NullToPointer || Cast->getCastKind() == CK_LValueToRValue ||
        Cast->getCastKind() == CK_PointerToBoolean || Cast->getCastKind() == CK_ToVoid)
        return true;
    bool Gives = isPointerToSubject(Cast->getType()), Takes = isPointerToSubject(From->getType());
    if (Gives == Takes)
        return true;
    if (const auto *Call = dyn_cast<CallExpr>(From->IgnoreParenCasts()); Gives && Call && isAllocation(Call)) {
        allocated(Call);
        return true;
    }
    const CallExpr *Call = callAround(Cast);
    bool IsFreed = Call && isFree(Call) && Call->getArg(0)->IgnoreParenCasts() == From->IgnoreParenCasts();
    bool IsPassed = Call && isa<ImplicitCastExpr>(Cast);
    if (Takes && (IsPassed || (IsFreed && !Context.getLangOpts().CPlusPlus))) {
        passed(Call, Cast);
        return true;
    }
    QualType Other = Takes ? Cast->getType() : From->getType();
    add("cast", Cast->getSourceRange(),
        json::Object{{"to", Takes},
                     {"other", Other.getAsString()},
                     {"void", Other->isVoidPointerType()},
                     {"integer", !Other->isAnyPointerType()}});
    return true;
}

// malloc, calloc and their like, also the program's own: what takes sizes alone and gives memory for anything.
bool Uses::isAllocation(const CallExpr *Call) const {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee || !Callee->getReturnType()->isVoidPointerType())
        return false;
    if (calleeOf(Call).contains("realloc"))
        return true;
    bool TakesSizes = all_of(Callee->parameters(), [](const ParmVarDecl *P) { return P->getType()->isIntegerType(); });
    return TakesSizes && !Callee->param_empty();
}

// Its result is memory of any type, which becomes that of objects: some allocator, perhaps by a pointer.
bool Uses::givesObjects(const CallExpr *Call) const {
    const Stmt *Up = parent(Call);
    while (isa_and_nonnull<ParenExpr>(Up))
        Up = parent(Up);
    const auto *Cast = dyn_cast_or_null<CastExpr>(Up);
    return Cast && Call->getType()->isVoidPointerType() && isPointerToSubject(Cast->getType());
}

bool Uses::mentionsSize(const Stmt *Of) const {
    if (const auto *Trait = dyn_cast<UnaryExprOrTypeTraitExpr>(Of))
        return isSubject(Context.getBaseElementType(Trait->getTypeOfArgument()));
    return any_of(Of->children(), [&](const Stmt *Child) { return Child && mentionsSize(Child); });
}

const Stmt *Uses::parent(const Stmt *Of) const {
    DynTypedNodeList Parents = Context.getParents(*Of);
    return Parents.empty() ? nullptr : Parents[0].get<Stmt>();
}

const CallExpr *Uses::callAround(const Expr *Argument) const {
    for (const Stmt *Up = parent(Argument); Up && isa<Expr>(Up); Up = parent(Up))
        if (const auto *Call = dyn_cast<CallExpr>(Up))
            return Call;
    return nullptr;
}

bool Uses::isInLoop(const Expr *Expression) const {
    DynTypedNodeList Parents = Context.getParents(*Expression);
    while (!Parents.empty()) {
        const Stmt *Up = Parents[0].get<Stmt>();
        if (Up && isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt, LabelStmt, LambdaExpr>(Up))
            return true;
        // The variable that the expression initialises stands between it and its statement.
        Parents = Context.getParents(Parents[0]);
    }
    return false;
}

bool Uses::VisitDeclRefExpr(DeclRefExpr *Named) {
    if (const auto *Function = dyn_cast<FunctionDecl>(Named->getDecl()); Function && Function->isMain())
        add("main_again", Named->getSourceRange());
    return true;
}

// Whole objects: a product of their size.
bool Uses::isMultipleOfSize(const Expr *Bytes) const {
    Bytes = Bytes->IgnoreParenCasts();
    if (const auto *Trait = dyn_cast<UnaryExprOrTypeTraitExpr>(Bytes))
        return mentionsSize(Trait);
    const auto *Product = dyn_cast<BinaryOperator>(Bytes);
    return Product && Product->getOpcode() == BO_Mul &&
           (isMultipleOfSize(Product->getLHS()) || isMultipleOfSize(Product->getRHS()));
}

// The size of one object: of malloc alone, of calloc beside a 1.
bool Uses::isOfOne(const CallExpr *Call) const {
    auto IsSize = [&](const Expr *Argument) {
        const auto *Trait = dyn_cast<UnaryExprOrTypeTraitExpr>(Argument->IgnoreParenCasts());
        return Trait && Trait->getKind() == UETT_SizeOf && isSubject(Trait->getTypeOfArgument());
    };
    auto IsOne = [](const Expr *Argument) {
        const auto *Number = dyn_cast<IntegerLiteral>(Argument->IgnoreParenCasts());
        return Number && Number->getValue() == 1;
    };
    if (Call->getNumArgs() == 1)
        return IsSize(Call->getArg(0));
    return Call->getNumArgs() == 2 &&
           ((IsOne(Call->getArg(0)) && IsSize(Call->getArg(1))) || (IsSize(Call->getArg(0)) && IsOne(Call->getArg(1))));
}

const FunctionDecl *Uses::functionAround(const Expr *Expression) const {
    DynTypedNodeList Parents = Context.getParents(*Expression);
    while (!Parents.empty()) {
        if (const auto *Function = Parents[0].get<FunctionDecl>())
            return Function;
        Parents = Context.getParents(Parents[0]);
    }
    return nullptr;
}

// A jump back makes a loop that no statement is around.
static bool hasLabels(const Stmt *Of) {
    return isa<LabelStmt, IndirectGotoStmt>(Of) ||
           any_of(Of->children(), [](const Stmt *Child) { return Child && hasLabels(Child); });
}

json::Value Uses::beginOf(const FunctionDecl *Function) const {
    if (!Function)
        return nullptr;
    json::Value Span = Written.span(Function->getSourceRange());
    const json::Array *Both = Span.getAsArray();
    return Both ? (*Both)[0] : json::Value(nullptr);
}

void Uses::allocated(const CallExpr *Call) {
    json::Array Arguments;
    bool IsSized = false;
    for (const Expr *Argument : Call->arguments()) {
        Arguments.push_back(Written.span(Argument->getSourceRange()));
        IsSized |= isMultipleOfSize(Argument);
    }
    const FunctionDecl *Function = functionAround(Call);
    add("allocation", Call->getSourceRange(),
        json::Object{{"callee", calleeOf(Call)},
                     {"callee_span", Written.span(Call->getCallee()->getSourceRange())},
                     {"arguments", std::move(Arguments)},
                     {"sized", IsSized},
                     {"one", isOfOne(Call)},
                     {"once", Function && Function->isMain() && !isInLoop(Call) && !hasLabels(Function->getBody())},
                     {"function", beginOf(Function)}});
}

void Uses::passed(const CallExpr *Call, const Expr *Argument) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    auto PointsToObjects = [&](const Expr *Other) {
        return isPointerToSubject(Other->IgnoreParenImpCasts()->getType());
    };
    bool HasSize = any_of(Call->arguments(), [&](const Expr *Other) { return mentionsSize(Other); });
    add("passed", Argument->getSourceRange(),
        json::Object{{"callee", calleeOf(Call)},
                     {"callee_span", Written.span(Call->getCallee()->getSourceRange())},
                     {"bytes", HasSize},
                     {"frees", isFree(Call)},
                     {"objects", count_if(Call->arguments(), PointsToObjects)},
                     {"outside", !Callee || Written.isInSystemHeader(Callee->getLocation())},
                     {"function", beginOf(functionAround(Call))}});
}

void Uses::copied(const Expr *Whole, const Expr *Left, const Expr *Right) {
    json::Object More{{"right", Written.span(Right->getSourceRange())}};
    if (Left) {
        const Stmt *Up = parent(Whole);
        More["left"] = Written.span(Left->getSourceRange());
        More["statement"] = Up && !isa<Expr>(Up);
    }
    add("copy", Whole->getSourceRange(), std::move(More));
}

bool Uses::VisitCallExpr(CallExpr *Call) {
    // Without a name, allocations of anything are listed.
    if (Name.empty() && isAllocation(Call))
        allocated(Call);
    const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
    if (Operator && Operator->getOperator() == OO_Equal && Operator->getNumArgs() == 2 &&
        isSubject(Operator->getArg(0)->getType()))
        copied(Operator, Operator->getArg(0), Operator->getArg(1));
    return true;
}

bool Uses::VisitCXXNewExpr(CXXNewExpr *New) {
    if (isSubject(New->getAllocatedType()))
        add("new", New->getSourceRange());
    return true;
}

bool Uses::VisitCXXConstructExpr(CXXConstructExpr *Construct) {
    if (isSubject(Construct->getType()) && Construct->getConstructor()->isCopyOrMoveConstructor())
        copied(Construct, nullptr, Construct->getArg(0));
    return true;
}

bool Uses::VisitTemplateSpecializationTypeLoc(TemplateSpecializationTypeLoc Location) {
    for (unsigned Index = 0; Index < Location.getNumArgs(); ++Index) {
        const TemplateArgument &Argument = Location.getArgLoc(Index).getArgument();
        if (Argument.getKind() == TemplateArgument::Type && isSubject(Argument.getAsType()))
            add("template_argument", Location.getSourceRange());
    }
    return true;
}

} // namespace trackway
