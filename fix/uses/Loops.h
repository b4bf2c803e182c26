// What a loop does: how often it runs, what it leaves alone, and what may end it.
#pragma once

#include "Places.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <set>
#include <string>

namespace trackway {

const clang::VarDecl *variableOf(const clang::Expr *Named);
bool mentions(const clang::Stmt *Of, const clang::VarDecl *Variable);
bool isStandard(const clang::FunctionDecl *Function);
/// An element of an array, or of a container of C++'s library.
bool isSubscript(const clang::Expr *Of);
bool readsVolatile(const clang::Stmt *Of);
/// What a statement sets, if it is an assignment or a step.
const clang::Expr *setBy(const clang::Stmt *Of);
/// Whether a statement sets this member of something.
bool assigns(const clang::Stmt *Of, const clang::ValueDecl *Field);

/// Questions about loops, for finders of changes.
class Loops {
  public:
    explicit Loops(clang::ASTContext &Context)
        : Context(Context), Written(Context.getSourceManager(), Context.getLangOpts()) {}

  protected:
    /// A loop that counts a variable up to a bound, which needs no effects to be read.
    struct Counting {
        const clang::VarDecl *Index;
        const clang::Expr *Bound;
        /// The bound itself isn't reached.
        bool IsLess;
        const clang::Stmt *Body;
    };
    using Reasons = std::set<std::string>;

    bool isCounting(const clang::ForStmt *Loop, Counting &Into) const;
    /// Whether the expression, or what it is named by, stands in that line of its file.
    bool isHere(const clang::Expr *Of, unsigned Line) const;
    bool isSteady(const clang::ValueDecl *Named, const clang::Stmt *Body) const;
    bool setsByPointer(const clang::Stmt *Of, clang::QualType Type) const;
    bool mayHavePointers(const clang::VarDecl *Variable, const clang::Stmt *Body) const;
    bool isOnlyRead(const clang::Expr *Named) const;
    bool isAlwaysExecuted(const clang::Stmt *Of, const clang::Stmt *Body) const;
    /// Adds what may end the loop before its bound, or an iteration before its end.
    void findEnds(const clang::Stmt *Of, bool IsOurs, Reasons &Against) const;
    /// Adds calls that may not come back or may change something, but those that are known to be fine.
    void findCalls(const clang::Stmt *Of, llvm::function_ref<bool(const clang::CallExpr *)> IsFine,
                   Reasons &Against) const;
    bool isHarmless(const clang::CallExpr *Call, unsigned Depth = 0) const;
    bool hasNoEffect(const clang::Stmt *Of, unsigned Depth) const;
    /// The source's text; empty if a macro wrote a part of it.
    std::string textOf(clang::SourceRange Range) const;
    std::string operandOf(const clang::Expr *Of) const;

    clang::ASTContext &Context;
    Places Written;
};

} // namespace trackway
