// Types as debug information has them: their names, and finding them from what the code itself calls a structure.
#ifndef TRACKWAY_DEBUGTYPES_H
#define TRACKWAY_DEBUGTYPES_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include <optional>
#include <string>

namespace llvm {
class Function;
class Module;
class StructType;
} // namespace llvm

namespace trackway {

// The type without typedefs and qualifiers; null for void.
const llvm::DIType *withoutQualifiers(const llvm::DIType *);

// What a pointer or reference points to, seen through typedefs; null for anything else and for void.
const llvm::DIType *pointee(const llvm::DIType *);

// The element of a Fortran array that is accessed through a descriptor, which begins with the address of the data; null
// for any other type.
const llvm::DIType *describedElement(const llvm::DIType *);

// Bytes of an object of the type, 0 if unknown or incomplete.
uint64_t sizeInBytes(const llvm::DIType *);

bool isStructure(const llvm::DIType *); // structure, class or union, without qualifiers
bool isArray(const llvm::DIType *);     // not a vector

class DebugTypes {
  public:
    explicit DebugTypes(const llvm::Module &);

    bool empty() const { return ByName.empty(); }

    // The name in the source: `ns::Vec<int>`, `arc *`, `int[10]`. A structure without a name of its own bears that of a
    // typedef of it. Empty: unknown.
    const std::string &name(const llvm::DIType *) const;

    // The same, but a structure bears its own name where a typedef of it was used, even in an array.
    std::string canonicalName(const llvm::DIType *) const;

    // The name as in the declaration of a member of that type, with `struct` where C asks for it.
    std::string declaredName(const llvm::DIType *) const;

    // All definitions that bear this name.
    llvm::ArrayRef<const llvm::DICompositeType *> structuresNamed(llvm::StringRef Name) const;

    // Keeps the definitions that bear the name for lookups after optimisation, when nothing else may refer to them.
    void keep(llvm::StringRef Name, llvm::Module &) const;

    // The definition that a structure of the code stands for; null if there is none or several differ.
    const llvm::DICompositeType *find(const llvm::StructType &, uint64_t Size) const;

    // Whether the structure of the code may be that of debug information: equal names, or one of them has none and the
    // sizes agree.
    bool agree(const llvm::StructType &, uint64_t Size, const llvm::DIType *) const;

    // The definition's, or what the class says of a member function that is defined elsewhere; null if there is
    // neither.
    const llvm::DISubprogram *program(const llvm::Function &) const;

    // Finds a structure by the name that TBAA has for it: its name in C, its mangled name in C++.
    const llvm::DICompositeType *findByTbaaName(llvm::StringRef) const;

  private:
    void addComposite(const llvm::DICompositeType &);
    void addTypedef(const llvm::DIDerivedType &);
    void add(const llvm::DIType &);
    std::string spell(const llvm::DIType *) const;
    std::string tagOf(const llvm::DIType *) const;
    enum class Namespaces { AsInSource, All }; // without or with those that are inline
    std::string qualified(const llvm::DIType &, Namespaces) const;
    const std::string &codeName(const llvm::DICompositeType &) const;

    using Candidates = llvm::SmallVector<const llvm::DICompositeType *, 1>;
    bool IsC;
    llvm::StringMap<Candidates> ByName;
    mutable llvm::StringMap<Candidates> ByFullName; // made when first asked for
    mutable std::optional<llvm::StringMap<const llvm::DISubprogram *>>
        Members; // by linkage name, made when first asked for
    llvm::SetVector<const llvm::DICompositeType *> Definitions;
    llvm::StringMap<const llvm::DICompositeType *> ByIdentifier;
    llvm::DenseMap<const llvm::DICompositeType *, const llvm::DIDerivedType *> TypedefOf;
    mutable llvm::DenseMap<const llvm::DIType *, std::string> Names;
    mutable llvm::DenseMap<const llvm::DICompositeType *, std::string> CodeNames; // as structures of the code are named
};

// Lets go of what DebugTypes kept.
void removeKeptTypes(llvm::Module &);

// The name that the front end gave a structure of the code, without its `struct.` and without `.123` or `.base`;
// empty if it was anonymous.
llvm::StringRef sourceName(const llvm::StructType &);

} // namespace trackway

#endif
