#include "prepare/RecordSelection.h"

#include "prepare/Dispatch.h"
#include "prepare/Preparation.h"

using namespace llvm;

namespace trackway {

bool isLeftAlone(const Function &F, const Filter &Filters) { return Filters.skipsFunction(F) || !canInstrument(F); }

FunctionRecord selectRecord(Function &F, const Filter &Filters, const Namer &Names, ModuleTable &Table,
                            bool NeedsCopy) {
    FunctionRecord R;
    R.F = &F;
    R.LinkageName = F.getName().str();
    FunctionAccesses Selected = selectAccesses(F);
    R.Covered.Accesses = Selected.Recordable.size() + Selected.Unrecordable;
    R.Covered.Unrecordable = Selected.Unrecordable;
    R.IsLeftAlone = isLeftAlone(F, Filters) || (NeedsCopy && !Dispatch::canKeepPlain(F));
    if (R.IsLeftAlone) {
        (Filters.skipsFunction(F) ? R.Covered.Filtered : R.Covered.Unrecordable) += Selected.Recordable.size();
        return R;
    }
    for (const Access &A : Selected.Recordable) {
        AccessName Name = Names.name(*A.Where, A.Pointer, A.Size, A.Part);
        if (Filters.skipsAccess(*A.Where, Name))
            ++R.Covered.Filtered;
        else
            R.Accesses.push_back({A, std::move(Name), Table.location(*A.Where)});
    }
    R.Covered.Recorded = R.Accesses.size();
    return R;
}

} // namespace trackway
