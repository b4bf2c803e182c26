// Where the source says something: ranges of bytes in files.
#pragma once

#include "clang/Basic/LangOptions.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/Support/JSON.h"

namespace trackway {

/// Turns locations of clang's into files and offsets.
class Places {
  public:
    Places(const clang::SourceManager &Sources, const clang::LangOptions &Language)
        : Sources(Sources), Language(Language) {}

    /// `{"file", "begin", "end", "line"}` of what was written, offsets in bytes. Text that a macro's body wrote has no
    /// range of its own: then `begin` and `end` are those of the macro's use, and `"macro": true` says so.
    llvm::json::Object of(clang::SourceRange Range) const;
    /// `[begin, end]` in the same file as `of` the surrounding text; null if a macro's body wrote it.
    llvm::json::Value span(clang::SourceRange Range) const;
    bool isInSystemHeader(clang::SourceLocation Location) const;
    /// `of` with a kind, `"system": true` in headers of the system, and more.
    llvm::json::Object use(llvm::StringRef Kind, clang::SourceRange Range, llvm::json::Object More) const;

  private:
    clang::CharSourceRange written(clang::SourceRange Range) const;

    const clang::SourceManager &Sources;
    const clang::LangOptions &Language;
};

} // namespace trackway
