// Instructions that we have put into the program's code before it is looked at: no accesses and branches of its own.
#pragma once

#include "llvm/IR/Instruction.h"
#include "llvm/IR/Metadata.h"

namespace trackway {

inline constexpr const char *OurInstruction = "trackway.ours";

inline void markOurs(llvm::Instruction &I) { I.setMetadata(OurInstruction, llvm::MDNode::get(I.getContext(), {})); }

inline bool isOurs(const llvm::Instruction &I) { return I.hasMetadata(OurInstruction); }

} // namespace trackway
