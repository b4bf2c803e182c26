// Values: what accesses load and store, where the user asked for it.
#pragma once

#include "Attribution.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"

#include <optional>
#include <string>
#include <vector>

namespace trackway {

// How an element of a value is to be read. The numbers are those of docs/format.md, section 2.1.
enum class ValueForm : uint8_t { Bits, Unsigned, Signed, Float, Pointer, Boolean, Character, BrainFloat };

// A value is Lanes elements of Bits bits each without holes, the first one in the lowest bits.
struct ValueShape {
    ValueForm Form = ValueForm::Bits;
    unsigned Bits = 0;
    unsigned Lanes = 1;

    unsigned words() const { return (Bits * Lanes + 63) / 64; }
};

// Which accesses the user wants the values of: those that one of the patterns names.
//
//     variable:GLOB    by AccessName::Variable
//     field:GLOB       by type and field: `arc.ident`
//     type:GLOB        by the type of the object or of the value
//     function:GLOB    by the function in whose text the access stands, or that holds it; linkage or source name
//     *                all
class ValueSelection {
  public:
    // The patterns must outlive the selection. The error names the one that can't be read.
    static llvm::Expected<ValueSelection> read(const std::vector<std::string> &Patterns);

    bool isEmpty() const { return !All && Patterns.empty(); }
    bool selects(const llvm::Instruction &Access, const AccessName &Name) const;

  private:
    enum class Subject { Variable, Field, Type, Function };

    struct Pattern {
        Subject S;
        llvm::GlobPattern Glob;
    };

    bool anyMatches(Subject S, llvm::StringRef Name) const;
    bool selectsFunction(const llvm::Instruction &Access) const;

    bool All = false;
    std::vector<Pattern> Patterns;
};

// What is to be recorded of the accesses' values in one module.
class RecordedValues {
  public:
    RecordedValues(const llvm::Module &M, const ValueSelection &Selection);
    ~RecordedValues();

    // None if the value isn't wanted, or can't be recorded: copies and fills have none, and no value is longer than
    // MaxValueBytes.
    std::optional<ValueShape> shape(const llvm::Instruction &Access, const AccessName &Name) const;

  private:
    struct TypeForms;

    const llvm::DataLayout &DL;
    const ValueSelection &Selection;
    std::unique_ptr<TypeForms> Forms;
};

constexpr unsigned MaxValueBytes = 512;

// The shape of what the instruction loads or stores, but for its form; none if it can't be recorded.
std::optional<ValueShape> shapeOfAccess(const llvm::Instruction &I, const llvm::DataLayout &DL);

// A value in the code and the place from which on it is there.
struct Content {
    llvm::Value *V;
    llvm::Instruction *Anchor;
};

// Makes what the instruction loads or stores a value of its own: an integer, a floating-point number, a pointer or a
// vector of these. May insert instructions beside the access.
Content exposeContent(llvm::Instruction &Access);

// Bits of such a value.
unsigned contentBits(const llvm::Type *T);

// Bits 64 × Index and the following of such a value, zero-extended to the type.
llvm::Value *contentWord(llvm::IRBuilder<> &B, llvm::Value *V, unsigned Index, llvm::Type *T);

// The same of a constant; none if it isn't known before the program is linked.
std::optional<uint64_t> constantWord(const llvm::Value *V, unsigned Index, const llvm::DataLayout &DL);

} // namespace trackway
