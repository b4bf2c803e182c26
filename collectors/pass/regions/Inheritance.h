// Code that OpenMP's runtime starts, on whatever thread, runs in the regions that are open where it is started.
#pragma once

#include "llvm/IR/Module.h"

namespace trackway {

void inheritRegions(llvm::Module &M);

} // namespace trackway
