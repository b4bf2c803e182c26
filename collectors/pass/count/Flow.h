// Which edges of a function's control flow have to be counted for the executions of all blocks to be known.
//
// What flows into a block flows through it and out of it. So edges that form a spanning tree of the flow, taken as
// undirected and closed by a node for the outside, follow from all others (Knuth and Stevenson, "Optimal measurement
// points for program frequency counts", 1973). The tree takes the edges that are dear to count; the others each get a
// counter.
#pragma once

#include "table/Counts.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Function.h"

#include <vector>

namespace llvm {
class LoopInfo;
}

namespace trackway {

struct FlowEdge {
    llvm::BasicBlock *From, *To; // null: the outside
    bool IsBlock;                // leads through the block that both are, not back to it
    bool Countable;              // whether there is a place that is executed just as often
    double Cost;                 // of counting it: executions of that place, as estimated
    CountVariable Variable{};
};

// Breaks of the flow stand at the end of their block: as its terminator, or as the last instruction before it.
struct FlowRules {
    // The code after it may not be executed, or may be reached by other ways.
    llvm::function_ref<bool(const llvm::Instruction &)> MayNotContinue;
    // The code after it belongs to other counters, or may be executed more than once.
    llvm::function_ref<bool(const llvm::Instruction &)> BeginsAnew;
    // Where all executions of an edge back to a loop's head can be counted before they come; null: nowhere.
    llvm::function_ref<const llvm::BasicBlock *(const llvm::BasicBlock &Latch, const llvm::BasicBlock &Head)>
        CountedAhead;
};

// The edges between all blocks that can be reached, and through them.
std::vector<FlowEdge> flowEdges(llvm::Function &F, const llvm::LoopInfo &LI, const FlowRules &Rules);

struct Flow {
    std::vector<FlowEdge> Edges;
    std::vector<uint32_t> Counted; // edges, in the order of their counters
    std::vector<CountSum> Derived;
    llvm::DenseMap<const llvm::BasicBlock *, CountVariable> Executions;
};

// Chooses the edges to count and finds what follows from them. Counters and derived variables start at 0.
Flow solveFlow(std::vector<FlowEdge> Edges);

} // namespace trackway
