// Which instructions are calls in effect.
#pragma once

#include "llvm/IR/Function.h"

namespace trackway {

// Whether instrumented code may run inside the instruction. That ends a unit of what is recorded (record/Plan.h).
bool endsUnit(const llvm::Instruction &I);

// Whether the function holds a direct call of itself.
bool callsItself(const llvm::Function &F);

} // namespace trackway
