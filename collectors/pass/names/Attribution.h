// Names for memory accesses: which variable, field and type an address belongs to.
//
// The types are visible only before optimisation, the accesses that remain only after it. So AttributionPass labels
// every access of the front end's fresh code, the labels travel through the optimiser (Label.h says how), and the
// Namer reads them at the end of the pipeline, with debug information and TBAA as fallbacks. What cannot be known
// stays empty; nothing is guessed.
#ifndef TRACKWAY_ATTRIBUTION_H
#define TRACKWAY_ATTRIBUTION_H

#include "names/Layouts.h"
#include "llvm/IR/PassManager.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class CallBase;
class Instruction;
class Module;
class Value;
class raw_ostream;
} // namespace llvm

namespace trackway {

// Numbers as in docs/format.md, section 2 (sites).
enum class VariableKind : uint8_t { Unknown, Global, Static, Local, Parameter, Expression, CompilerMade };

// The names of an access. Every string may be empty: unknown.
struct AccessName {
    std::string Variable; // through which the access goes: `arc` for `arc->ident`, `node->pred` for `node->pred->x`
    VariableKind Kind = VariableKind::Unknown;
    std::string ObjectType; // the structure or union of which Field is a part: `arc`, `ns::Vector<int>`
    std::string Field;      // `ident`, `pos.x`, `cells[].next`, `Base::x`, `{a|b}` where several come into question
    std::string ValueType;  // of what is accessed: `int`, `arc *`
};

// The value type of bytes that code copies or fills through a `void *`.
inline constexpr char NoType[] = "void";

// What an allocation call makes room for.
struct AllocationName {
    std::string ElementType;
    uint64_t ElementSize = 0; // bytes; 0: unknown
    std::string Variable;     // to which the result is assigned: `net->arcs`
};

// The function attribute that AttributionPass makes of the annotation `trackway.ignore`.
inline constexpr char IgnoreAttribute[] = "trackway-ignore";

// The parameter attribute that AttributionPass adds to `sret`, which the optimiser takes off parameters of functions
// that nothing else calls.
inline constexpr char ResultAttribute[] = "trackway-result";

// Runs first in the pipeline, at every optimisation level: labels accesses and allocation calls, and turns the
// annotation `trackway.ignore` into the function attributes `trackway-ignore` and `noinline`.
// Labels have no influence on the code that is generated.
struct AttributionPass : llvm::PassInfoMixin<AttributionPass> {
    explicit AttributionPass(std::vector<std::string> LibraryFiles) : LibraryFiles(std::move(LibraryFiles)) {}
    llvm::PreservedAnalyses run(llvm::Module &Module, llvm::ModuleAnalysisManager &);
    static bool isRequired() { return true; }

  private:
    std::vector<std::string> LibraryFiles; // of code/LibraryEffects.h
};

// Reads the names at the end of the pipeline. Keeps caches; one per module and thread, and the module's types and
// debug information must not change while it lives. Code may be inserted.
class Namer {
  public:
    explicit Namer(const llvm::Module &);
    ~Namer();
    Namer(const Namer &) = delete;
    Namer &operator=(const Namer &) = delete;

    // `Pointer` is the address operand; `Size` the bytes of the access, 0 if dynamic; `Part` as in docs/format.md:
    // 1 for the write of a copy, else 0.
    AccessName name(const llvm::Instruction &Access, const llvm::Value *Pointer, uint64_t Size, unsigned Part) const;
    // The same for an instruction's part, whose operand and size it finds itself.
    AccessName name(const llvm::Instruction &Access, unsigned Part) const;
    AllocationName allocation(const llvm::CallBase &) const;

    // A value that code in a function of its own takes from elsewhere is named as the other one is, seen from that
    // place.
    void setOrigin(const llvm::Value &Taken, const llvm::Value &From, const llvm::DILocation *Reader);

    // The name of a variable's type; a structure bears its own name.
    std::string type(const llvm::DIType *) const;
    // The layouts of the structures that bear these names, and of those within them.
    std::vector<TypeLayout> layouts(llvm::ArrayRef<std::string> Types) const;

  private:
    struct State;
    std::unique_ptr<State> S;
};

// Takes the labels off again, so that code generation sees the metadata that it would have seen without us. To be
// called after the last use of a Namer.
void removeLabels(llvm::Module &);

// `print<trackway-names>`: a line for each access, each labelled allocation call, and each type with its members, for
// tests and for the curious.
struct NamePrinterPass : llvm::PassInfoMixin<NamePrinterPass> {
    explicit NamePrinterPass(llvm::raw_ostream &Out) : Out(Out) {}
    llvm::PreservedAnalyses run(llvm::Module &Module, llvm::ModuleAnalysisManager &);
    static bool isRequired() { return true; }

  private:
    llvm::raw_ostream &Out;
};

} // namespace trackway

#endif
