// Selects the accesses whose values are recorded, and says how to read these values.
#pragma once

#include "code/Values.h"
#include "names/Attribution.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trackway {

// Selects the accesses whose values the user wants: those that one of the patterns names.
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

// Says what is to be recorded of the accesses' values in one module.
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

} // namespace trackway
