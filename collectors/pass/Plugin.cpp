// Registers the passes with clang (-fpass-plugin=) and opt (-load-pass-plugin=).
#include "Backend.h"
#include "LlvmVersion.h"
#include "Options.h"
#include "count/CountPass.h"
#include "names/Attribution.h"
#include "prepare/AllocatorPointers.h"
#include "record/RecordPass.h"
#include "regions/Regions.h"

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace trackway;

static Options optionsOrExit() {
    Expected<Options> O = Options::fromEnvironment();
    if (!O)
        report_fatal_error("trackway: " + Twine(toString(O.takeError())), /*gen_crash_diag=*/false);
    return *O;
}

static void addMainPass(ModulePassManager &MPM, Options O, OptimizationLevel Level) {
    O.IsUnoptimised = Level == OptimizationLevel::O0;
    if (O.Count)
        MPM.addPass(CountPass(O));
    else
        MPM.addPass(RecordPass(O));
    boundCoalescing();
}

static void registerInPipeline(PassBuilder &PB, const Options &O) {
    PB.registerPipelineStartEPCallback([O](ModulePassManager &MPM, OptimizationLevel Level) {
        MPM.addPass(AttributionPass(O.LibraryFiles));
        // Counts are those of the program's own code.
        if (!O.Count)
            MPM.addPass(AllocatorPointersPass());
        MPM.addPass(RegionPass(O.Count, O.Regions));
        if (O.Where == Place::Start)
            addMainPass(MPM, O, Level);
    });
    // Since 20 both callbacks are told, too, whether it is before, in or after a link.
    auto Add = [O](ModulePassManager &MPM, OptimizationLevel Level, auto...) { addMainPass(MPM, O, Level); };
    if (O.Where == Place::Early)
        PB.registerOptimizerEarlyEPCallback(Add);
    if (O.Where == Place::Late)
        PB.registerOptimizerLastEPCallback(Add);
}

static bool parsePassName(StringRef Name, ModulePassManager &MPM) {
    if (Name == "trackway-attribution")
        return MPM.addPass(AttributionPass(optionsOrExit().LibraryFiles)), true;
    if (Name == "trackway-allocator-pointers")
        return MPM.addPass(AllocatorPointersPass()), true;
    if (Name == "trackway-record")
        return MPM.addPass(RecordPass(optionsOrExit())), true;
    if (Name == "trackway-regions") {
        Options O = optionsOrExit();
        return MPM.addPass(RegionPass(O.Count, O.Regions)), true;
    }
    if (Name == "trackway-count")
        return MPM.addPass(CountPass(optionsOrExit())), true;
    if (Name == "print<trackway-plan>")
        return MPM.addPass(RecordPass(optionsOrExit(), &outs())), true;
    if (Name == "print<trackway-flow>")
        return MPM.addPass(RecordPass(optionsOrExit(), nullptr, &outs())), true;
    if (Name == "print<trackway-names>")
        return MPM.addPass(NamePrinterPass(outs())), true;
    return false;
}

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
    return {LLVM_PLUGIN_API_VERSION, "Trackway", LLVM_VERSION_STRING, [](PassBuilder &PB) {
                PB.registerPipelineParsingCallback(
                    [](StringRef Name, ModulePassManager &MPM, ArrayRef<PassBuilder::PipelineElement>) {
                        return parsePassName(Name, MPM);
                    });
                registerInPipeline(PB, optionsOrExit());
            }};
}
