// How often code that counts is executed: what counting costs follows from that.
#pragma once

#include "count/Flow.h"

#include <map>

namespace trackway {

// Sums up how often steps of each kind are executed.
class CountingCost {
  public:
    explicit CountingCost(const Flow &Solved) : Executions(Solved.Executions) {}

    void add(CountingStep Step, const CountSum &Times);
    // Adds a step for each execution of the block, which must be one that the flow was made of: others can't be
    // reached.
    void add(CountingStep Step, const llvm::BasicBlock &BB);

    // One entry for each kind of step that was added.
    std::vector<StepCount> steps() const;

  private:
    using Terms = std::map<std::pair<bool, uint32_t>, int64_t>; // by CountVariable

    const llvm::DenseMap<const llvm::BasicBlock *, CountVariable> &Executions;
    std::map<CountingStep, Terms> Sums;
};

} // namespace trackway
