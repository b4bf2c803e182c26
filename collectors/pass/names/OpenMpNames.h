// Names of the functions that the compiler makes of OpenMP's constructs.
#pragma once

#include "llvm/IR/Module.h"

namespace trackway {

// Names bodies as in `components, parallel for at components.cc:58`, so that reports and debuggers say where they
// stand.
void nameOpenMpBodies(llvm::Module &M);

// The name of a body, or of the function that it consists of; empty: it is none.
llvm::StringRef openMpName(const llvm::Function &F);

// Whether the compiler made the function for OpenMP. Copying, reducing and destroying are functions, too, without a
// name.
bool isMadeForOpenMp(const llvm::Function &F);
// The function of the source in which a body's construct stands; the function itself if it isn't such a body.
const llvm::Function &functionAround(const llvm::Function &F);

} // namespace trackway
