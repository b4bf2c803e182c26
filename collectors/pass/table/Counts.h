// The table's entry for a function that counts.
#pragma once

#include "code/InstructionMix.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trackway {

// A counter, or what is derived from counters and earlier derived ones.
struct CountVariable {
    bool IsDerived;
    uint32_t Index;
};

struct CountTerm {
    CountVariable Variable;
    int64_t Factor;
};

using CountSum = std::vector<CountTerm>;

// The table's numbers for the kinds of steps; docs/format.md, section 2, list 15.
enum class CountingStep : uint8_t { InMemory = 0, InRegister = 1 };

struct StepCount {
    CountingStep Step;
    CountSum Times; // of counters and derived variables of the function
};

// An access of a block that is counted.
struct CountedAccess {
    uint32_t Index; // in the function's accesses
    bool IsDynamic; // else one access of its size for each execution
    CountSum Accesses, Bytes;
};

struct CountedBlock {
    uint32_t Location; // in the table
    CountSum Executions;
    InstructionMix Mix;
    std::vector<CountedAccess> Accesses;
    std::vector<std::string> Callees; // that the module doesn't define; empty: an indirect call
};

// A function out of the module of whose calls some are timed.
struct CalleeTimes {
    std::string Callee;
    uint32_t FirstCounter; // of CountersOfCallee ones
};

struct CountedFunction {
    uint32_t Counters = 0;
    std::vector<CountSum> Derived;
    std::vector<CountedBlock> Blocks;
    std::vector<CalleeTimes> TimedCallees;
    std::vector<StepCount> Steps;
};

} // namespace trackway
