// What is known of slots of the stack that no variable of the source lives in, by what Rust's code does with them.
#ifndef TRACKWAY_UNNAMEDSLOTS_H
#define TRACKWAY_UNNAMEDSLOTS_H

#include <cstdint>

namespace llvm {
class AllocaInst;
class CallBase;
class DIType;
class DataLayout;
class Use;
class Value;
} // namespace llvm

namespace trackway {

// Bytes; 0: known at run time only.
uint64_t slotSize(const llvm::AllocaInst &Slot, const llvm::DataLayout &);

// Whether the call returns something that takes the whole slot.
bool returnsInto(const llvm::CallBase &, const llvm::AllocaInst &Slot, const llvm::DataLayout &);

// Whether the function returns what is in the slot.
bool isReturned(const llvm::AllocaInst &Slot, const llvm::DataLayout &);

// Where a copy puts the whole slot, if this use is such a copy; else null.
const llvm::Value *copiedTo(const llvm::Use &, const llvm::AllocaInst &Slot, const llvm::DataLayout &);

// Where a copy takes the whole slot from, if this use is such a copy; else null.
const llvm::Value *copiedFrom(const llvm::Use &, const llvm::AllocaInst &Slot, const llvm::DataLayout &);

// The type that a known function takes the slot for, if this use passes its address; else null. Looks at the function's
// declarations alone: its code may have been changed by then, and nothing of it may be remembered.
const llvm::DIType *passedAs(const llvm::Use &);

} // namespace trackway

#endif
