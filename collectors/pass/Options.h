// What the user asked of the pass, from the environment variable TRACKWAY_PASS_OPTIONS (options through -mllvm fail on
// some drivers and linkers).
#pragma once

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace trackway {

// The point in the optimiser's pipeline at which accesses are selected.
enum class Place {
    Start, // as the front end wrote them
    Early, // after simplification and inlining, before loop transformations and vectorisation
    Late,  // after optimisation: the accesses that the machine makes
};

struct Options {
    Place Where = Place::Late;
    bool RecordCalls = true;    // function entry and exit
    bool RecordOrder = true;    // time stamps where threads synchronise
    bool RecordLibrary = true;  // what library functions read and write
    bool SplitLoops = true;     // threads join windows within loops that contain calls
    bool Oracle = false;        // also report each access by a call, found by an independent walk
    bool Count = false;         // count accesses instead of recording them
    bool OracleOnly = false;    // only those calls: for comparison, records nothing
    bool IsUnoptimised = false; // the compiler's level is -O0, which the pipeline tells
    std::vector<std::string> IgnoreLists;
    std::vector<std::string> AllocatorFiles;
    std::vector<std::string> LibraryFiles;
    std::vector<std::string> Values;  // patterns of ValueSelection
    std::vector<std::string> Regions; // globs of functions that are regions of interest

    // `key=value` pairs separated by `:`, which stands as `\:` in a value; an unknown key or value is an error that
    // names it.
    static llvm::Expected<Options> parse(llvm::StringRef Text);
    static llvm::Expected<Options> fromEnvironment();
};

} // namespace trackway
