// Prints a plan in words, for tests and for finding out what is recorded.
#pragma once

#include "record/Plan.h"

namespace trackway {

// A line for the function, one for each unit that records, one for each operation:
//     function sum
//       unit %3: local, checks, resume r0
//         root r0 = %p : 8
//         access 0 at r0 + 16
//     publish before ret
void printPlan(llvm::raw_ostream &OS, const llvm::Function &F, const Plan &P);

} // namespace trackway
