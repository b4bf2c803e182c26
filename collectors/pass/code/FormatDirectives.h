// What the directives of a format of printf and its like have the function read and write by way of their arguments.
#pragma once

#include "code/LibraryEffects.h"

namespace trackway {

// Of the format that is the call's argument at position `Format`, if it is a literal and the function takes an
// ellipsis; the first directive's arguments are from position `First` on. Ranges of arguments that can't be told are
// left out.
std::vector<LibraryEffect> rangesOfFormat(const llvm::CallBase &Call, int64_t Format, int64_t First);

} // namespace trackway
