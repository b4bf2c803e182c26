#include "count/CountingCost.h"

using namespace llvm;

namespace trackway {

void CountingCost::add(CountingStep Step, const CountSum &Times) {
    for (const CountTerm &T : Times)
        Sums[Step][{T.Variable.IsDerived, T.Variable.Index}] += T.Factor;
}

void CountingCost::add(CountingStep Step, const BasicBlock &BB) {
    if (auto It = Executions.find(&BB); It != Executions.end())
        add(Step, CountSum{{It->second, 1}});
}

std::vector<StepCount> CountingCost::steps() const {
    std::vector<StepCount> Steps;
    for (const auto &[Step, Terms] : Sums) {
        Steps.push_back({Step, {}});
        for (const auto &[Variable, Factor] : Terms)
            Steps.back().Times.push_back({{Variable.first, Variable.second}, Factor});
    }
    return Steps;
}

} // namespace trackway
