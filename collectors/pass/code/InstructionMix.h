// Counts the kinds of instructions in a block.
#pragma once

#include "llvm/IR/BasicBlock.h"

#include <array>

namespace trackway {

// Counts in the order of docs/format.md, section 2: loads, stores, atomics, integer, floating point, vector, branches,
// calls.
using InstructionMix = std::array<uint32_t, 8>;

// Counts the instructions as the optimiser leaves them; those that become no machine code are left out.
InstructionMix instructionMix(const llvm::BasicBlock &BB);

// Whether an instruction of the optimiser becomes none of the machine: an address that an operand can hold, a value
// that is another one, what the compiler alone reads.
bool becomesNoCode(const llvm::Instruction &I);

} // namespace trackway
