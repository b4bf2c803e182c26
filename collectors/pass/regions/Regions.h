// Regions of interest: marks in the source become calls that enter and leave a region.
//
// TRACKWAY_REGION_BEGIN and _END of trackway.h are calls of __trackway_begin_region and __trackway_end_region with a
// constant name. They need not stand in pairs: on whatever way the program goes, a region is open where it is open on
// all ways that lead there, and no longer than its function. So break, return and exceptions leave it. This is decided
// before inlining, while functions are what their author wrote.
//
// In programs that record, the same marks become calls of functions of their own (`__trackway_window_...`): a recorder
// may want to record nothing but some regions.
//
// Functions that are regions themselves have the annotation `trackway.region`, or a name that the user gave a glob for.
#pragma once

#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace trackway {

// Calls of the runtime that enter or leave a region in the function that holds them, or ask for the depth.
bool isRegionMark(const llvm::CallBase &Call);
// Whether the thread may count elsewhere, or count no longer, after the call.
bool changesState(const llvm::CallBase &Call);
// Whether it enters no region.
bool isRegionEnd(const llvm::CallBase &Call);
// Whether it is such a mark in the constructor or destructor of a guard: the region goes on past the function's end.
bool isScopeMark(const llvm::CallBase &Call);

// longjmp leaves the regions that were entered since setjmp.
void leaveRegionsBehind(llvm::CallInst &SetJump);

// Names of the functions that marks of windows call: in the function that is to switch, and in constructors and
// destructors of guards, which switch for who calls them.
llvm::ArrayRef<llvm::StringRef> windowMarks();
llvm::ArrayRef<llvm::StringRef> windowScopeMarks();

// Whether marks of regions stand in the module, or of scopes.
bool hasRegions(const llvm::Module &M);

// The names of the module's regions, each once. They are the module's constants.
std::vector<llvm::StringRef> regionNames(const llvm::Module &M);

class RegionPass : public llvm::PassInfoMixin<RegionPass> {
  public:
    // Without Counts the marks are those of windows.
    RegionPass(bool Counts, std::vector<std::string> Globs) : Counts(Counts), Globs(std::move(Globs)) {}
    llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
    static bool isRequired() { return true; }

  private:
    bool Counts;
    std::vector<std::string> Globs;
};

} // namespace trackway
