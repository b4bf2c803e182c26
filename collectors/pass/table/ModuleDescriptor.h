// Describes a module to the runtime: struct trackway_module of abi.h.
#pragma once

#include "llvm/IR/GlobalVariable.h"

#include <string>
#include <vector>

namespace trackway {

struct ModuleContent {
    std::string Table;
    std::vector<llvm::GlobalVariable *> Symbols;
    uint32_t Segments = 0;
    uint64_t Counters = 0;
    uint64_t Regions = 0; // as `has_regions` of struct trackway_module
};

// Fields of the descriptor, as struct trackway_module has them.
enum ModuleField : unsigned { IdBase = 0, CounterOffset = 9, CountsUpTo = 10 };

// Whether a pass of ours has been over the module, as in another run of a pipeline over what `-emit-llvm` gave.
bool isEmbedded(const llvm::Module &M);

llvm::GlobalVariable *declareModule(llvm::Module &M);

// Fills the descriptor in and registers it before other constructors run.
void embedModule(llvm::GlobalVariable &Descriptor, const ModuleContent &Content);

} // namespace trackway
