// Finds look-ups whose addresses are known some iterations before.
#pragma once

#include "Loops.h"

#include "clang/AST/ParentMapContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/SmallVector.h"

#include <string>

namespace trackway {

/// Look-ups of one line that a loop `for (i = ...; i < n; i++)` makes by what it reads at `i`. Lists them as JSON
/// objects of the kind `look_up`; fix/src/uses.rs says what they mean. What speaks against asking for them ahead is in
/// `reasons`.
class LookUps : public clang::RecursiveASTVisitor<LookUps>, private Loops {
  public:
    LookUps(clang::ASTContext &Context, unsigned Line, unsigned Distance)
        : Loops(Context), Line(Line), Distance(Distance) {}

    llvm::json::Array take() { return std::move(Found); }

    bool VisitForStmt(clang::ForStmt *Loop);

  private:
    std::string guardOf(const Counting &Loop) const;
    void findMemoryChanges(const clang::Stmt *Of, Reasons &Against) const;
    void findIn(const clang::Stmt *Of, const Counting &Loop, Reasons &Body);
    bool look(const clang::Expr *Element, const Counting &Loop, const Reasons &Body);
    bool loadsOf(const clang::Stmt *Of, const Counting &Loop, unsigned Depth, Reasons &Against,
                 llvm::SmallVectorImpl<const clang::Expr *> &Loads) const;
    const clang::Expr *valueOf(const clang::VarDecl *Local, const Counting &Loop) const;
    bool isWholeIndex(const clang::Expr *Named) const;
    std::string render(const clang::Expr *Of, const Counting &Loop) const;

    unsigned Line;
    unsigned Distance;
    llvm::json::Array Found;
};

} // namespace trackway
