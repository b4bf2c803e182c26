// The control flow of a function as its table describes it, so that a reader can find out from the records which way
// each conditional branch went (docs/format.md, section 2, list 16).
#pragma once

#include "record/Plan.h"
#include "table/ModuleTable.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace trackway {

// One piece for each unit; none if the flow can't be described. Call it before the plan is emitted.
std::vector<FlowPiece> describeFlow(llvm::Function &F, const Plan &P,
                                    llvm::function_ref<uint32_t(const llvm::Instruction &)> Location);

} // namespace trackway
