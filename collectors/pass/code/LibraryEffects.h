// What functions of the C library, and others that nothing is recorded in, read and write: ranges whose addresses and
// lengths follow from the arguments and the result of a call.
//
// The rules are text, in the syntax of docs/collectors/compiler.md: those of LibraryTable.cpp, and those of files.
#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace trackway {

// A value of 64 bits, as it is when the call has returned.
struct EffectExpression {
    enum class Op {
        Constant, // Number
        Argument, // Number: its position, from 0
        Result,
        At, // the pointer that stands where the operand points
        Add,
        Subtract,
        Multiply,
        Min,    // of unsigned numbers
        Choose, // the second operand if the first is not 0, else the third
        Extent, // what a helper of the runtime finds in memory: Helper
    };

    Op O = Op::Constant;
    int64_t Number = 0;
    std::string Helper;
    std::vector<EffectExpression> Operands;
};

// A helper is called __trackway_extent_NAME (collectors/runtime/extents.c).
struct ExtentHelper {
    llvm::StringRef Name;
    unsigned Pointers; // parameters that are pointers come first
    unsigned Numbers;  // and then those that are numbers
    bool LastIsLimit;  // the last number may be left out: then there is no limit
    bool BeforeCall;   // it looks at memory that the call may free
};

llvm::ArrayRef<ExtentHelper> extentHelpers();
const ExtentHelper &helperOf(const EffectExpression &Extent);
std::string nameOfHelper(llvm::StringRef Helper);

// Whether the call is one of a helper: it only looks at memory, and records nothing.
bool findsExtent(const llvm::CallBase &Call);

// One range, or what the directives of a format make.
struct LibraryEffect {
    enum class Kind { Read, Write, Allocate, Format };

    Kind K = Kind::Read;
    EffectExpression Pointer, Length; // of Format: the format, and the position of the first argument that it describes
    std::vector<EffectExpression> Condition; // none, or one: there is no range if it is 0
};

using EffectOp = EffectExpression::Op;
using LibraryRule = std::vector<LibraryEffect>;

// The effects of one call: those of its rule, or, if the rule has a format, a list of the call's own.
class CallEffects {
  public:
    explicit CallEffects(const LibraryRule &Rule) : Shared(&Rule) {}
    explicit CallEffects(LibraryRule &&Rule) : Own(std::move(Rule)) {}

    const LibraryRule &rule() const { return Shared ? *Shared : Own; }

  private:
    const LibraryRule *Shared = nullptr;
    LibraryRule Own;
};

class LibraryEffects {
  public:
    // Those of the table, and those of the files, which come first where both know a name.
    static llvm::Expected<LibraryEffects> load(const std::vector<std::string> &Files);

    // The ranges of a direct call of a function that the module doesn't define; none if there is no rule that fits.
    // Those of a format come after the rule's own. They are valid as long as this is.
    std::optional<CallEffects> find(const llvm::CallBase &Call) const;

  private:
    LibraryEffects();
    llvm::Error addFile(const std::string &Path);
    llvm::Error addLine(llvm::StringRef Line);

    llvm::StringMap<LibraryRule> Rules;
};

// The argument or the result of the call that the address of the effect comes from: its name is the range's.
llvm::Value *originOf(const LibraryEffect &E, const llvm::CallBase &Call);

// Lines of rules for the C library.
llvm::StringRef libraryTable();

} // namespace trackway
