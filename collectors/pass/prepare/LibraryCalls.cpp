#include "prepare/LibraryCalls.h"

#include "code/LibraryAccesses.h"

#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace trackway {

namespace {

struct LibraryCall {
    CallBase *Call;
    CallEffects Effects;
    uint32_t Location;
    std::vector<AccessName> Names; // of the effects
    AllocationName Allocated;
};

LibraryCall namedLibraryCall(CallBase &Call, CallEffects Effects, const Namer &Names, ModuleTable &Table) {
    LibraryCall Found{&Call, std::move(Effects), Table.location(Call), {}, {}};
    for (const LibraryEffect &E : Found.Effects.rule()) {
        if (E.K == LibraryEffect::Kind::Allocate)
            Found.Allocated = Names.allocation(Call);
        Found.Names.push_back(Names.name(Call, originOf(E, Call), 0, Found.Names.size()));
    }
    return Found;
}

void addRange(const Access &A, AccessName Name, uint32_t Location, const Filter &Filters, FunctionRecord &R) {
    bool IsFiltered = Filters.skipsAccess(*A.Where, Name);
    ++R.Covered.Accesses;
    ++(IsFiltered ? R.Covered.Filtered : R.Covered.Recorded);
    if (!IsFiltered)
        R.Accesses.push_back({A, std::move(Name), Location});
}

void addLibraryCall(LibraryCall &Each, uint32_t Ordinal, const Filter &Filters, FunctionRecord &R) {
    uint8_t Part = 0;
    for (const LibraryRange &Range : insertRanges(*Each.Call, Each.Effects.rule())) {
        if (Range.K == LibraryEffect::Kind::Allocate) {
            AllocationCall A{Each.Call, Ordinal, AllocationOperation::Allocate, Range.Anchor, Range.Pointer};
            A.Size = Range.Length;
            R.Allocations.push_back({A, Each.Allocated});
        } else {
            Access A = accessOf(*Each.Call, Range, Part);
            A.Ordinal = Ordinal;
            addRange(A, std::move(Each.Names[Part]), Each.Location, Filters, R);
        }
        ++Part;
    }
}

} // namespace

// Names and lines come from what the program wrote, so all are found before anything is inserted.
void addLibraryCalls(Function &F, const LibraryEffects &Library, const DenseMap<const Instruction *, uint32_t> &Numbers,
                     const Filter &Filters, const Namer &Names, ModuleTable &Table, FunctionRecord &R) {
    std::vector<LibraryCall> Found;
    for (Instruction &I : instructions(F)) {
        auto *Call = dyn_cast<CallBase>(&I);
        if (std::optional<CallEffects> Effects = Call ? Library.find(*Call) : std::nullopt)
            Found.push_back(namedLibraryCall(*Call, std::move(*Effects), Names, Table));
    }
    for (LibraryCall &Each : Found)
        addLibraryCall(Each, Numbers.lookup(Each.Call), Filters, R);
}

} // namespace trackway
