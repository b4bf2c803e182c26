// What the directives of a format of printf and its like have the function read and write by way of their arguments.
#pragma once

#include "code/LibraryEffects.h"

namespace trackway {

// The call's argument at position `Format` is the format, and those from `First` on are what its directives describe.
// None if the format is no literal, or the function has no ellipsis. Ranges of arguments that can't be told are left
// out.
std::vector<LibraryEffect> rangesOfFormat(const llvm::CallBase &Call, int64_t Format, int64_t First);

} // namespace trackway
