#include "record/RecordPass.h"

#include "LlvmVersion.h"
#include "code/Accesses.h"
#include "code/Allocators.h"
#include "code/LibraryEffects.h"
#include "names/Attribution.h"
#include "oracle/Oracle.h"
#include "prepare/Dispatch.h"
#include "prepare/Filter.h"
#include "prepare/LibraryCalls.h"
#include "prepare/Preparation.h"
#include "prepare/RecordSelection.h"
#include "prepare/ValueSelection.h"
#include "record/CallMarks.h"
#include "record/Emit.h"
#include "record/FlowPrinter.h"
#include "record/Plan.h"
#include "record/PlanPrinter.h"
#include "record/RecordingWindow.h"
#include "record/SignalHandlers.h"
#include "record/WindowLoops.h"
#include "regions/Regions.h"
#include "table/ModuleDescriptor.h"
#include "table/ModuleTable.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace trackway {

namespace {

using TargetCosts = function_ref<const TargetTransformInfo &(const Function &)>;

class ModuleRecorder {
  public:
    ModuleRecorder(Module &M, const Options &O, const Filter &Filters, const ValueSelection &Selection,
                   const Allocators &Allocs, const LibraryEffects &Library, raw_ostream *Plans, raw_ostream *Flows,
                   TargetCosts CostsOf)
        : M(M), O(O), Plans(Plans), Flows(Flows), CostsOf(CostsOf), Filters(Filters), Allocs(Allocs), Library(Library),
          Names(M), Values(M, Selection), Reference(M), RecordsOrder(O.RecordOrder && hasClock(M)),
          Table(M, Names, flags()) {}

    bool run() {
        std::vector<Function *> Functions = instrumentedFunctions(M);
        if (Functions.empty())
            return false;
        Own = ownVariables(M);
        if (!O.OracleOnly)
            Runtime = RuntimeSymbols::declare(M);
        if (!O.OracleOnly)
            splitLoops(Functions);
        auto HasValue = [&](const Instruction &I) { return this->hasValue(I); };
        for (Function *F : Functions)
            O.OracleOnly ? Reference.collect(*F, {[](const Instruction &, unsigned) { return true; }, HasValue})
                         : record(*F);
        Reference.insert();
        if (Reference.collected() != Reference.inserted())
            report_fatal_error("trackway: an access that the oracle had found was erased while it was instrumented");
        if (!O.OracleOnly) {
            Versions.finish(
                [&](BasicBlock &From, BasicBlock &Instrumented, BasicBlock &Plain, BasicBlock &Before) {
                    chooseByWindow(From, Instrumented, Plain, Before, chosen(From), Runtime);
                },
                [&](BasicBlock &From, BasicBlock &Instrumented, BasicBlock &Plain) {
                    joinWindow(From, Instrumented, Plain, chosen(From), Runtime);
                });
            redirectSignalHandlers(M);
            std::vector<StringRef> Regions = regionNames(M);
            uint64_t HasRegions = Regions.empty() ? 0 : Table.addRegions(Regions);
            embedModule(*Runtime.ModuleRecord,
                        {Table.serialize(), Table.symbols(), Table.segmentCount(), /*Counters=*/0, HasRegions});
        }
        removeLabels(M);
        return true;
    }

  private:
    uint16_t flags() const {
        return ModuleTable::HasWork | (O.Oracle ? ModuleTable::HasOracle : 0) |
               (O.RecordCalls ? ModuleTable::RecordsCalls | ModuleTable::HasFlow : 0) |
               (RecordsOrder ? ModuleTable::RecordsOrder : 0);
    }

    void splitLoops(std::vector<Function *> &Functions) {
        ChoosesAlways = recursiveFunctions(M);
        DenseSet<const Function *> Switching = functionsThatSwitch(M);
        DenseSet<const Function *> OfRegions = functionsOfRegions(M);
        for (const Function *F : OfRegions)
            chooseAs(*F, Chosen::WithRegions);
        for (const Function *F : Switching)
            chooseAs(*F, Chosen::Always);
        std::vector<LoopRest> Rests;
        for (Function *F : Functions) {
            if (!O.SplitLoops || Switching.contains(F) || isLeftAlone(*F, Filters))
                continue;
            Chosen How = OfRegions.contains(F) ? Chosen::WithRegions : Chosen::InWindows;
            std::vector<LoopRest> Those = splitLongLoops(*F, How, Runtime, Questions);
            if (How == Chosen::WithRegions)
                for (const LoopRest &Rest : Those)
                    chooseAs(*Rest.F, How);
            llvm::append_range(Rests, Those);
        }
        for (const LoopRest &Rest : Rests) {
            ChoosesAlways.insert(Rest.F); // who calls it wants the other version
            if (Rest.IsRepeated)
                Repeated.insert(Rest.F);
            for (TakenValue V : Rest.Taken)
                Names.setOrigin(*V.Taken, *V.From, Rest.Begin);
        }
        // First: their names come from functions that recording changes.
        auto Of = [](const LoopRest &Rest) { return Rest.F; };
        auto Them = map_range(Rests, Of);
        Functions.insert(Functions.begin(), Them.begin(), Them.end());
    }

    // `late` has the name of the function whose choice it makes.
    Chosen chosen(const BasicBlock &From) const {
        StringRef Name = From.getParent()->getName();
        Name.consume_back(".late");
        auto It = ChosenOtherwise.find(Name);
        return It == ChosenOtherwise.end() ? Chosen::InWindows : It->second;
    }

    // What it calls is recorded in windows only.
    void chooseAs(const Function &F, Chosen How) {
        ChoosesAlways.insert(&F);
        ChosenOtherwise[F.getName()] = How;
    }

    // ---- One function ----

    void record(Function &F) {
        bool HasPlainCopy = true;
        if (!isLeftAlone(F, Filters)) {
            HasPlainCopy = Versions.keepPlainIfPossible(F, /*AlwaysChooses=*/ChoosesAlways.contains(&F));
            leaveLargeLoopsToRests(F, Questions[&F]);
        }
        FunctionRecord R = selectRecord(F, Filters, Names, Table);
        R.HasPlainCopy = HasPlainCopy;
        if (Repeated.contains(&F))
            R.Covered = {}; // each instruction counts once
        if (R.IsLeftAlone)
            return Table.addFunction(R);
        noteWork(F, R);
        for (NamedAccess &N : R.Accesses)
            N.A.Shape = Values.shape(*N.A.Where, N.Name);
        instrument(F, R);
        Table.addFunction(R);
    }

    void noteWork(const Function &F, FunctionRecord &R) const {
        std::vector<const Access *> Accesses;
        for (const NamedAccess &N : R.Accesses)
            Accesses.push_back(&N.A);
        std::vector<AccessWork> Works = workOfAccesses(F, Accesses, CostsOf(F));
        if (Plans)
            printWork(*Plans, Works);
        for (auto [N, Work] : zip(R.Accesses, Works))
            N.Work = std::move(Work);
    }

    void instrument(Function &F, FunctionRecord &R) {
        auto Numbers = numberInstructions(F);
        R.IsCalledByNameOnly = F.hasLocalLinkage() && !F.hasAddressTaken();
        uint64_t CollectedBefore = Reference.collected();
        if (O.Oracle)
            Reference.collect(F, {[&](const Instruction &I, unsigned Part) { return !isFiltered(I, Part); },
                                  [&](const Instruction &I) { return hasValue(I); }});
        askInRecordingCopy(Questions[&F], Runtime);
        forgetMemoryEffectsOfCalls(F);
        gatherAllocas(F);
        collectAllocations(F, Numbers, R);
        if (O.RecordLibrary)
            addLibraryCalls(F, Library, Numbers, Filters, Names, Table, R);
        std::vector<SpinWait> Waits = countSpinWaits(F, Own, [&](const LoadInst &Load) { return !hasValue(Load); });
        for (const SpinWait &W : Waits)
            Reference.setWait(W);
        if (RecordsOrder)
            R.OrderPoints = insertStamps(F, Numbers, Waits, isUnoptimised(F, O));

        if (O.RecordCalls)
            splitEdgesForCallMarks(F);
        DominatorTree DT(F);
        LoopInfo LI(DT);
        for (Loop *L : LI.getLoopsInPreorder())
            if (!L->getLoopPreheader())
                InsertPreheaderForLoop(L, &DT, &LI, nullptr, false);

        for (NamedAccess &N : R.Accesses)
            if (N.A.Shape)
                N.A.Value = exposeContent(*N.A.Where);
        std::vector<Access> Accesses;
        for (const NamedAccess &N : R.Accesses)
            Accesses.push_back(N.A);
        std::vector<AllocationCall> Calls;
        for (const NamedAllocation &N : R.Allocations)
            Calls.push_back(N.Call);
        BlockFrequencies Frequencies(F, LI);
        Plan P = makePlan(
            {F, DT, LI, Frequencies, Accesses, Calls, R.OrderPoints, Waits, O.RecordCalls, isUnoptimised(F, O)});
        if (Plans)
            printPlan(*Plans, F, P);
        if (!P.Feasible) {
            Reference.forgetAfter(CollectedBefore);
            return giveUp(F, R);
        }
        if (O.Oracle)
            reportLibraryCalls(F, R);
        R.Registers = P.Registers;
        R.Window = P.Window;
        if (O.RecordCalls && Waits.empty()) // records don't say which way a wait went
            R.Flow = describeFlow(F, P, [&](const Instruction &I) { return Table.location(I); });
        R.Segments = emitPlan(F, P, Frequencies, Table.segmentCount(), Runtime, R.Flow);
        if (Flows)
            printFlow(*Flows, F, P, R.Flow);
        if (!isUnoptimised(F, O))
            forgetVariables(F);
    }

    // The oracle finds accesses by its own walk; what is filtered is decided for both by the same lists.
    bool isFiltered(const Instruction &I, unsigned Part) const { return Filters.skipsAccess(I, Names.name(I, Part)); }
    bool hasValue(const Instruction &I) const { return Values.shape(I, Names.name(I, 0)).has_value(); }

    void giveUp(Function &F, FunctionRecord &R) {
        M.getContext().diagnose(DiagnosticInfoUnsupported(F,
                                                          "trackway: an instruction of this function accesses too many "
                                                          "addresses at once; the function is not recorded",
                                                          DiagnosticLocation(F.getSubprogram()), DS_Warning));
        R.Covered.Unrecordable += R.Covered.Recorded;
        R.Covered.Recorded = 0;
        R.Accesses.clear();
        R.Allocations.clear();
        R.OrderPoints.clear();
    }

    // Backtraces need lines. Where each variable stands at each instruction would be an eighth of the time to compile.
    static void forgetVariables(Function &F) {
        for (BasicBlock &BB : F)
            for (Instruction &I : make_early_inc_range(BB))
                if (dropDebugRecords(I); isa<DbgVariableIntrinsic>(I))
                    I.eraseFromParent();
    }

    // ---- Allocations ----

    void collectAllocations(Function &F, const DenseMap<const Instruction *, uint32_t> &Numbers, FunctionRecord &R) {
        std::vector<std::pair<CallBase *, const AllocatorRule *>> Found;
        for (BasicBlock &BB : F)
            for (Instruction &I : BB)
                if (auto *Call = dyn_cast<CallBase>(&I))
                    if (const AllocatorRule *Rule = Allocs.find(*Call))
                        Found.emplace_back(Call, Rule);
        for (auto &[Call, Rule] : Found) {
            AllocationName Name = Names.allocation(*Call);
            R.Allocations.push_back({allocationCall(*Call, *Rule, Numbers.lookup(Call)), std::move(Name)});
        }
    }

    static AllocationCall allocationCall(CallBase &Call, const AllocatorRule &Rule, uint32_t Ordinal) {
        AllocationCall A{&Call, Ordinal, Rule.Operation, &Call};
        auto Argument = [&](int Position) { return Position >= 0 ? Call.getArgOperand(Position) : nullptr; };
        if (Rule.Operation == AllocationOperation::Free) {
            A.Pointer = Argument(Rule.Pointer);
            return A;
        }
        A.Anchor = afterCall(Call);
        A.Count = Argument(Rule.Count);
        A.Size = Argument(Rule.Size);
        A.Old = Argument(Rule.Old);
        A.Pointer = Rule.PointerIsStored ? storedPointer(Call, Argument(Rule.Pointer), A.Anchor) : &Call;
        return A;
    }

    // posix_memalign and its like store the address where an argument says, if they return 0.
    static Value *storedPointer(CallBase &Call, Value *Where, Instruction *Anchor) {
        IRBuilder<> B(Anchor);
        Value *Loaded = B.CreateLoad(B.getPtrTy(), Where);
        if (!Call.getType()->isIntegerTy())
            return Loaded;
        Value *Succeeded = B.CreateICmpEQ(&Call, ConstantInt::get(Call.getType(), 0));
        return B.CreateSelect(Succeeded, Loaded, ConstantPointerNull::get(B.getPtrTy()));
    }

    // ---- Library functions ----

    void reportLibraryCalls(const Function &F, const FunctionRecord &R) {
        for (const NamedAccess &N : R.Accesses)
            if (N.A.Anchor)
                Reference.add(F, {N.A.Ordinal, N.A.Part, N.A.Kind == AccessKind::LibraryWrite, N.A.Pointer, N.A.Length,
                                  N.A.Anchor});
    }

    Module &M;
    const Options &O;
    raw_ostream *Plans, *Flows;
    TargetCosts CostsOf;
    const Filter &Filters;
    const Allocators &Allocs;
    const LibraryEffects &Library;
    Namer Names;
    RecordedValues Values;
    Oracle Reference;
    bool RecordsOrder;
    OwnVariables Own;
    ModuleTable Table;
    Dispatch Versions;
    WindowQuestions Questions;
    DenseSet<const Function *> ChoosesAlways, Repeated;
    StringMap<Chosen> ChosenOtherwise; // by their names, as the choice is another function
    RuntimeSymbols Runtime{};
};

bool reportError(Module &M, Error E) {
    if (!E)
        return false;
    M.getContext().emitError("trackway: " + toString(std::move(E)));
    return true;
}

} // namespace

PreservedAnalyses RecordPass::run(Module &M, ModuleAnalysisManager &Analyses) {
    if (isEmbedded(M)) {
        removeLabels(M);
        return PreservedAnalyses::all();
    }
    auto Filters = Filter::read(O.IgnoreLists);
    if (reportError(M, Filters.takeError()))
        return PreservedAnalyses::all();
    auto Selection = ValueSelection::read(O.Values);
    if (reportError(M, Selection.takeError()))
        return PreservedAnalyses::all();
    auto Allocs = Allocators::load(O.AllocatorFiles);
    if (reportError(M, Allocs.takeError()))
        return PreservedAnalyses::all();
    auto Library = LibraryEffects::load(O.LibraryFiles);
    if (reportError(M, Library.takeError()))
        return PreservedAnalyses::all();
    auto &OfFunctions = Analyses.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
    auto CostsOf = [&](const Function &F) -> const TargetTransformInfo & {
        return OfFunctions.getResult<TargetIRAnalysis>(const_cast<Function &>(F));
    };
    ModuleRecorder Recorder(M, O, *Filters, *Selection, *Allocs, *Library, Plans, Flows, CostsOf);
    return Recorder.run() ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace trackway
