// Accesses that we have put into the program's code before it is looked at: they are nobody's.
#pragma once

#include "llvm/IR/Instruction.h"
#include "llvm/IR/Metadata.h"

namespace trackway {

inline constexpr const char *OurAccess = "trackway.ours";

inline void markOurs(llvm::Instruction &I) { I.setMetadata(OurAccess, llvm::MDNode::get(I.getContext(), {})); }

inline bool isOurAccess(const llvm::Instruction &I) { return I.hasMetadata(OurAccess); }

} // namespace trackway
