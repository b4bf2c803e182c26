// Finds how objects of a structure are allocated one by one, for a pool of them.
#pragma once

#include "Places.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/StmtOpenMP.h"

#include <string>

namespace trackway {

/// What makes and ends objects of a structure in C++, what starts threads, and functions of the program's own that are
/// like those of the C library's allocator. Lists them as JSON objects;
/// fix/src/uses.rs says what they mean. `Uses` finds allocations by functions of C.
class Pools : public clang::RecursiveASTVisitor<Pools> {
  public:
    Pools(clang::ASTContext &Context, llvm::StringRef Name)
        : Context(Context), Written(Context.getSourceManager(), Context.getLangOpts()), Name(Name) {}

    llvm::json::Array take() { return std::move(Found); }

    // A structure of a template has no size before.
    bool shouldVisitTemplateInstantiations() const { return true; }

    bool VisitCXXRecordDecl(clang::CXXRecordDecl *Class);
    bool VisitClassTemplateSpecializationDecl(clang::ClassTemplateSpecializationDecl *Class);
    bool VisitCXXNewExpr(clang::CXXNewExpr *New);
    bool VisitCXXDeleteExpr(clang::CXXDeleteExpr *Delete);
    bool VisitFunctionDecl(clang::FunctionDecl *Function);
    bool VisitCallExpr(clang::CallExpr *Call);
    bool VisitOMPExecutableDirective(clang::OMPExecutableDirective *Directive);

  private:
    bool isSubject(clang::QualType Type) const;
    bool isSubject(const clang::RecordDecl *Record) const;
    bool isDerived(const clang::CXXRecordDecl *Class) const;
    llvm::json::Value outermost(const clang::Decl *Inner) const;
    void add(llvm::StringRef Kind, clang::SourceRange Range, llvm::json::Object More = llvm::json::Object());

    clang::ASTContext &Context;
    Places Written;
    llvm::StringRef Name;
    llvm::json::Array Found;
};

} // namespace trackway
