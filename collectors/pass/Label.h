// How names travel through the optimiser.
//
// Metadata of our own kind is dropped by most transformations. `!alias.scope` is kept, cloned and merged by all that
// keep alias metadata at all (SROA, InstCombine, GVN, the vectorisers, the inliner), and means nothing unless some
// `!noalias` list names the scope, which none ever does. So a label is an alias scope of our own domain, and its
// name *is* the label. Scope and domain are named by strings, not by themselves, so that the copies that the inliner
// makes are the same nodes again, and merged accesses keep the labels of both.
#ifndef TRACKWAY_LABEL_H
#define TRACKWAY_LABEL_H

#include "Attribution.h"
#include <optional>

namespace trackway {

// Which side of an instruction a label speaks of: a copy has two, and they stay apart when it becomes a load and a
// store, or when a load and a store become a copy.
enum class Role : char { Read = 'r', Write = 'w', Both = 'x' };

Role roleOf(const llvm::Instruction &, unsigned Part);

void attachLabel(llvm::Instruction &, Role, const AccessName &);

// What the labels of the instruction agree about; several are joined as FieldPaths joins candidates.
std::optional<AccessName> readLabel(const llvm::Instruction &, Role);

// Takes our scopes off and leaves those of others.
void removeLabel(llvm::Instruction &);

} // namespace trackway

#endif
