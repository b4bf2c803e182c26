// Finds all that a translation unit does with a structure.
#pragma once

#include "Places.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/ParentMapContext.h"
#include "clang/AST/RecursiveASTVisitor.h"

#include <string>

namespace trackway {

/// Uses of a structure; with no name, all allocations. Lists them as JSON objects; `kind` says what each is, and
/// fix/src/uses.rs what they mean.
class Uses : public clang::RecursiveASTVisitor<Uses> {
  public:
    Uses(clang::ASTContext &Context, llvm::StringRef Name)
        : Context(Context), Written(Context.getSourceManager(), Context.getLangOpts()), Name(Name) {}

    llvm::json::Array take() { return std::move(Found); }

    // Code of templates is seen as it was instantiated, too.
    bool shouldVisitTemplateInstantiations() const { return true; }

    bool VisitRecordDecl(clang::RecordDecl *Record);
    bool VisitMemberExpr(clang::MemberExpr *Member);
    bool VisitCXXDependentScopeMemberExpr(clang::CXXDependentScopeMemberExpr *Member);
    bool VisitUnaryExprOrTypeTraitExpr(clang::UnaryExprOrTypeTraitExpr *Trait);
    bool VisitDeclRefExpr(clang::DeclRefExpr *Named);
    bool VisitDecompositionDecl(clang::DecompositionDecl *Bound);
    bool VisitCXXParenListInitExpr(clang::CXXParenListInitExpr *List);
    bool VisitOffsetOfExpr(clang::OffsetOfExpr *Offset);
    bool VisitDeclaratorDecl(clang::DeclaratorDecl *Declared);
    bool VisitInitListExpr(clang::InitListExpr *List);
    bool VisitCastExpr(clang::CastExpr *Cast);
    bool VisitCallExpr(clang::CallExpr *Call);
    bool VisitCXXNewExpr(clang::CXXNewExpr *New);
    bool VisitCXXConstructExpr(clang::CXXConstructExpr *Construct);
    bool VisitTemplateSpecializationTypeLoc(clang::TemplateSpecializationTypeLoc Written);

  private:
    bool isSubject(clang::QualType Type) const;
    bool isSubject(const clang::RecordDecl *Record) const;
    bool isPointerToSubject(clang::QualType Type) const;
    bool isAllocation(const clang::CallExpr *Call) const;
    bool givesObjects(const clang::CallExpr *Call) const;
    bool mentionsSize(const clang::Stmt *Of) const;
    bool hasBraces(const clang::InitListExpr *List) const;
    void findWithoutBraces(const clang::InitListExpr *List);
    bool isMultipleOfSize(const clang::Expr *Bytes) const;
    bool isOfOne(const clang::CallExpr *Call) const;
    bool isAddressTaken(const clang::Expr *Expression) const;
    bool reachesBeyond(const clang::MemberExpr *Member) const;
    bool isInLoop(const clang::Expr *Expression) const;
    const clang::FunctionDecl *functionAround(const clang::Expr *Expression) const;
    const clang::Stmt *parent(const clang::Stmt *Of) const;
    const clang::CallExpr *callAround(const clang::Expr *Argument) const;
    llvm::json::Value endOfType(const clang::FieldDecl *Field) const;
    llvm::json::Value beginOf(const clang::FunctionDecl *Function) const;
    void define(const clang::RecordDecl *Record);
    void passed(const clang::CallExpr *Call, const clang::Expr *Argument);
    void allocated(const clang::CallExpr *Call);
    void copied(const clang::Expr *Whole, const clang::Expr *Left, const clang::Expr *Right);
    void add(llvm::StringRef Kind, clang::SourceRange Range, llvm::json::Object More = llvm::json::Object());

    clang::ASTContext &Context;
    Places Written;
    llvm::StringRef Name;
    llvm::json::Array Found;
};

} // namespace trackway
