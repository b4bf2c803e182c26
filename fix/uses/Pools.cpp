#include "Pools.h"

#include "Allocators.h"

#include "clang/AST/TypeLoc.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace llvm;

namespace trackway {

// As debugging information has it, with the arguments of a template.
static std::string fullName(const RecordDecl *Record, const ASTContext &Context) {
    std::string Text;
    raw_string_ostream Out(Text);
    PrintingPolicy Policy = Context.getPrintingPolicy();
    Policy.SuppressDefaultTemplateArgs = false;
    if (Record->getIdentifier())
        Record->getNameForDiagnostic(Out, Policy, true);
    else if (const TypedefNameDecl *Typedef = Record->getTypedefNameForAnonDecl())
        Typedef->printQualifiedName(Out, Policy);
    return Text;
}

bool Pools::isSubject(const RecordDecl *Record) const { return Record && fullName(Record, Context) == Name; }

bool Pools::isSubject(QualType Type) const {
    return !Type.isNull() && !Type->isDependentType() && isSubject(Type->getAsRecordDecl());
}

void Pools::add(StringRef Kind, SourceRange Range, json::Object More) {
    Found.push_back(Written.use(Kind, Range, std::move(More)));
}

// Where the declaration begins that holds this one and stands in a namespace, with its `template <...>`.
json::Value Pools::outermost(const Decl *Inner) const {
    while (!Inner->getDeclContext()->isFileContext())
        Inner = cast<Decl>(Inner->getDeclContext());
    if (const auto *Special = dyn_cast<ClassTemplateSpecializationDecl>(Inner);
        Special && !Special->isExplicitSpecialization())
        Inner = Special->getSpecializedTemplate();
    else if (const auto *Class = dyn_cast<CXXRecordDecl>(Inner); Class && Class->getDescribedClassTemplate())
        Inner = Class->getDescribedClassTemplate();
    json::Value Span = Written.span(SourceRange(Inner->getBeginLoc(), Inner->getBeginLoc()));
    const json::Array *Both = Span.getAsArray();
    return Both ? (*Both)[0] : json::Value(nullptr);
}

static bool hasAllocationFunctions(const CXXRecordDecl *Class) {
    auto Has = [&](OverloadedOperatorKind Kind) {
        return !Class->lookup(Class->getASTContext().DeclarationNames.getCXXOperatorName(Kind)).empty();
    };
    return Has(OO_New) || Has(OO_Delete) || any_of(Class->bases(), [](const CXXBaseSpecifier &Base) {
               const CXXRecordDecl *Of = Base.getType()->getAsCXXRecordDecl();
               return !Of || !Of->hasDefinition() || hasAllocationFunctions(Of);
           });
}

bool Pools::isDerived(const CXXRecordDecl *Class) const {
    return any_of(Class->bases(), [&](const CXXBaseSpecifier &Base) {
        const CXXRecordDecl *Of = Base.getType()->getAsCXXRecordDecl();
        return Of && Of->hasDefinition() && (isSubject(Of) || isDerived(Of));
    });
}

bool Pools::VisitCXXRecordDecl(CXXRecordDecl *Class) {
    if (!Class->isThisDeclarationADefinition() || Class->isDependentContext() || Class->isInvalidDecl())
        return true;
    QualType Type = Context.getTypeDeclType(static_cast<const TypeDecl *>(Class));
    if (isDerived(Class))
        add("pool_derived", Class->getLocation(),
            json::Object{{"alignment", Context.getTypeAlignInChars(Type).getQuantity()}});
    if (!isSubject(Class))
        return true;
    add("pool_class", Class->getSourceRange(),
        json::Object{{"name", Class->getNameAsString()},
                     {"body", Written.span(Class->getBraceRange())},
                     {"outer", outermost(Class)},
                     {"local", Class->isLocalClass() != nullptr},
                     {"allocates", hasAllocationFunctions(Class)},
                     {"alignment", Context.getTypeAlignInChars(Type).getQuantity()},
                     {"union", Class->isUnion()}});
    return true;
}

// `std::allocator<X>`, else null.
static const ClassTemplateSpecializationDecl *standardAllocator(QualType Type) {
    const auto *Class = dyn_cast_or_null<ClassTemplateSpecializationDecl>(Type->getAsCXXRecordDecl());
    return Class && Class->isInStdNamespace() && Class->getName() == "allocator" ? Class : nullptr;
}

// A class template of the program's own that takes memory from an allocator which its last parameters give by default.
bool Pools::VisitClassTemplateSpecializationDecl(ClassTemplateSpecializationDecl *Class) {
    const ClassTemplateDecl *Template = Class->getSpecializedTemplate();
    while (const ClassTemplateDecl *From = Template->getInstantiatedFromMemberTemplate())
        Template = From;
    if (Class->isExplicitSpecialization() || Written.isInSystemHeader(Template->getLocation()))
        return true;
    ArrayRef<TemplateArgument> Arguments = Class->getTemplateArgs().asArray();
    for (auto [Named, Argument] : zip(*Template->getTemplateParameters(), Arguments)) {
        const auto *Parameter = dyn_cast<TemplateTypeParmDecl>(Named);
        if (!Parameter || Argument.getKind() != TemplateArgument::Type || Argument.getAsType()->isDependentType())
            continue;
        const ClassTemplateSpecializationDecl *Allocator = standardAllocator(Argument.getAsType());
        if (!Allocator || !isSubject(Allocator->getTemplateArgs()[0].getAsType()) || !Parameter->hasDefaultArgument())
            continue;
        TypeSourceInfo *Default = Parameter->getDefaultArgument().getTypeSourceInfo();
        auto Location = Default ? Default->getTypeLoc().getAsAdjusted<TemplateSpecializationTypeLoc>()
                                : TemplateSpecializationTypeLoc();
        bool IsPlain = Location && Location.getNumArgs() == 1;
        add("pool_allocator", Parameter->getDefaultArgument().getSourceRange(),
            json::Object{
                {"element", IsPlain ? Written.span(Location.getArgLoc(0).getSourceRange()) : json::Value(nullptr)},
                {"outer", outermost(Template)},
                {"alignment", Context.getTypeAlignInChars(Allocator->getTemplateArgs()[0].getAsType()).getQuantity()}});
    }
    return true;
}

bool Pools::VisitCXXNewExpr(CXXNewExpr *New) {
    if (!New->isArray() && isSubject(New->getAllocatedType()))
        add("pool_new", New->getSourceRange(),
            json::Object{{"global", New->isGlobalNew()}, {"placed", New->getNumPlacementArgs() > 0}});
    return true;
}

bool Pools::VisitCXXDeleteExpr(CXXDeleteExpr *Delete) {
    if (!Delete->isArrayForm() && Delete->isGlobalDelete() && isSubject(Delete->getDestroyedType()))
        add("pool_delete", Delete->getSourceRange());
    return true;
}

bool Pools::VisitFunctionDecl(FunctionDecl *Function) {
    if (Function->isThisDeclarationADefinition() && Function->getBody() && isLikeAllocator(Function))
        add("allocator", Function->getSourceRange(),
            json::Object{{"name", Function->getName()},
                         {"of", passesOn(Function, Context)},
                         {"parameters", Function->getNumParams()}});
    return true;
}

bool Pools::VisitCallExpr(CallExpr *Call) {
    static constexpr StringRef Starting[] = {"pthread_create", "thrd_create", "clone", "clone3"};
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (Callee && Callee->getIdentifier() && is_contained(Starting, Callee->getName()))
        add("threads", Call->getSourceRange());
    return true;
}

bool Pools::VisitOMPExecutableDirective(OMPExecutableDirective *Directive) {
    add("threads", Directive->getSourceRange());
    return true;
}

} // namespace trackway
