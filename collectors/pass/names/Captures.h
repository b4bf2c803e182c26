// What a closure of Rust has captured: debug information declares the variables as parts of the closure's environment.
#ifndef TRACKWAY_CAPTURES_H
#define TRACKWAY_CAPTURES_H

#include "names/DebugVariables.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace llvm {
class AllocaInst;
class DataLayout;
} // namespace llvm

namespace trackway {

struct Capture {
    const llvm::DILocalVariable *Variable = nullptr;
    uint64_t Offset = 0;      // bytes; in the environment, or of an address in the variable
    bool ByReference = false; // the environment has the variable's address
};

// The slot that has the environment's address, or the environment itself, to which the pointer leads.
struct Environment {
    const llvm::AllocaInst *Slot = nullptr;
    bool HasAddress = false;
};

Environment environment(const llvm::Value &Pointer);

// Which of the variables that are declared in the slot has this byte of the environment.
std::optional<Capture> captureAt(llvm::ArrayRef<AttachedVariable> Declared, const Environment &, uint64_t Offset,
                                 const llvm::DataLayout &);

} // namespace trackway

#endif
