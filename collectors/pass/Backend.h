// What LLVM's back end is told because its input is instrumented.
#pragma once

namespace trackway {

// Recorded code has many values that live all over a function with many edges, such as the cursor in an interpreter's
// main loop. To merge their copies the register coalescer tries each against intervals of thousands of pieces: half the
// time of compiling Lua's lvm.c. This bounds the tries by an option of LLVM, unless the command line already does.
void boundCoalescing();

} // namespace trackway
