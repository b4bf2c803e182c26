// Which instructions are calls in effect.
#pragma once

#include "llvm/IR/Instruction.h"

namespace trackway {

// Whether instrumented code may run inside the instruction. That ends a unit of what is recorded (record/Plan.h).
bool endsUnit(const llvm::Instruction &I);

} // namespace trackway
