// Leaves out what the user asked not to record.
//
// Lists have the form of clang's `-fsanitize-ignorelist=`: one `prefix:glob[=category]` a line, `#` for comments,
// sections in brackets (those that match `trackway` apply, as do lines before the first section). Prefixes:
//
//     fun:GLOB     functions, by linkage name or by name as in the source
//     src:GLOB     source files, by the name that debug information has, relative or absolute
//     type:GLOB    accesses to objects of a type (AccessName::ObjectType)
//
// Without a category a line excludes. With `=allow` (or `=sanitize`, clang's own word for it) it re-admits what other
// lines of the same prefix exclude, in whatever order they stand: `fun:*` and `fun:main=allow` records main alone.
// `fun:` lines are more specific than `src:` lines: where any matches a function, `src:` is not asked.
// A function with `__attribute__((disable_sanitizer_instrumentation))` or
// `__attribute__((annotate("trackway.ignore")))` is always left alone.
#ifndef TRACKWAY_FILTER_H
#define TRACKWAY_FILTER_H

#include "names/Attribution.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class DILocation;
class Function;
class Instruction;
class SpecialCaseList;
class StringRef;
} // namespace llvm

namespace trackway {

class Filter {
  public:
    // Reads the lists; none gives a filter that only obeys attributes. The error names the file and the line.
    static llvm::Expected<Filter> read(const std::vector<std::string> &Files);

    Filter(Filter &&);
    Filter &operator=(Filter &&);
    ~Filter();

    // Whether nothing in the function is to be recorded.
    bool skipsFunction(const llvm::Function &) const;

    // Whether this access is excluded: by the function or file whose text it was inlined from, or by its object type.
    bool skipsAccess(const llvm::Instruction &, const AccessName &) const;

  private:
    enum class Verdict { Silent, Exclude, Allow }; // of two, the greater one holds

    explicit Filter(std::unique_ptr<llvm::SpecialCaseList>);
    Verdict ask(llvm::StringRef Prefix, llvm::StringRef Query) const;
    Verdict askNames(llvm::StringRef LinkageName, llvm::StringRef SourceName) const;
    Verdict askFile(llvm::StringRef Directory, llvm::StringRef File) const;
    bool excludes(Verdict ByName, llvm::StringRef Directory, llvm::StringRef File) const;
    bool skipsInlinedText(const llvm::DILocation &) const;

    std::unique_ptr<llvm::SpecialCaseList> List;
};

} // namespace trackway

#endif
