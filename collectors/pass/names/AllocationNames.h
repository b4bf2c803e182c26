// Names what allocation calls make room for. The names are found early, and kept in metadata of the call, which is
// dropped only with the call.
#ifndef TRACKWAY_ALLOCATIONNAMES_H
#define TRACKWAY_ALLOCATIONNAMES_H

#include "names/Attribution.h"

namespace llvm {
class DIType;
} // namespace llvm

namespace trackway {

class DebugTypes;
class Referents;

class AllocationNames {
  public:
    AllocationNames(const DebugTypes &Types, const Referents &Where) : Types(Types), Where(Where) {}

    // Infers the name from the variable that takes the result, the type that `new` names, or the type that the code
    // treats the result as.
    AllocationName infer(const llvm::CallBase &) const;

  private:
    void fromAssignment(const llvm::Value *Address, AllocationName &) const;
    void setElement(const llvm::DIType *, AllocationName &) const;

    const DebugTypes &Types;
    const Referents &Where;
};

void attachAllocationName(llvm::CallBase &, const AllocationName &);
AllocationName readAllocationName(const llvm::CallBase &);
void removeAllocationName(llvm::CallBase &);

} // namespace trackway

#endif
