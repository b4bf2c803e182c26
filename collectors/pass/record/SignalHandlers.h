// Signal handlers run between calls of the runtime, so that they don't overwrite records of the code they interrupt.
#pragma once

#include "llvm/IR/Module.h"

namespace trackway {

// Makes the module install its handlers through the runtime, also where it takes the address of such a function.
void redirectSignalHandlers(llvm::Module &M);

} // namespace trackway
