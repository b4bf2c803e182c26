// Finds loops that add to a vector as often as is known before they begin.
#pragma once

#include "Loops.h"

#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/StmtCXX.h"

#include <string>

namespace trackway {

/// Calls of one line by which a loop adds an element to a `std::vector`. Lists them as JSON objects of the kind
/// `growth`; fix/src/uses.rs says what they mean. What speaks against reserving room is in `reasons`.
class Growths : public clang::RecursiveASTVisitor<Growths>, private Loops {
  public:
    Growths(clang::ASTContext &Context, unsigned Line) : Loops(Context), Line(Line) {}

    llvm::json::Array take() { return std::move(Found); }

    bool VisitCXXMemberCallExpr(clang::CXXMemberCallExpr *Call);

  private:
    /// How many elements a loop adds. Empty texts if that isn't known.
    struct Count {
        std::string Text;
        /// Must hold, else the loop adds nothing; empty if it always does.
        std::string Guard;
    };

    bool isHere(const clang::CXXMemberCallExpr *Call) const;
    const clang::Stmt *loopAround(const clang::Stmt *Of) const;
    Count countOf(const clang::ForStmt *Loop, Reasons &Against) const;
    Count countOf(const clang::CXXForRangeStmt *Loop, Reasons &Against) const;
    bool beginsAt(const clang::ForStmt *Loop, const clang::VarDecl *Index, std::string &Text, Reasons &Against) const;
    void findBoundChanges(const clang::Expr *Bound, const clang::Stmt *Loop, const clang::Stmt *Body,
                          const clang::Expr *But, Reasons &Against) const;
    void findUses(const clang::Expr *Vector, const clang::VarDecl *Variable, const clang::Stmt *Loop,
                  Reasons &Against) const;

    unsigned Line;
    llvm::json::Array Found;
};

} // namespace trackway
