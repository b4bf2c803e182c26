// Puts a plan into the code: the stores of the fast path, the checks, and the cold path of each.
#pragma once

#include "record/Plan.h"
#include "record/RuntimeSymbols.h"
#include "table/ModuleTable.h"

namespace trackway {

// Inserts the recording and returns the segments it uses, the first of which has the index FirstSegment in the module.
// Completes the pieces of the flow, one for each unit, if there are any.
std::vector<Segment> emitPlan(llvm::Function &F, const Plan &P, BlockFrequencies &Frequencies, uint32_t FirstSegment,
                              const RuntimeSymbols &Runtime, std::vector<FlowPiece> &Flow);

} // namespace trackway
