// The static table of a translation unit: what its records mean. docs/format.md, section 2, is the layout.
#pragma once

#include "code/Accesses.h"
#include "code/Allocators.h"
#include "code/Root.h"
#include "code/Synchronisation.h"
#include "table/Counts.h"
#include "table/Operation.h"

#include "names/Attribution.h"
#include "names/SourceChecksum.h"

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

class ModuleTable {
  public:
    // Bits of the table's flags.
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
    // The location of an instruction, or of a neighbour if it has none. The function isn't instrumented yet.
    uint32_t location(const llvm::Instruction &I);
    // Adds the counts of the function that was added last.
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
