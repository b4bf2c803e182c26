// The variables of the source that debug information attaches to values of the code.
#ifndef TRACKWAY_DEBUGVARIABLES_H
#define TRACKWAY_DEBUGVARIABLES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DebugInfoMetadata.h"

namespace llvm {
class GlobalVariable;
class Value;
} // namespace llvm

namespace trackway {

struct AttachedVariable {
    const llvm::DILocalVariable *Variable = nullptr;
    const llvm::DIExpression *Expression = nullptr;
    bool Indirect = false; // the value is the address of a slot that holds the variable's address

    // Whether the value is only a part of the variable's.
    bool isFragment() const { return Expression && Expression->getNumElements() != 0; }

    explicit operator bool() const { return Variable != nullptr; }
};

// The global variable of the source that this is. Null for none, and for common blocks of Fortran, which hold several.
const llvm::DIGlobalVariable *describedVariable(const llvm::GlobalVariable &);

// The variable that lives at this address, that of the function itself rather than one that came by inlining.
// Structured bindings name parts of an object without a name: all of them then, beginning with the one at its start.
llvm::SmallVector<AttachedVariable, 1> declaredVariables(const llvm::Value &Address);

// `__range1` and `__begin1` of a range-based for, but not `this`.
bool isCompilerDeclared(const llvm::DILocalVariable &);

// The variable of the source whose value this is; none if debug information names several.
AttachedVariable heldVariable(const llvm::Value &);

// The variables of the source whose value this is, as code at `Reader` sees it: those of the innermost inlined function
// around it that has one. Pointers to nothing in particular (`void *`) count only where there are no others.
llvm::SmallVector<AttachedVariable, 1> heldVariables(const llvm::Value &, const llvm::DILocation *Reader);

// The type that a function returns; null for void or unknown.
const llvm::DIType *resultType(const llvm::DISubprogram &);

} // namespace trackway

#endif
