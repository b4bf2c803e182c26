// What the table says of a function that records: its accesses, allocations, registers, segments and control flow.
#pragma once

#include "code/AccessWork.h"
#include "code/Accesses.h"
#include "code/Allocators.h"
#include "code/Root.h"
#include "code/Synchronisation.h"
#include "names/Attribution.h"
#include "table/Operation.h"

#include <optional>
#include <string>
#include <vector>

namespace trackway {

// One way to record a unit, or its resume.
struct Segment {
    uint16_t LocalId = 0; // as it stands in the stream (LocalIds.h); 0: only ever recorded with its global id
    std::vector<Operation> Operations;
};

// A unit of the plan (record/Plan.h) as a node of the control flow.
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

// How much of a function's memory accesses is recorded.
struct Coverage {
    uint32_t Accesses = 0;
    uint32_t Recorded = 0;
    uint32_t Filtered = 0;
    uint32_t Unrecordable = 0;
};

struct NamedAccess {
    Access A;
    AccessName Name;
    uint32_t Location; // in the table
    AccessWork Work = {};
};

struct NamedAllocation {
    AllocationCall Call;
    AllocationName Name;
};

struct FunctionRecord {
    llvm::Function *F;
    std::string LinkageName; // when it was selected: the body may have moved since
    bool HasPlainCopy = true;
    std::vector<NamedAccess> Accesses;
    std::vector<NamedAllocation> Allocations;
    std::vector<OrderPoint> OrderPoints;
    std::vector<Root> Registers;
    unsigned Window = 0; // which of the stream's registers it sees
    std::vector<Segment> Segments;
    std::vector<FlowPiece> Flow;     // empty: unknown
    bool IsCalledByNameOnly = false; // by code of its own module
    Coverage Covered;
    bool IsLeftAlone = false; // nothing of it is instrumented
};

} // namespace trackway
