// Roots that mostly are what the decoder holds already.
//
// The program remembers what the decoder knows of such a root and compares: where an expectation of a unit fails, it
// stores a correction before the record, after which the expectation holds. What a steady loop makes likely is
// remembered in variables as long as the loop runs. What outlives calls, high halves of pointers and what other loops
// advance by one constant, is remembered in thread-local memory.
#pragma once

#include "record/Plan.h"

namespace trackway {

// What the loop makes likely of the root, if anything, without the registers:
// - A pointer or an index that is loaded in each iteration from the same place is mostly the same, or further by the
//   constant with which the loop stores it there.
// - A value that most paths through the loop leave alone, or advance by one constant, mostly does so.
// - Any other pointer mostly lies in the same 4 GiB as the last one.
std::optional<Expectation> expected(const Root &R, const llvm::LoopInfo &LI,
                                    const llvm::DenseSet<const llvm::Loop *> &SteadyLoops, const Decomposer &Decompose);

// Gives the registers of the plan their expectations, which begin before the loop.
void addExpectations(Plan &P, const llvm::Function &F, const llvm::LoopInfo &LI,
                     const llvm::DenseSet<const llvm::Loop *> &SteadyLoops, const Decomposer &Decompose);

// Whether it is expected in this block.
bool holdsIn(const Expectation &E, const llvm::BasicBlock *BB);

// The expectation of what the operation records in this block, or null.
const Expectation *expectationOf(const Plan &P, const Unit &U, const Operation &O);
bool hasExpectations(const Plan &P, const Unit &U);

// The operations of the unit's record, for which all expectations hold, and those that make them hold.
std::vector<Operation> recordOperations(const Plan &P, const Unit &U);
std::vector<Operation> correctionOperations(const Plan &P, const Unit &U);
// A shorter correction, which makes the unit's only expectation hold if the root is not far off. None for other units.
std::vector<Operation> nearCorrectionOperations(const Plan &P, const Unit &U);

} // namespace trackway
