// The static table of a translation unit: what its records mean. docs/format.md, section 2, is the layout.
#pragma once

#include "names/Attribution.h"
#include "names/SourceChecksum.h"
#include "table/Counts.h"
#include "table/FunctionRecord.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/DebugInfoMetadata.h"

namespace trackway {

class ModuleTable {
  public:
    static constexpr uint16_t Version = 2;

    // Bits of the table's flags.
    enum Flag : uint16_t {
        HasOracle = 1,
        RecordsCalls = 2,
        RecordsOrder = 4,
        Counts = 8,
        HasFlow = 32,
        HasChecksums = 64,
        IsPacked = 128,
        HasWork = 256,
        HasWaits = 512,
        HasRegions = 1024
    };

    ModuleTable(const llvm::Module &M, const Namer &Names, uint16_t Flags);

    uint32_t segmentCount() const { return NextSegment; }
    void addFunction(const FunctionRecord &R);
    // The location of an instruction, or of a neighbour if it has none. The function isn't instrumented yet.
    uint32_t location(const llvm::Instruction &I);
    // Adds the counts of the function that was added last.
    void addCounts(const CountedFunction &C);
    uint32_t counterCount() const { return NextCounter; }
    // The names of the module's regions, and a segment for records that say in which of them a thread is. Gives 1 + its
    // number.
    uint32_t addRegions(llvm::ArrayRef<llvm::StringRef> RegionNames);

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
    void addSegment(const Segment &S, const FunctionRecord &R, uint32_t Function);
    void writeSum(llvm::raw_ostream &OS, const CountSum &Sum) const;
    void addWork(const AccessWork &W);
    void addSite(const NamedAccess &N, uint32_t Function);
    void addSegmentOfRegions(uint32_t Function);
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
        DerivedList, BlockList, CalleeList, StepList, FlowList, ChecksumList, WorkList, WaitsList, RegionList;
    bool AnyWaits = false;
};

} // namespace trackway
