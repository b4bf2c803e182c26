// The control flow of a function as its table describes it, so that a reader can find out from the records which way
// each conditional branch went (docs/format.md, section 2, list 16).
#pragma once

#include "Plan.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace trackway {

// A unit of the plan as a node of the control flow.
struct FlowPiece {
    enum class End : uint8_t { GoesOn, Branches, Chooses, Calls, CallsIndirectly, Returns, Stops };
    enum class Loop : uint8_t { None, Enters, BackFirst, BackSecond };

    End E = End::GoesOn;
    Loop L = Loop::None;
    uint32_t Location = 0; // in the table, of the instruction at the end
    std::string Callee;    // of Calls; of CallsIndirectly the function that most likely runs, if any
    uint32_t Instructions = 0;
    std::vector<unsigned> Successors;
    // Known once the plan has been emitted:
    std::optional<unsigned> Segment;   // of the record that ends here, in the function
    std::optional<unsigned> Continues; // the piece whose record that one takes the place of
};

// One piece for each unit; none if the flow can't be described. Before the plan is emitted.
std::vector<FlowPiece> describeFlow(llvm::Function &F, const Plan &P,
                                    llvm::function_ref<uint32_t(const llvm::Instruction &)> Location);

} // namespace trackway
