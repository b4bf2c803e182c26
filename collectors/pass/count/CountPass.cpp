#include "count/CountPass.h"

#include "LlvmVersion.h"
#include "code/Accesses.h"
#include "count/CountedFunction.h"
#include "count/Returning.h"
#include "names/Attribution.h"
#include "prepare/Dispatch.h"
#include "prepare/Filter.h"
#include "prepare/LibraryCalls.h"
#include "prepare/Preparation.h"
#include "prepare/RecordSelection.h"
#include "regions/Regions.h"
#include "table/ModuleDescriptor.h"
#include "table/ModuleTable.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace trackway {

namespace {

bool hasMarks(const Function &F, function_ref<bool(const CallBase &)> IsMark) {
    return any_of(instructions(F), [&](const Instruction &I) {
        auto *Call = dyn_cast<CallBase>(&I);
        return Call && IsMark(*Call);
    });
}

class ModuleCounter {
  public:
    // Without Library, what library functions access isn't counted.
    ModuleCounter(Module &M, const Filter &Filters, const LibraryEffects *Library)
        : M(M), Filters(Filters), Library(Library), Names(M), Calls(M), Table(M, Names, ModuleTable::Counts) {}

    bool run() {
        std::vector<Function *> Functions = instrumentedFunctions(M);
        if (Functions.empty())
            return false;
        bool HasRegions = hasRegions(M);
        findEntering(Functions);
        Symbols = CountingSymbols::declare(M);
        for (Function *F : Functions)
            count(*F);
        for (auto *Kept : {&Entering, &Others})
            Kept->finish([&](BasicBlock &From, BasicBlock &Instrumented, BasicBlock &Plain,
                             BasicBlock &Before) { choose(From, Instrumented, Plain, Before, Kept == &Entering); },
                         [&](BasicBlock &From, BasicBlock &Instrumented, BasicBlock &Plain) {
                             begin(From, Instrumented, Plain, Kept == &Entering);
                         });
        ModuleContent Content{Table.serialize(), Table.symbols()};
        Content.Counters = std::max<uint64_t>(Table.counterCount(), 1);
        Content.Regions = HasRegions;
        embedModule(*Symbols.Descriptor, Content);
        removeLabels(M);
        return true;
    }

  private:
    // Functions that enter regions, or in the middle of which one is entered by a guard's constructor or left by
    // longjmp.
    void findEntering(const std::vector<Function *> &Functions) {
        DenseSet<const Function *> Guards;
        for (Function *F : Functions)
            if (hasMarks(*F, isScopeMark))
                Guards.insert(F);
        for (Function *F : Functions)
            if (hasMarks(*F, [&](const CallBase &Call) {
                    return isRegionMark(Call) || isScopeMark(Call) || Call.hasFnAttr(Attribute::ReturnsTwice) ||
                           Guards.contains(Call.getCalledFunction());
                }))
                EnterRegions.insert(F);
    }

    void count(Function &F) {
        FunctionRecord R = selectRecord(F, Filters, Names, Table, /*NeedsCopy=*/true);
        if (R.IsLeftAlone)
            return Table.addFunction(R);
        if (EnterRegions.contains(&F))
            removeMarks(Entering.keepPlain(F));
        else
            Others.keepPlain(F);
        forgetMemoryEffectsOfCalls(F);
        if (Library)
            addLibraryCalls(F, *Library, numberInstructions(F), Filters, Names, Table, R);
        R.Allocations.clear(); // only accesses are counted
        CountedFunction Counted =
            countFunction(F, R.Accesses, Table.counterCount(), Calls, Symbols, EnterRegions.contains(&F),
                          [&](const Instruction &I) { return Table.location(I); });
        Table.addFunction(R);
        Table.addCounts(Counted);
    }

    // The plain copy of a function that enters regions runs only where nothing is counted at all.
    static void removeMarks(Function &Plain) {
        for (Instruction &I : make_early_inc_range(instructions(Plain)))
            if (auto *Call = dyn_cast<CallInst>(&I); Call && (isRegionMark(*Call) || isScopeMark(*Call))) {
                if (!Call->getType()->isVoidTy())
                    Call->replaceAllUsesWith(ConstantInt::get(Call->getType(), 0));
                Call->eraseFromParent();
            }
    }

    // The state alone leads to the plain copy, by one comparison, and with the module's word by another one to that
    // which counts. A thread counts from the first function on that is chosen so, if it was not begun.
    void choose(BasicBlock &From, BasicBlock &Instrumented, BasicBlock &Plain, BasicBlock &Begin, bool EntersRegions) {
        Function *F = From.getParent();
        auto *Other = BasicBlock::Create(M.getContext(), "other", F, &Plain);
        auto *NotNow = BasicBlock::Create(M.getContext(), "not.now", F, &Plain);
        auto *Registered = BasicBlock::Create(M.getContext(), "registered", F, &Plain);
        IRBuilder<> B(&From);
        Value *State = Symbols.state(B);
        B.CreateCondBr(runsPlain(B, State, EntersRegions), &Plain, Other);

        B.SetInsertPoint(Other);
        Value *Greatest = B.CreateLoad(B.getInt64Ty(), B.CreateStructGEP(Symbols.Descriptor->getValueType(),
                                                                         Symbols.Descriptor, ModuleField::CountsUpTo));
        B.CreateCondBr(B.CreateICmpULE(State, Greatest), &Instrumented, NotNow);

        B.SetInsertPoint(NotNow);
        B.CreateCondBr(B.CreateICmpEQ(Greatest, B.getInt64(0)), &Plain, Registered);

        B.SetInsertPoint(Registered);
        B.CreateCondBr(B.CreateICmpEQ(State, B.getInt64(NotBegun)), &Begin, &Plain);
    }

    // Begins counting on the thread, and chooses the copy again. The module is registered by then.
    void begin(BasicBlock &From, BasicBlock &Instrumented, BasicBlock &Plain, bool EntersRegions) {
        IRBuilder<> B(&From);
        B.CreateCall(Symbols.Begin);
        B.CreateCondBr(runsPlain(B, Symbols.state(B), EntersRegions), &Plain, &Instrumented);
    }

    static Value *runsPlain(IRBuilder<> &B, Value *State, bool EntersRegions) {
        return B.CreateICmpULT(State, B.getInt64(EntersRegions ? CountsNot : CountsNow));
    }

    Module &M;
    const Filter &Filters;
    const LibraryEffects *Library;
    Namer Names;
    Returning Calls;
    ModuleTable Table;
    CountingSymbols Symbols{};
    DenseSet<const Function *> EnterRegions;
    Dispatch Entering, Others;
};

} // namespace

PreservedAnalyses CountPass::run(Module &M, ModuleAnalysisManager &) {
    if (isEmbedded(M)) {
        removeLabels(M);
        return PreservedAnalyses::all();
    }
    auto Filters = Filter::read(O.IgnoreLists);
    auto Library = LibraryEffects::load(O.LibraryFiles);
    if (Error E = joinErrors(Filters.takeError(), Library.takeError())) {
        M.getContext().emitError("trackway: " + toString(std::move(E)));
        return PreservedAnalyses::all();
    }
    return ModuleCounter(M, *Filters, O.RecordLibrary ? &*Library : nullptr).run() ? PreservedAnalyses::none()
                                                                                   : PreservedAnalyses::all();
}

} // namespace trackway
