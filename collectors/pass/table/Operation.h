// Describes what a record means, operation by operation: docs/format.md, section 2.1.
#pragma once

#include "abi.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instruction.h"

#include <vector>

namespace trackway {

using Register = unsigned;

// Registers from here on are the stream's, which functions share: so many as a function sees of them. Which they are
// depends on its window. They hold high halves of pointers; the program has these in struct trackway_cells (abi.h),
// too.
constexpr Register FirstStreamRegister = 1U << 20;
constexpr unsigned StreamRegisters = 32;
// A function's own ones and the stream's (docs/format.md, section 2.1).
constexpr unsigned MaxRegisters = 65535;

// An Expression over registers instead of roots.
struct RegisterExpression {
    llvm::GlobalVariable *Symbol = nullptr;
    int64_t Constant = 0;
    llvm::SmallVector<std::pair<Register, int64_t>, 2> Terms;
};

struct Operation {
    enum class Kind {
        Context, // nothing but that the decoder knows the function
        LogRoot,
        Set,
        Step,
        Forget, // register = 0: nothing is known of the root that is expected to repeat
        Single,
        Block,
        Masked,
        Gather,
        Value, // of the access before it
        Allocate,
        Free,
        Reallocate,
        Enter,
        Exit,
        Order,
        Repeat, // the body, Count times
    };

    Kind K;
    llvm::Instruction *Anchor; // takes place just before it
    Register Target = 0;       // LogRoot, Set, Step, Forget; mask of Masked and Gather
    Register FirstLane = 0;    // Gather
    unsigned FirstLaneIndex = 0;
    unsigned Lanes = 0; // Masked and Gather: at most 64
    unsigned Index = 0; // of the access, the allocation or the order point in the function's list; Value: of its access
    int64_t Delta = 0;  // Step
    RegisterExpression NewValue; // Set
    RegisterExpression Address;  // of what is accessed, allocated, freed or synchronised by; Reallocate: the new one
    RegisterExpression Size;     // Block: its length; Allocate, Reallocate: of an element
    RegisterExpression Count;    // Allocate, Reallocate: of elements; Repeat
    RegisterExpression Old;      // Reallocate: the old address
    RegisterExpression Stamp;    // Order
    std::vector<RegisterExpression> Words; // Value
    std::vector<Operation> Body;           // Repeat
};

// Visits the registers that the operation reads, but for the one that a step adds to.
void forRegistersRead(const Operation &O, llvm::function_ref<void(Register)> Visit);
// Also those that it sets.
void forRegistersTouched(const Operation &O, llvm::function_ref<void(Register)> Visit);

} // namespace trackway
