#include "Backend.h"

#include "llvm/Support/CommandLine.h"

using namespace llvm;

namespace trackway {

static constexpr StringRef TriesOfLargeInterval = "large-interval-freq-threshold";
// LLVM's is 256.
static constexpr unsigned MostTries = 16;

void boundCoalescing() {
    cl::Option *Known = cl::getRegisteredOptions().lookup(TriesOfLargeInterval);
    if (Known && Known->getNumOccurrences() == 0)
        static_cast<cl::opt<unsigned> *>(Known)->setValue(MostTries);
}

} // namespace trackway
