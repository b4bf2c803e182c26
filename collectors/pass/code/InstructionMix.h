// What kinds of instructions a block has.
#pragma once

#include "llvm/IR/BasicBlock.h"

#include <array>

namespace trackway {

// As docs/format.md, section 2, orders them: loads, stores, atomics, integer, floating point, vector, branches, calls.
using InstructionMix = std::array<uint32_t, 8>;

// Of the instructions as the optimiser leaves them; those that become no machine code are left out.
InstructionMix instructionMix(const llvm::BasicBlock &BB);

} // namespace trackway
