// Calls of C++ functions that lead from an object to what it holds: `vec[i]`, `vec.begin()`, `*it`, `p->x`.
#ifndef TRACKWAY_ACCESSORS_H
#define TRACKWAY_ACCESSORS_H

#include <optional>

namespace llvm {
class AllocaInst;
class CallBase;
class DIType;
class Value;
} // namespace llvm

namespace trackway {

enum class LeadsTo {
    Element, // or an iterator over the elements
    Pointee, // of an iterator or a smart pointer
    Part,    // of the object itself: `std::get<0>(pair)`
};

class DebugTypes;

struct Accessor {
    LeadsTo Target;
    const llvm::Value *Receiver;          // the object's address
    const llvm::DIType *Class = nullptr;  // null: unknown
    const llvm::DIType *Result = nullptr; // a pointer, reference or iterator; null: unknown
};

// None for functions whose names don't say what they do.
std::optional<Accessor> accessor(const llvm::CallBase &, const DebugTypes &);

// The first content of a slot that the compiler made: a value that is stored to it, a call that returns it there, or
// the copy of another object. Null if that isn't known. Its steps (`++__begin1`) don't count.
const llvm::Value *initialContent(const llvm::AllocaInst &);

} // namespace trackway

#endif
