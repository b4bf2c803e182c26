// Reads the lines that say what library functions do: docs/collectors/compiler.md has the syntax.
#pragma once

#include "code/LibraryEffects.h"

namespace trackway {

struct EffectLine {
    std::vector<std::string> Names;
    LibraryRule Rule;
};

// The error says what was expected, and where.
llvm::Expected<EffectLine> parseEffectLine(llvm::StringRef Line);

} // namespace trackway
