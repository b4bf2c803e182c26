// The static table of a translation unit: what its records mean. docs/format.md, section 2, is the layout.
#pragma once

#include "Attribution.h"
#include "ControlFlow.h"
#include "CountingCost.h"
#include "Flow.h"
#include "InstructionMix.h"
#include "Plan.h"
#include "SourceChecksum.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/DebugInfoMetadata.h"

namespace trackway {

// One way to record a unit, or its resume.
struct Segment {
    uint8_t LocalId = 0; // 0: only ever recorded with its global id
    std::vector<Operation> Operations;
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
};

struct NamedAllocation {
    AllocationCall Call;
    AllocationName Name;
};

struct FunctionRecord {
    llvm::Function *F;
    std::string LinkageName; // when it was selected: the body may have moved since
    std::vector<NamedAccess> Accesses;
    std::vector<NamedAllocation> Allocations;
    std::vector<OrderPoint> OrderPoints;
    std::vector<Root> Registers;
    std::vector<Segment> Segments;
    std::vector<FlowPiece> Flow;     // empty: unknown
    bool IsCalledByNameOnly = false; // by code of its own module
    Coverage Covered;
    bool IsLeftAlone = false; // nothing of it is instrumented
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

class ModuleTable {
  public:
    // What stands in the table's flags.
    enum Flag : uint16_t {
        HasOracle = 1,
        RecordsCalls = 2,
        RecordsOrder = 4,
        Counts = 8,
        HasFlow = 32,
        HasChecksums = 64
    };

    ModuleTable(const llvm::Module &M, const Namer &Names, uint16_t Flags);

    uint32_t segmentCount() const { return NextSegment; }
    void addFunction(const FunctionRecord &R);
    // Of an instruction of a function that nobody has instrumented yet: its neighbours count.
    uint32_t location(const llvm::Instruction &I);
    // Of the function that was added last.
    void addCounts(const CountedFunction &C);
    uint32_t counterCount() const { return NextCounter; }

    // Whole table with its header.
    std::string serialize() const;
    // The static variables that the table uses, in its order.
    std::vector<llvm::GlobalVariable *> symbols() const;

  private:
    uint32_t string(llvm::StringRef Text);
    uint32_t location(const llvm::DILocation *L);
    uint32_t addLocation(llvm::StringRef Function, const llvm::DIFile *File, unsigned Line, unsigned Column,
                         uint32_t Parent);
    void addChecksum(const std::optional<SourceChecksum> &Checksum, uint32_t Path);
    uint32_t symbol(llvm::GlobalVariable *G);
    void writeSymbol(llvm::raw_ostream &OS, llvm::GlobalVariable *G);
    void writeOperation(llvm::raw_ostream &OS, const Operation &O, const FunctionRecord &R);
    void writeExpression(llvm::raw_ostream &OS, const RegisterExpression &E);
    void writeSum(llvm::raw_ostream &OS, const CountSum &Sum) const;
    void addSite(const NamedAccess &N, uint32_t Function);
    void addFlow(const FunctionRecord &R);
    void addAllocationSite(const NamedAllocation &N, uint32_t Function);
    void noteType(llvm::StringRef Name);
    void writeType(llvm::raw_ostream &OS, const TypeLayout &T);

    struct Body {
        uint32_t Count = 0;
        std::string Bytes;
    };

    const llvm::Module &M;
    const Namer &Names;
    uint16_t Flags;
    uint32_t SourceFile, Producer;
    uint32_t NextSegment = 0, NextCounter = 0;
    uint32_t FirstCounterOfFunction = 0, FirstDerivedOfFunction = 0;
    llvm::StringMap<uint32_t> StringIds;
    llvm::MapVector<llvm::GlobalVariable *, uint32_t> Symbols;
    llvm::DenseMap<const llvm::DILocation *, uint32_t> LocationIds;
    llvm::DenseMap<const llvm::DIFile *, uint32_t> FileIds;
    std::vector<std::string> TypeNames; // of sites, allocations and symbols, each once
    llvm::StringSet<> NotedTypes, NotedChecksums;
    uint32_t FirstSiteOfFunction = 0, FirstAllocationOfFunction = 0;
    Body StringList, SymbolList, LocationList, FunctionList, SiteList, AllocationList, SegmentList, TypeList,
        DerivedList, BlockList, CalleeList, StepList, FlowList, ChecksumList;
};

} // namespace trackway
