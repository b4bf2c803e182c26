// Which instructions order a thread against others, and the time stamps that say so.
#pragma once

#include "code/SpinWaits.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"

#include <vector>

namespace trackway {

// What threads synchronise by. The numbers are those of docs/format.md, section 2.1.
enum class Synchroniser : uint8_t {
    Atomic,
    Fence,
    Lock,
    Condition,
    Semaphore,
    Barrier,
    Once,
    Thread,
    ParallelRegion,
};

// A place in the code at which the clock is read: before what other threads may learn from, or after what the thread
// may have learnt from others.
struct OrderPoint {
    llvm::Instruction *Where; // what synchronises
    uint32_t Ordinal;         // its position in its function before instrumentation
    bool IsAcquire;
    Synchroniser By;
    llvm::Value *Address;      // of what they synchronise by; none if there is none
    llvm::Value *Stamp;        // the clock as it was then
    llvm::Instruction *Anchor; // follows the stamp
};

// Inserts stamps at all order points of a function, whose instructions have these numbers, and lists them in the order
// of its blocks. A loop that waits has its releases before it begins, and what it acquires when it is over. Where
// frames are to stay small, stamps go through a place in memory, so that a call can put them there.
std::vector<OrderPoint> insertStamps(llvm::Function &F,
                                     const llvm::DenseMap<const llvm::Instruction *, uint32_t> &Numbers,
                                     llvm::ArrayRef<SpinWait> Waits, bool KeepsFrameSmall);

// If the call is the clock of a stamp that goes through memory, what stores it there.
llvm::StoreInst *storeOfClock(llvm::CallBase &Call);

// Whether code for this machine can read the clock in line.
bool hasClock(const llvm::Module &M);

// The instruction that runs first when the call has returned; that edge may be split.
llvm::Instruction *afterCall(llvm::CallBase &Call);

// Whether the call is one that reads the clock for a stamp.
bool readsClock(const llvm::CallBase &Call);

} // namespace trackway
