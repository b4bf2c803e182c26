// Names from type-based alias metadata, the last resort.
#ifndef TRACKWAY_TBAANAMES_H
#define TRACKWAY_TBAANAMES_H

#include "names/Attribution.h"
#include "names/FieldPaths.h"

namespace trackway {

class DebugTypes;

// Object type, field and value type as far as the access tag knows them; never a variable.
AccessName tbaaName(const llvm::Instruction &, const AccessShape &, const DebugTypes &, const FieldPaths &);

} // namespace trackway

#endif
