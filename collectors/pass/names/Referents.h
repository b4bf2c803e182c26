// Finds what a pointer points into, from the code that computes it and from debug information.
#ifndef TRACKWAY_REFERENTS_H
#define TRACKWAY_REFERENTS_H

#include "names/Attribution.h"
#include "names/Captures.h"
#include "names/DebugVariables.h"
#include "names/FieldPaths.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>

namespace llvm {
class AllocaInst;
class Argument;
class CallBase;
class DataLayout;
class DIExpression;
class DILocalVariable;
class Function;
class GEPOperator;
class GlobalVariable;
class LoadInst;
} // namespace llvm

namespace trackway {

class DebugTypes;
struct Accessor;

struct Referent {
    std::string Base; // the variable, or the expression that yields the pointer
    VariableKind Kind = VariableKind::Unknown;
    bool ThroughPointer = false; // the object is what Base points to, not Base itself
    bool Indexed = false;        // by a subscript before the first field
    bool Untyped = false;        // through a `void *`
    bool Held = false;           // the object is an element of the container Base
    Spots At;
    std::string ObjectHint; // what the code calls the structure when debug information does not know it

    // The name in the source: `node->pred`, `s.next`, `a[].p`, `*p`, `x`.
    std::string spell(llvm::StringRef Field) const;
    // Through which its object is accessed: `node`, and of an element `nodes[]`.
    std::string variable() const { return Held ? Base + "[]" : Base; }
};

// An expression that is too long, cut at its front.
std::string shortened(std::string Text);

// Names of ours for memory that no variable of the source is known to live in.
inline constexpr char Temporary[] = "temporary", ReturnValue[] = "return value";

// What the compiler added, by a name of ours.
Referent compilerMade(llvm::StringRef What);

class Referents {
  public:
    Referents(const DebugTypes &Types, const llvm::DataLayout &Layout) : Types(Types), Paths(Types), Layout(Layout) {}

    Referent of(const llvm::Value *Pointer) const;

    // `Reader` is where the access stands, if that is known: it chooses among variables that hold the same pointer.
    AccessName name(const llvm::Value *Pointer, const AccessShape &, const llvm::DILocation *Reader = nullptr) const;

    const FieldPaths &paths() const { return Paths; }

    // Shortens the path of a pointer inside types of Rust's standard library to that of the object that owns it; says
    // whether that reads like an array.
    bool throughOwner(const Spots &Leaves, std::string &Path) const;

    void setOrigin(const llvm::Value &Taken, const llvm::Value &From, const llvm::DILocation *Reader) {
        Origins[&Taken] = {&From, Reader};
    }

  private:
    // Bounds the walk: chains of loads, and selections that fan out.
    struct Walk {
        unsigned Steps = 48;
        unsigned Loads = 4;
        const llvm::DILocation *Reader = nullptr;
    };

    Referent visit(const llvm::Value *, Walk &) const;
    Referent computed(const llvm::Value *, Walk &) const;
    Referent ofGlobal(const llvm::GlobalVariable &) const;
    Referent ofAlloca(const llvm::AllocaInst &, Walk &) const;
    Referent referredTo(const llvm::AllocaInst &, Referent Unnamed, const Walk &) const;
    Referent ofUnnamed(const llvm::AllocaInst &, Walk &) const;
    Spots usedAs(const llvm::AllocaInst &, Walk &) const;
    llvm::ArrayRef<AttachedVariable> declaredIn(const llvm::AllocaInst &) const;
    std::optional<Capture> captured(const llvm::Value &Address) const;
    Referent ofCapture(const Capture &, bool Followed) const;
    Referent ofArgument(const llvm::Argument &) const;
    bool isNameless(const llvm::AllocaInst &) const;
    void remember(const llvm::AllocaInst &) const;
    const llvm::Value *contentOf(const llvm::AllocaInst &) const;
    const llvm::Value *elementOfRange(const llvm::AllocaInst &) const;
    const llvm::Value *origin(const llvm::Value *Iterator) const;
    Referent ofDeclared(llvm::ArrayRef<AttachedVariable>, const llvm::Type *Allocated) const;
    Spots structureOf(const llvm::Type *Allocated) const;
    Referent resultIn(const llvm::AllocaInst &) const;
    Referent ofVariable(const llvm::DILocalVariable &, const llvm::DIExpression &) const;
    Referent ofElement(const llvm::GEPOperator &, Walk &) const;
    Referent ofLoaded(const llvm::LoadInst &, Walk &) const;
    Referent loadedFrom(const llvm::Value *Address, const llvm::Type &Loaded, Walk &) const;
    Referent ofTemporary(const llvm::AllocaInst &, Walk &) const;
    Referent firstPointer(const llvm::Value &, Walk &) const;
    Referent ofResult(const llvm::CallBase &, Walk &) const;
    Referent ofAccessed(const Accessor &, Walk &) const;
    Referent ofReceiver(const Accessor &, Walk &) const;
    Referent ofDebugValue(const llvm::Value &, const Walk &) const;
    Referent ofEither(const llvm::Value &, Walk &) const;
    void applyOffsets(const llvm::GEPOperator &, Referent &) const;
    Referent pointedTo(Referent Holder, Spots Leaves) const;
    Spots heldPointer(const AttachedVariable &, const Referent &) const;

    // Values that are named as others, with the places from which these are seen.
    llvm::DenseMap<const llvm::Value *, std::pair<const llvm::Value *, const llvm::DILocation *>> Origins;
    // The function whose slots are remembered.
    mutable const llvm::Function *Remembered = nullptr;
    mutable std::map<const llvm::AllocaInst *, llvm::SmallVector<AttachedVariable, 1>> Declared;
    mutable std::map<const llvm::AllocaInst *, const llvm::Value *> Content;
    const DebugTypes &Types;
    FieldPaths Paths;
    const llvm::DataLayout &Layout;
};

} // namespace trackway

#endif
