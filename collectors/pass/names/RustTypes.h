// What rustc's debugging information says in its own way: enums, and pointers inside types of the standard library.
#ifndef TRACKWAY_RUSTTYPES_H
#define TRACKWAY_RUSTTYPES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/DebugInfoMetadata.h"

namespace llvm {
class CallBase;
}

namespace trackway {

// The variants of an enum and what tells them apart; null for any other element of a type.
const llvm::DICompositeType *asVariantPart(const llvm::DINode *Element);

// The integer that says which variant is there; null if the enum has none.
const llvm::DIDerivedType *discriminator(const llvm::DICompositeType &VariantPart);

// How a type of the standard library that owns or lends a pointer reads in the source.
enum class RustOwner {
    None,
    Pointer,  // like the object: `Box`, `Rc`
    Elements, // like an array: `Vec`, a slice, an iterator over one
};

RustOwner ownerKind(llvm::StringRef QualifiedName);

// The type that the owner's pointer leads to where the pointer itself has lost it: `T` of `Vec<T>`.
const llvm::DIType *elementOfOwner(const llvm::DIType &Owner);

// What a hash table of the standard library holds, `(K, V)`; null for any other type. Its pointer has lost it.
const llvm::DIType *entryOfTable(const llvm::DIType &);

// What a call of Rust's allocator makes room for, by the generic function of the standard library that it was inlined
// into; null if there is none.
const llvm::DIType *allocatedType(const llvm::CallBase &);

// A pointer that reads like the object: `&T`, `&mut T`, `Box<T>`, but not `*const T`.
bool isRustReference(const llvm::DIType *);

// `from_utf8` of the linkage name of `core::str::from_utf8`, in both schemes; empty if it is something else.
std::string rustFunctionName(llvm::StringRef LinkageName);

bool isRust(const llvm::DIScope *);

// Whether the code stands in the sources of the standard library, as its debugging information names them.
bool isInStandardLibrary(const llvm::DILocation &);

} // namespace trackway

#endif
