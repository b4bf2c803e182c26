// Loops that need no records of their own.
#pragma once

#include "record/Units.h"

namespace trackway {

// Makes each loop of one path and a known count that records no root of its own one operation before it. `Count` gives
// an integer as an expression over registers that hold at the anchor.
void foldLoops(Plan &P, const PlanInput &In, const UnitIndex &Places,
               const llvm::DenseSet<const llvm::Loop *> &SteadyLoops,
               llvm::function_ref<RegisterExpression(llvm::Value *, llvm::Instruction *)> Count);

// Moves operations that only set registers before a loop to the block before, if that block records in any case. They
// cost nothing there.
void liftSets(Plan &P, const PlanInput &In, const UnitIndex &Places);

} // namespace trackway
