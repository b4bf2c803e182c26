#include "count/CountingCode.h"

#include "LlvmVersion.h"
#include "code/Calls.h"
#include "count/CallTimes.h"
#include "regions/Regions.h"
#include "table/ModuleDescriptor.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace trackway {

// Counters that a loop keeps in registers, and ways out of it where they are added up.
static constexpr unsigned MostInRegisters = 4, MostWaysOut = 4;
// A loop of fewer iterations isn't worth that.
static constexpr double FewIterations = 4;

CountingSymbols CountingSymbols::declare(Module &M) {
    LLVMContext &C = M.getContext();
    auto *I64 = Type::getInt64Ty(C);
    CountingSymbols S;
    S.Descriptor = declareModule(M);
    static_assert(sizeof(trackway_counting) == 4 * sizeof(uint64_t), "the type of the variable");
    S.Counting = new GlobalVariable(M, StructType::get(C, {I64, I64, I64, I64}), false, GlobalValue::ExternalLinkage,
                                    nullptr, "__trackway_counting", nullptr, GlobalValue::InitialExecTLSModel);
    S.Begin = M.getOrInsertFunction("__trackway_begin_counting", Type::getVoidTy(C));
    auto *Begin = cast<Function>(S.Begin.getCallee());
    Begin->setDoesNotThrow();
    S.BeginCall = M.getOrInsertFunction("__trackway_begin_call", I64, PointerType::getUnqual(C));
    S.EndCall = M.getOrInsertFunction("__trackway_end_call", Type::getVoidTy(C), PointerType::getUnqual(C), I64);
    for (FunctionCallee Callee : {S.BeginCall, S.EndCall})
        cast<Function>(Callee.getCallee())->setDoesNotThrow();
    return S;
}

Value *CountingSymbols::load(IRBuilder<> &B, size_t Offset) const {
    Value *Here = B.CreateThreadLocalAddress(Counting);
    return B.CreateLoad(B.getInt64Ty(), B.CreateStructGEP(Counting->getValueType(), Here, Offset / sizeof(uint64_t)));
}

Value *CountingSymbols::counters(IRBuilder<> &B) const { return load(B, offsetof(trackway_counting, counters)); }

Value *CountingSymbols::state(IRBuilder<> &B) const { return load(B, offsetof(trackway_counting, state)); }

Value *CountingSymbols::countsNow(IRBuilder<> &B) const { return B.CreateICmpEQ(state(B), B.getInt64(CountsNow)); }

Value *CountingSymbols::openRegions(IRBuilder<> &B) const { return load(B, offsetof(trackway_counting, open)); }

Value *CountingSymbols::countdown(IRBuilder<> &B, Value &Region) const {
    Value *All = B.CreateIntToPtr(load(B, offsetof(trackway_counting, countdowns)), B.getPtrTy());
    Value *Index = B.CreateLoad(B.getInt64Ty(), B.CreateConstInBoundsGEP1_64(B.getInt64Ty(), &Region, 1));
    return B.CreateInBoundsGEP(B.getInt64Ty(), All, Index);
}

// The child counts elsewhere.
static bool mayFork(const CallBase &Call) {
    const Function *Callee = Call.getCalledFunction();
    return Callee && StringSwitch<bool>(Callee->getName())
                         .Cases("fork", "_Fork", "__fork", "vfork", "clone", "daemon", "forkpty", true)
                         .Default(false);
}

bool changesCounters(const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    return Call && (changesState(*Call) || Call->hasFnAttr(Attribute::ReturnsTwice) || mayFork(*Call));
}

bool isCallFree(const Loop &L) {
    return none_of(L.blocks(), [](const BasicBlock *BB) {
        return any_of(*BB, [](const Instruction &I) { return endsUnit(I) || changesCounters(I); });
    });
}

Instruction *startOf(BasicBlock &BB) {
    BasicBlock::iterator At = BB.getFirstInsertionPt();
    while (isa<AllocaInst>(&*At))
        ++At;
    return &*At;
}

namespace {

class Inserter {
  public:
    Inserter(Function &F, CountingCode Code, uint32_t FirstCounter, const CountingSymbols &Symbols, CountingCost &Cost)
        : F(F), C(F.getContext()), Additions(std::move(Code.Additions)), Callees(std::move(Code.Callees)),
          FirstCounter(FirstCounter), Symbols(Symbols), Cost(Cost) {}

    void run(LoopInfo &LI) {
        chooseRegisters(LI);
        for (const Addition &A : Additions)
            noteCost(A);
        insert();
    }

  private:
    // Counters of busy edges of a loop without calls stay in registers until the loop is left.
    void chooseRegisters(LoopInfo &LI) {
        BranchProbabilityInfo Likely(F, LI);
        BlockFrequencyInfo Frequencies(F, Likely, LI);
        llvm::stable_sort(Additions, [](const Addition &A, const Addition &B) { return A.Cost > B.Cost; });
        DenseMap<const Loop *, unsigned> Taken;
        DenseMap<const Loop *, bool> CallFree;
        for (Addition &A : Additions) {
            Loop *L = LI.getLoopFor(A.Before->getParent());
            if (L && !CallFree.count(L))
                CallFree[L] = isCallFree(*L);
            if (!L || !isa<Constant>(A.Amount) || !CallFree.lookup(L) || !L->getLoopPreheader() ||
                !L->hasDedicatedExits())
                continue;
            SmallVector<BasicBlock *, 4> Out;
            L->getUniqueExitBlocks(Out);
            double Iterations = frequencyOf(Frequencies, *L->getHeader()),
                   Entries = frequencyOf(Frequencies, *L->getLoopPreheader());
            bool IsBusy = Iterations >= FewIterations * Entries && A.Cost >= FewIterations * Entries;
            bool HasRoom = Taken[L] < MostInRegisters && !Out.empty() && Out.size() <= MostWaysOut;
            if (IsBusy && HasRoom && none_of(Out, [](BasicBlock *BB) { return BB->isEHPad(); })) {
                ++Taken[L];
                A.InRegisterOf = L;
            }
        }
    }

    // A count kept in a register is added to memory once for each entry of the loop, wherever the loop is left.
    void noteCost(const Addition &A) {
        Cost.add(A.InRegisterOf ? CountingStep::InRegister : CountingStep::InMemory, A.Times);
        if (A.InRegisterOf)
            Cost.add(CountingStep::InMemory, *A.InRegisterOf->getLoopPreheader());
    }

    void insert() {
        IRBuilder<> Entry(startOf(F.getEntryBlock()));
        auto *Base = new AllocaInst(Entry.getPtrTy(), 0, "trackway.counters", &*F.getEntryBlock().begin());
        Variables.push_back(Base);
        for (Addition &A : Additions)
            A.InRegisterOf ? addInRegister(A, Base) : addInMemory(*A.Before, A.Counter, A.Amount, Base);
        loadBase(*startOf(F.getEntryBlock()), Base);
        SmallVector<Instruction *, 4> Changes;
        for (Instruction &I : instructions(F)) {
            BasicBlock *Behind = isa<CallInst>(I) && changesCounters(I) ? I.getParent()->getUniqueSuccessor() : nullptr;
            if (Behind)
                Changes.push_back(startOf(*Behind));
        }
        for (Instruction *I : Changes)
            loadBase(*I, Base);
        for (const TimedCallee &Callee : Callees)
            for (CallBase *Call : Callee.Calls)
                timeCall(*Call, [&](IRBuilder<> &B) { return placeOf(B, Callee.FirstCounter, Base); }, Symbols);
        DominatorTree Now(F);
        PromoteMemToReg(Variables, Now);
    }

    void loadBase(Instruction &Before, AllocaInst *Base) {
        IRBuilder<> B(&Before);
        Value *Counters = Symbols.counters(B);
        Value *Offset = B.CreateLoad(
            B.getInt64Ty(), B.CreateStructGEP(Symbols.Descriptor->getValueType(), Symbols.Descriptor, CounterOffset));
        B.CreateStore(B.CreateIntToPtr(asOneValue(B, B.CreateAdd(Counters, Offset)), B.getPtrTy()), Base);
    }

    // Else the code generator would keep both summands in registers, to add them up in each address.
    static Value *asOneValue(IRBuilder<> &B, Value *Sum) {
        auto *Type = FunctionType::get(Sum->getType(), {Sum->getType()}, false);
        return B.CreateCall(InlineAsm::get(Type, "", "=r,0", false), {Sum});
    }

    Value *placeOf(IRBuilder<> &B, uint32_t Counter, AllocaInst *Base) {
        return B.CreateConstInBoundsGEP1_64(B.getInt64Ty(), B.CreateLoad(B.getPtrTy(), Base), FirstCounter + Counter);
    }

    void addInMemory(Instruction &Before, uint32_t Counter, Value *Amount, AllocaInst *Base) {
        IRBuilder<> B(&Before);
        Value *Place = placeOf(B, Counter, Base);
        B.CreateStore(B.CreateAdd(B.CreateLoad(B.getInt64Ty(), Place), Amount), Place);
    }

    void addInRegister(const Addition &A, AllocaInst *Base) {
        auto *Own = new AllocaInst(Type::getInt64Ty(C), 0, "trackway.count", &*F.getEntryBlock().begin());
        Variables.push_back(Own);
        IRBuilder<> B(A.InRegisterOf->getLoopPreheader()->getTerminator());
        B.CreateStore(B.getInt64(0), Own);
        B.SetInsertPoint(A.Before);
        B.CreateStore(B.CreateAdd(B.CreateLoad(B.getInt64Ty(), Own), A.Amount), Own);
        SmallVector<BasicBlock *, 4> Out;
        A.InRegisterOf->getUniqueExitBlocks(Out);
        for (BasicBlock *BB : Out) {
            B.SetInsertPoint(startOf(*BB));
            addInMemory(*B.GetInsertPoint(), A.Counter, B.CreateLoad(B.getInt64Ty(), Own), Base);
        }
    }

    Function &F;
    LLVMContext &C;
    std::vector<Addition> Additions;
    std::vector<TimedCallee> Callees;
    uint32_t FirstCounter;
    const CountingSymbols &Symbols;
    CountingCost &Cost;
    std::vector<AllocaInst *> Variables;
};

} // namespace

void insertCounting(Function &F, CountingCode Code, uint32_t FirstCounter, const CountingSymbols &Symbols, LoopInfo &LI,
                    CountingCost &Cost) {
    Inserter(F, std::move(Code), FirstCounter, Symbols, Cost).run(LI);
}

} // namespace trackway
