// Finds look-ups whose addresses are known some iterations before.
#pragma once

#include "Places.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/ParentMapContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/SmallVector.h"

#include <set>
#include <string>

namespace trackway {

/// Look-ups of one line that a loop `for (i = ...; i < n; i++)` makes by what it reads at `i`. Lists them as JSON
/// objects of the kind `look_up`; fix/src/uses.rs says what they mean. What speaks against asking for them ahead is in
/// `reasons`.
class LookUps : public clang::RecursiveASTVisitor<LookUps> {
  public:
    LookUps(clang::ASTContext &Context, unsigned Line, unsigned Distance)
        : Context(Context), Written(Context.getSourceManager(), Context.getLangOpts()), Line(Line), Distance(Distance) {
    }

    llvm::json::Array take() { return std::move(Found); }

    bool VisitForStmt(clang::ForStmt *Loop);

  private:
    /// A loop that counts a variable up to a bound.
    struct Counting {
        const clang::VarDecl *Index;
        const clang::Stmt *Body;
        std::string Guard;
    };
    using Reasons = std::set<std::string>;

    bool isCounting(const clang::ForStmt *Loop, Counting &Into) const;
    bool isHere(const clang::Expr *Element) const;
    void findIn(const clang::Stmt *Of, const Counting &Loop, Reasons &Body);
    bool look(const clang::Expr *Element, const Counting &Loop, const Reasons &Body);
    bool loadsOf(const clang::Stmt *Of, const Counting &Loop, unsigned Depth, Reasons &Against,
                 llvm::SmallVectorImpl<const clang::Expr *> &Loads) const;
    const clang::Expr *valueOf(const clang::VarDecl *Local, const Counting &Loop) const;
    bool isSteady(const clang::ValueDecl *Named, const clang::Stmt *Body) const;
    bool setsByPointer(const clang::Stmt *Of, clang::QualType Type) const;
    bool mayHavePointers(const clang::VarDecl *Variable, const clang::Stmt *Body) const;
    bool isOnlyRead(const clang::Expr *Named) const;
    bool isAlwaysExecuted(const clang::Stmt *Of, const clang::Stmt *Body) const;
    void speakAgainst(const clang::Stmt *Of, bool IsOurs, Reasons &Against) const;
    bool isHarmless(const clang::CallExpr *Call, unsigned Depth = 0) const;
    bool hasNoEffect(const clang::Stmt *Of, unsigned Depth) const;
    bool isWholeIndex(const clang::Expr *Named) const;
    std::string render(const clang::Expr *Of, const Counting &Loop) const;
    std::string textOf(clang::SourceRange Range) const;

    clang::ASTContext &Context;
    Places Written;
    unsigned Line;
    unsigned Distance;
    llvm::json::Array Found;
};

} // namespace trackway
