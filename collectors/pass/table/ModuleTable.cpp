#include "table/ModuleTable.h"

#include "LlvmVersion.h"
#include "names/DebugVariables.h"
#include "table/Encoding.h"
#include "table/OperationCode.h"
#include "table/OperationWriter.h"
#include "table/PackedBody.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace trackway {

ModuleTable::ModuleTable(const Module &M, const Namer &Names, uint16_t Flags) : M(M), Names(Names), Flags(Flags) {
    string("");
    SourceFile = string(M.getSourceFileName());
    auto Units = M.debug_compile_units();
    Producer = string(Units.begin() != Units.end() ? (*Units.begin())->getProducer() : "");
    addLocation("", nullptr, 0, 0, 0);
}

uint32_t ModuleTable::string(StringRef Text) {
    auto [It, New] = StringIds.try_emplace(Text, StringList.Count);
    if (New) {
        raw_string_ostream OS(StringList.Bytes);
        varint(OS, Text.size());
        OS << Text;
        ++StringList.Count;
    }
    return It->second;
}

static std::string pathOf(const DIFile &File) {
    if (sys::path::is_absolute(File.getFilename()) || File.getDirectory().empty())
        return File.getFilename().str();
    SmallString<128> Path(File.getDirectory());
    sys::path::append(Path, File.getFilename());
    sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
    return Path.str().str();
}

// Several descriptions of a file may have its name, with and without a checksum.
void ModuleTable::addChecksum(const std::optional<SourceChecksum> &Checksum, uint32_t Path) {
    if (!Checksum)
        return;
    std::string Entry;
    {
        raw_string_ostream OS(Entry);
        varint(OS, Path);
        byte(OS, static_cast<uint8_t>(Checksum->K));
        OS << Checksum->Digest;
    }
    if (!NotedChecksums.insert(Entry).second)
        return;
    ChecksumList.Bytes += Entry;
    ++ChecksumList.Count;
}

uint32_t ModuleTable::addLocation(StringRef Function, const DIFile *File, unsigned Line, unsigned Column,
                                  uint32_t Parent) {
    uint32_t FileString = 0;
    if (File) {
        auto [It, New] = FileIds.try_emplace(File, 0);
        if (New) {
            std::string Path = pathOf(*File);
            It->second = string(Path);
            addChecksum(sourceChecksum(*File, Path, M), It->second);
        }
        FileString = It->second;
    }
    raw_string_ostream OS(LocationList.Bytes);
    varint(OS, string(Function));
    varint(OS, FileString);
    varint(OS, Line);
    varint(OS, Column);
    varint(OS, Parent);
    return LocationList.Count++;
}

static StringRef linkageName(const DISubprogram &S) {
    return S.getLinkageName().empty() ? S.getName() : S.getLinkageName();
}

uint32_t ModuleTable::location(const DILocation *L) {
    if (!L)
        return 0;
    if (auto It = LocationIds.find(L); It != LocationIds.end())
        return It->second;
    const DILocation *InlinedAt = L->getInlinedAt();
    uint32_t Parent = InlinedAt ? 1 + location(InlinedAt) : 0;
    const DISubprogram *Function = L->getScope()->getSubprogram();
    uint32_t Id =
        addLocation(Function ? linkageName(*Function) : "", L->getFile(), L->getLine(), L->getColumn(), Parent);
    LocationIds[L] = Id;
    return Id;
}

uint32_t ModuleTable::symbol(GlobalVariable *G) { return Symbols.insert({G, Symbols.size()}).first->second; }

// The nearest instruction of the block that has a line of the same function's text.
static const DILocation *neighbour(const Instruction &I, const DISubprogram *Function) {
    auto Fits = [&](const Instruction &Other) {
        const DILocation *L = Other.getDebugLoc();
        return L && L->getLine() != 0 && (!Function || L->getScope()->getSubprogram() == Function);
    };
    for (const Instruction *Before = I.getPrevNode(); Before; Before = Before->getPrevNode())
        if (Fits(*Before))
            return Before->getDebugLoc();
    for (const Instruction *After = I.getNextNode(); After; After = After->getNextNode())
        if (Fits(*After))
            return After->getDebugLoc();
    return nullptr;
}

// If the optimiser joins accesses of several lines, it leaves no line. The nearest line of the same text stands for it
// then, with column 0 as a sign, or else the line at which the function begins.
uint32_t ModuleTable::location(const Instruction &I) {
    const DILocation *L = I.getDebugLoc();
    if (L && L->getLine() != 0)
        return location(L);
    const DISubprogram *Function = L ? L->getScope()->getSubprogram() : I.getFunction()->getSubprogram();
    if (!Function)
        return 0;
    const DILocation *Near = neighbour(I, Function);
    const DILocation *InlinedAt = Near ? Near->getInlinedAt() : L ? L->getInlinedAt() : nullptr;
    return addLocation(linkageName(*Function), Near ? Near->getFile() : Function->getFile(),
                       Near ? Near->getLine() : Function->getLine(), 0, InlinedAt ? 1 + location(InlinedAt) : 0);
}

std::vector<GlobalVariable *> ModuleTable::symbols() const {
    std::vector<GlobalVariable *> List;
    for (auto &[G, Index] : Symbols)
        List.push_back(G);
    return List;
}

void ModuleTable::addSite(const NamedAccess &N, uint32_t Function) {
    uint32_t Variable = string(N.Name.Variable), Object = string(N.Name.ObjectType), Field = string(N.Name.Field),
             Value = string(N.Name.ValueType);
    noteType(N.Name.ObjectType);
    raw_string_ostream OS(SiteList.Bytes);
    varint(OS, Function);
    varint(OS, N.A.Ordinal);
    byte(OS, N.A.Part);
    byte(OS, static_cast<uint8_t>(N.A.Kind));
    varint(OS, N.A.Size);
    varint(OS, N.Location);
    varint(OS, Variable);
    byte(OS, static_cast<uint8_t>(N.Name.Kind));
    varint(OS, Object);
    varint(OS, Field);
    varint(OS, Value);
    ++SiteList.Count;
}

void ModuleTable::addWork(const AccessWork &W) {
    raw_string_ostream OS(WorkList.Bytes);
    varint(OS, W.Instructions);
    varint(OS, W.Loads.size() * 2 + W.FromElsewhere);
    for (uint32_t Load : W.Loads)
        varint(OS, FirstSiteOfFunction + Load);
    ++WorkList.Count;
    raw_string_ostream Waits(WaitsList.Bytes);
    varint(Waits, W.Waits);
    ++WaitsList.Count;
    AnyWaits |= W.Waits != 0;
}

void ModuleTable::addAllocationSite(const NamedAllocation &N, uint32_t Function) {
    const CallBase *Call = N.Call.Call;
    uint32_t Where = location(*Call), Allocator = string(Call->getCalledFunction()->getName()),
             Element = string(N.Name.ElementType), Variable = string(N.Name.Variable);
    noteType(N.Name.ElementType);
    raw_string_ostream OS(AllocationList.Bytes);
    varint(OS, Function);
    varint(OS, N.Call.Ordinal);
    byte(OS, static_cast<uint8_t>(N.Call.Operation));
    varint(OS, Where);
    varint(OS, Allocator);
    varint(OS, Element);
    varint(OS, N.Name.ElementSize);
    varint(OS, Variable);
    ++AllocationList.Count;
}

static unsigned operationCount(ArrayRef<Operation> Operations) {
    return count_if(Operations, [](const Operation &O) { return O.K != Operation::Kind::Context; });
}

void ModuleTable::addSegment(const Segment &S, const FunctionRecord &R, uint32_t Function) {
    unsigned Length = 0;
    for (const Operation &O : S.Operations)
        if (O.K == Operation::Kind::LogRoot)
            Length += R.Registers[O.Target].width();
    raw_string_ostream OS(SegmentList.Bytes);
    varint(OS, Function);
    varint(OS, S.LocalId);
    varint(OS, Length);
    varint(OS, operationCount(S.Operations));
    auto SymbolOf = [&](GlobalVariable *G) { return symbol(G); };
    auto LocationOf = [&](const Instruction &I) { return location(I); };
    OperationWriter Writer(OS, R, {FirstSiteOfFunction, FirstAllocationOfFunction}, {SymbolOf, LocationOf});
    for (const Operation &O : S.Operations)
        Writer.write(O);
}

void ModuleTable::addFunction(const FunctionRecord &R) {
    uint32_t Id = FunctionList.Count++;
    FirstSiteOfFunction = SiteList.Count;
    FirstAllocationOfFunction = AllocationList.Count;
    for (const NamedAccess &N : R.Accesses) {
        addSite(N, Id);
        if (Flags & HasWork)
            addWork(N.Work);
    }
    for (const NamedAllocation &N : R.Allocations)
        addAllocationSite(N, Id);

    const DISubprogram *Text = R.F->getSubprogram();
    uint32_t Where = Text ? addLocation(linkageName(*Text), Text->getFile(), Text->getLine(), 0, 0) : 0;
    uint32_t Linkage = string(R.LinkageName), Source = string(Text ? Text->getName() : R.LinkageName);
    raw_string_ostream OS(FunctionList.Bytes);
    varint(OS, Linkage);
    varint(OS, Source);
    varint(OS, Where);
    varint(OS, R.HasPlainCopy);
    varint(OS, NextSegment);
    varint(OS, R.Segments.size());
    varint(OS, StreamRegisters + R.Registers.size());
    varint(OS, R.Window);
    for (uint32_t Count : {R.Covered.Accesses, R.Covered.Recorded, R.Covered.Filtered, R.Covered.Unrecordable})
        varint(OS, Count);

    for (const Segment &S : R.Segments)
        addSegment(S, R, Id);
    addFlow(R);
    SegmentList.Count += R.Segments.size();
    NextSegment += R.Segments.size();
}

// As docs/format.md has it: a byte says how many regions the thread is in, and eight which the last one is. The
// registers are the function's own, so that the stream's stay as they are.
void ModuleTable::addSegmentOfRegions(uint32_t Function) {
    constexpr uint32_t Depth = StreamRegisters, Name = StreamRegisters + 1;
    raw_string_ostream OS(SegmentList.Bytes);
    varint(OS, Function);
    varint(OS, 0); // no local id
    varint(OS, 1 + 8);
    varint(OS, 3);
    auto AddRoot = [&](uint32_t Register, uint8_t Width) {
        byte(OS, static_cast<uint8_t>(OperationCode::Root));
        varint(OS, Register);
        byte(OS, Width);
    };
    AddRoot(Depth, 1);
    AddRoot(Name, 8);
    byte(OS, static_cast<uint8_t>(OperationCode::Region));
    for (uint32_t Register : {Depth, Name}) {
        varint(OS, 2); // one register, no symbol
        svarint(OS, 0);
        varint(OS, Register);
        svarint(OS, 1);
    }
    ++SegmentList.Count;
}

uint32_t ModuleTable::addRegions(ArrayRef<StringRef> RegionNames) {
    for (StringRef Name : RegionNames) {
        raw_string_ostream OS(RegionList.Bytes);
        varint(OS, string(Name));
        ++RegionList.Count;
    }
    uint32_t Name = string("[regions]");
    raw_string_ostream OS(FunctionList.Bytes);
    for (uint32_t Field : {Name, Name, 0u, 0u, NextSegment, 1u, StreamRegisters + 2, 0u})
        varint(OS, Field);
    for (int Coverage = 0; Coverage < 4; ++Coverage)
        varint(OS, 0);
    addSegmentOfRegions(FunctionList.Count++);
    raw_string_ostream FlowOS(FlowList.Bytes);
    byte(FlowOS, 0);
    varint(FlowOS, 0);
    ++FlowList.Count;
    return ++NextSegment;
}

void ModuleTable::addFlow(const FunctionRecord &R) {
    raw_string_ostream OS(FlowList.Bytes);
    byte(OS, R.IsCalledByNameOnly);
    varint(OS, R.Flow.size());
    for (const FlowPiece &Piece : R.Flow) {
        byte(OS, static_cast<uint8_t>(Piece.E) | static_cast<uint8_t>(Piece.L) << 4);
        varint(OS, Piece.Location);
        varint(OS, Piece.Callee.empty() ? 0 : string(Piece.Callee));
        varint(OS, Piece.Instructions);
        varint(OS, Piece.Segment ? 1 + *Piece.Segment : 0);
        varint(OS, Piece.Continues ? 1 + *Piece.Continues : 0);
        varint(OS, Piece.Successors.size());
        for (unsigned Successor : Piece.Successors)
            varint(OS, Successor);
    }
    ++FlowList.Count;
}

void ModuleTable::writeSum(raw_ostream &OS, const CountSum &Sum) const {
    varint(OS, Sum.size());
    for (const CountTerm &T : Sum) {
        uint64_t First = T.Variable.IsDerived ? FirstDerivedOfFunction : FirstCounterOfFunction;
        varint(OS, (First + T.Variable.Index) * 2 + T.Variable.IsDerived);
        svarint(OS, T.Factor);
    }
}

void ModuleTable::addCounts(const CountedFunction &C) {
    FirstCounterOfFunction = NextCounter;
    FirstDerivedOfFunction = DerivedList.Count;
    raw_string_ostream DerivedOS(DerivedList.Bytes), OS(BlockList.Bytes);
    for (const CountSum &Sum : C.Derived)
        writeSum(DerivedOS, Sum);
    for (const CountedBlock &B : C.Blocks) {
        varint(OS, FunctionList.Count - 1);
        varint(OS, B.Location);
        writeSum(OS, B.Executions);
        for (uint32_t Count : B.Mix)
            varint(OS, Count);
        varint(OS, B.Accesses.size());
        for (const CountedAccess &A : B.Accesses) {
            varint(OS, FirstSiteOfFunction + A.Index);
            byte(OS, A.IsDynamic);
            if (A.IsDynamic) {
                writeSum(OS, A.Accesses);
                writeSum(OS, A.Bytes);
            }
        }
        varint(OS, B.Callees.size());
        for (const std::string &Callee : B.Callees)
            varint(OS, string(Callee));
    }
    raw_string_ostream CalleeOS(CalleeList.Bytes);
    for (const CalleeTimes &Times : C.TimedCallees) {
        varint(CalleeOS, string(Times.Callee));
        varint(CalleeOS, FirstCounterOfFunction + Times.FirstCounter);
    }
    raw_string_ostream StepOS(StepList.Bytes);
    for (const StepCount &S : C.Steps) {
        byte(StepOS, static_cast<uint8_t>(S.Step));
        writeSum(StepOS, S.Times);
    }
    StepList.Count += C.Steps.size();
    CalleeList.Count += C.TimedCallees.size();
    DerivedList.Count += C.Derived.size();
    BlockList.Count += C.Blocks.size();
    NextCounter += C.Counters;
}

void ModuleTable::noteType(StringRef Name) {
    if (!Name.empty() && NotedTypes.insert(Name).second)
        TypeNames.push_back(Name.str());
}

void ModuleTable::writeType(raw_ostream &OS, const TypeLayout &T) {
    varint(OS, string(T.Name));
    byte(OS, static_cast<uint8_t>(T.Kind));
    varint(OS, T.Size);
    varint(OS, T.Alignment);
    varint(OS, T.Members.size());
    for (const MemberLayout &Member : T.Members) {
        varint(OS, string(Member.Name));
        varint(OS, string(Member.Type));
        byte(OS, static_cast<uint8_t>(Member.Kind));
        varint(OS, Member.OffsetInBits);
        varint(OS, Member.SizeInBits);
        varint(OS, Member.Alignment);
        varint(OS, Member.Nested ? 1 + *Member.Nested : 0);
    }
}

void ModuleTable::writeSymbol(raw_ostream &OS, GlobalVariable *G) {
    const DIGlobalVariable *V = describedVariable(*G);
    varint(OS, string(V ? V->getName() : G->getName()));
    std::string Type = V ? Names.type(V->getType()) : "";
    noteType(StringRef(Type).take_until([](char Letter) { return Letter == '['; }));
    varint(OS, string(Type));
    varint(OS,
           G->getValueType()->isSized() ? M.getDataLayout().getTypeAllocSize(G->getValueType()).getFixedValue() : 0);
    varint(OS, V ? addLocation("", V->getFile(), V->getLine(), 0, 0) : 0);
}

std::string ModuleTable::serialize() const {
    // Symbols and types come before strings are complete: their names and places are strings and locations too.
    ModuleTable Complete = *this;
    {
        raw_string_ostream OS(Complete.SymbolList.Bytes);
        for (GlobalVariable *G : symbols())
            Complete.writeSymbol(OS, G);
        Complete.SymbolList.Count = Symbols.size();
        raw_string_ostream TypeOS(Complete.TypeList.Bytes);
        std::vector<TypeLayout> Types = Names.layouts(Complete.TypeNames);
        for (const TypeLayout &T : Types)
            Complete.writeType(TypeOS, T);
        Complete.TypeList.Count = Types.size();
    }
    std::string Text;
    raw_string_ostream OS(Text);
    auto WriteList = [&](const Body &B) {
        varint(OS, B.Count);
        OS << B.Bytes;
    };
    WriteList(Complete.StringList);
    varint(OS, SourceFile);
    varint(OS, Producer);
    WriteList(Complete.SymbolList);
    WriteList(Complete.LocationList);
    WriteList(Complete.FunctionList);
    WriteList(Complete.SiteList);
    WriteList(Complete.AllocationList);
    WriteList(Complete.SegmentList);
    WriteList(Complete.TypeList);
    if (Flags & Counts) {
        varint(OS, NextCounter);
        WriteList(Complete.DerivedList);
        WriteList(Complete.BlockList);
        WriteList(Complete.CalleeList);
        WriteList(Complete.StepList);
    }
    if (Flags & HasFlow)
        WriteList(Complete.FlowList);
    bool AnyChecksum = Complete.ChecksumList.Count != 0;
    if (AnyChecksum)
        WriteList(Complete.ChecksumList);
    if (Flags & HasWork)
        WriteList(Complete.WorkList);
    if (AnyWaits)
        WriteList(Complete.WaitsList);
    bool AnyRegion = Complete.RegionList.Count != 0;
    if (AnyRegion)
        WriteList(Complete.RegionList);

    bool Packed = packBody(Text);
    std::string Table;
    raw_string_ostream Out(Table);
    Out << StringRef("TWTABLE\0", 8);
    fixed(Out, Version, 2);
    fixed(Out,
          Flags | (AnyChecksum ? HasChecksums : 0) | (AnyWaits ? HasWaits : 0) | (AnyRegion ? HasRegions : 0) |
              (Packed ? IsPacked : 0),
          2);
    fixed(Out, NextCounter, 4);
    fixed(Out, contentHash(Text), 8);
    fixed(Out, Text.size(), 8);
    Out << Text;
    return Table;
}

} // namespace trackway
