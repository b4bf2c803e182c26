// The plan of a function: what is recorded where. Nothing is inserted yet.
//
// A unit is a piece of a basic block without calls. A unit that has something to say becomes a segment of the record
// stream, alone or with those before it. Everything a unit may rely on (that the decoder knows the function, that a
// root is in its register) is "available": recorded on every path since the last call.
#pragma once

#include "abi.h"
#include "code/Accesses.h"
#include "code/Allocators.h"
#include "code/Root.h"
#include "code/SpinWaits.h"
#include "code/Synchronisation.h"
#include "record/BlockFrequencies.h"
#include "table/Operation.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"

#include <array>
#include <optional>
#include <vector>

namespace trackway {

struct Unit {
    Unit(llvm::BasicBlock *Block, llvm::Instruction *End, bool EndsInCall)
        : Block(Block), End(End), EndsInCall(EndsInCall) {}

    llvm::BasicBlock *Block;
    llvm::Instruction *End; // the call that ends it, or the block's terminator
    bool EndsInCall;
    std::vector<Operation> Operations;
    bool KeepsRegisters =
        false; // what the registers hold before the call at its end, they hold after it (Activation.h)

    // What the data flow finds:
    bool ContextKnown = false;  // on entry the decoder knows the function and the cursor is in its variable
    bool FunctionKnown = false; // the former at least
    bool Checks = false;        // tests for the end of the buffer
    // The unit whose record this one's takes the place of, repeating it (Paths.h).
    std::optional<unsigned> Continues;
    // What is recorded again, in a fresh buffer or after a call in which another activation of the function recorded,
    // and what is then added to the registers.
    std::vector<Register> Resume;
    std::vector<Operation> ResumeSteps;
    std::vector<Register> ResumeForgets;

    unsigned payloadBytes(const std::vector<Root> &Registers) const;
    bool hasRecord() const { return !Operations.empty(); }
    // Whether its check, when it fails, records again what must be known.
    bool resumes() const { return Checks && (FunctionKnown || leansOnRegisters()); }
    // Whether it leans on registers that were set before a call.
    bool resumesActivation() const { return !ContextKnown && leansOnRegisters(); }
    bool leansOnRegisters() const { return !Resume.empty() || !ResumeForgets.empty(); }
};

// What is likely of a root (Expect.h).
struct Expectation {
    enum class Kind { SameValue, SameHighHalf };

    Kind K;
    int64_t Step = 0;     // SameValue: what is expected is the last value + this
    const llvm::Loop *In; // SameValue: the loop in which it is expected
    Register Remembered =
        0; // holds what is expected: the last value, or in a register of the stream the high half × 2^32
    Register Low = 0, High = 0; // SameHighHalf: the halves of the root
    Register Near = 0;          // SameValue: by how much the root is off, if 4 bytes hold that
};

struct Plan {
    Register addRegister(const Root &R, bool IsUnitLocal);

    std::vector<const llvm::Loop *> FoldedLoops; // that one operation stands for
    bool KeepsFrameSmall = false;                // as in the input
    unsigned Window = 0;                         // which of the stream's registers the function sees
    bool Feasible = true;                        // false: some record would not fit in a buffer
    std::vector<Unit> Units;                     // those of a block follow each other
    std::vector<Root> Registers;
    // For a register that is stepped: the loop outside of which it doesn't stand for its root, else null.
    // StepAfter: the loop that steps it, and by how much it is ahead of its root after that loop.
    std::vector<const llvm::Loop *> KnownIn;
    std::vector<std::pair<const llvm::Loop *, int64_t>> StepAfter;
    // For a register that is stepped at the head of its loop: what undoes the step.
    std::vector<std::optional<Operation>> UndoStep;
    std::vector<std::optional<Expectation>> Expectations;                // by register
    std::vector<std::optional<Expectation>> Elsewhere;                   // where those don't hold
    std::array<Register, 4> Skipped{};                                   // hold 1, 2, 4 and 8 bytes that mean nothing
    std::vector<bool> UnitLocal;                                         // registers that no other unit may rely on
    std::vector<llvm::Instruction *> PublishBefore;                      // the cursor must be in memory before these
    std::vector<std::pair<llvm::Instruction *, unsigned>> PublishOnEdge; // terminator and successor
};

struct PlanInput {
    llvm::Function &F;
    llvm::DominatorTree &DT;
    llvm::LoopInfo &LI;
    BlockFrequencies &Frequencies;
    llvm::ArrayRef<Access> Accesses;
    llvm::ArrayRef<AllocationCall> Allocations;
    llvm::ArrayRef<OrderPoint> OrderPoints;
    llvm::ArrayRef<SpinWait> Waits;
    bool RecordCalls;
    // Code generation gives each value that crosses blocks a place on the stack: nothing of the program's may live
    // longer for being recorded, and nothing of ours but in slots that all records share.
    bool KeepsFrameSmall;
};

Plan makePlan(const PlanInput &In);

// Finds what holds where: drops what is available already, decides checks, resumes and publications.
void solveAvailability(Plan &P, const PlanInput &In);

// Longest payload of a unit in bytes, unless a single instruction needs more. Between two checks records of
// CheckBudget bytes fit in the slack of a buffer (TRACKWAY_SLACK in abi.h).
constexpr unsigned MaxUnitPayload = 1900;
constexpr unsigned CheckBudget = TRACKWAY_SLACK;
// Longest resume in bytes: after a call it must fit in the slack beside a unit.
constexpr unsigned MaxResumePayload = 2000;
// Longest payload of a record that continues another: a correction repeats it.
constexpr unsigned MaxPathPayload = 120;
// How deep loops may stand within each other in one record (docs/format.md, section 2.1).
constexpr unsigned MaxRepeatDepth = 16;
// Roots that may stay available from block to block.
constexpr unsigned MaxSharedRegisters = 128;

} // namespace trackway
