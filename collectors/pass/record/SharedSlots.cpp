#include "record/SharedSlots.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace trackway {

struct SharedSlots::Lifetime {
    Instruction *Value;
    unsigned Begin, End;                  // numbers of instructions
    SmallVector<Instruction *, 4> CutOff; // uses that need a load
    unsigned FirstWord;
};

static constexpr unsigned WordBytes = 4;
static constexpr unsigned SlotsAlignment = 8;

namespace {

// Words on the stack, and until which instruction each is taken.
class Words {
  public:
    // The first of so many that are free, at a multiple of the step.
    unsigned take(unsigned Count, unsigned Step, unsigned Begin, unsigned End) {
        unsigned First = 0;
        for (unsigned I = 0; I < TakenUntil.size() && I < First + Count; ++I)
            if (TakenUntil[I] > Begin)
                First = alignTo(I + 1, Step);
        TakenUntil.resize(std::max<size_t>(TakenUntil.size(), First + Count));
        std::fill_n(TakenUntil.begin() + First, Count, End);
        return First;
    }

    unsigned size() const { return TakenUntil.size(); }

  private:
    SmallVector<unsigned, 8> TakenUntil;
};

} // namespace

static bool isStorable(const Instruction &I) {
    Type *T = I.getType();
    auto *A = dyn_cast<AllocaInst>(&I);
    return !(A && A->isStaticAlloca()) && T->isSized() && !T->isTokenTy() && !T->isX86_AMXTy() &&
           !isa<ScalableVectorType>(T);
}

// Whether the value is one of the arguments that find no register of the caller's own beside the code that recording
// inserts right before the call: to keep them in others, the function would save those for its caller. At most three of
// a call, since each takes a word, too.
static bool isLateArgument(const Instruction &Use, const Instruction &Value) {
    constexpr unsigned First = 9, Last = 11;
    auto *Call = dyn_cast<CallBase>(&Use);
    if (!Call || isa<IntrinsicInst>(Call) || Value.getType()->isFPOrFPVectorTy())
        return false;
    for (unsigned I = First; I <= Last && I < Call->arg_size(); ++I)
        if (Call->getArgOperand(I) == &Value)
            return true;
    return false;
}

SharedSlots::SharedSlots(Function &F) : F(F) {
    for (Instruction &I : instructions(F))
        Home[&I] = I.getParent();
}

// Blocks are numbered in the order of the function, in which pieces of a block follow each other. Where control may
// come back, a slot might hold something else by then.
std::vector<SharedSlots::Lifetime> SharedSlots::lifetimes(function_ref<bool(const Instruction &)> TakesRegisters) {
    struct Place {
        unsigned Number, Piece, SecondReturns;
    };
    DenseMap<const Instruction *, Place> Places;
    unsigned Number = 0, Piece = 0, SecondReturns = 0;
    for (const BasicBlock &BB : F) {
        ++Piece;
        for (const Instruction &I : BB) {
            Piece += TakesRegisters(I);
            Places[&I] = {++Number, Piece, SecondReturns};
            auto *Call = dyn_cast<CallBase>(&I);
            SecondReturns += Call && Call->hasFnAttr(Attribute::ReturnsTwice);
        }
    }
    DenseMap<const BasicBlock *, const BasicBlock *> HomeOf;
    for (const BasicBlock &BB : F)
        for (const Instruction &I : BB)
            if (auto It = Home.find(&I); It != Home.end())
                HomeOf[&BB] = It->second;

    std::vector<Lifetime> Result;
    for (Instruction &I : instructions(F)) {
        auto It = Home.find(&I);
        if (It == Home.end() || !isStorable(I) || I.isTerminator())
            continue;
        Place Begin = Places.lookup(&I);
        Lifetime L{&I, Begin.Number, Begin.Number, {}, 0};
        bool MayShare = true;
        for (User *U : I.users()) {
            auto *Use = cast<Instruction>(U);
            Place At = Places.lookup(Use);
            MayShare &= !isa<PHINode>(Use) && HomeOf.lookup(Use->getParent()) == It->second &&
                        At.SecondReturns == Begin.SecondReturns;
            L.End = std::max(L.End, At.Number);
            bool IsCutOff = At.Piece != Begin.Piece || isLateArgument(*Use, I);
            if (IsCutOff && !is_contained(L.CutOff, Use))
                L.CutOff.push_back(Use);
        }
        if (MayShare && !L.CutOff.empty())
            Result.push_back(std::move(L));
    }
    return Result;
}

void SharedSlots::share(function_ref<bool(const Instruction &)> TakesRegisters) {
    const DataLayout &DL = F.getParent()->getDataLayout();
    std::vector<Lifetime> All = lifetimes(TakesRegisters);
    if (All.empty())
        return;
    Words Slots;
    for (Lifetime &L : All) {
        uint64_t Bytes = DL.getTypeAllocSize(L.Value->getType()).getFixedValue();
        unsigned Count = divideCeil(Bytes, WordBytes);
        L.FirstWord = Slots.take(Count, Count > 1 ? SlotsAlignment / WordBytes : 1, L.Begin, L.End);
    }
    IRBuilder<> B(&F.getEntryBlock(), F.getEntryBlock().begin());
    auto *Memory = B.CreateAlloca(ArrayType::get(B.getInt32Ty(), Slots.size()), nullptr, "trackway.slots");
    Memory->setAlignment(Align(SlotsAlignment));
    for (Lifetime &L : All)
        keepIn(*Memory, L);
}

void SharedSlots::keepIn(AllocaInst &Memory, const Lifetime &L) {
    BasicBlock &BB = *L.Value->getParent();
    IRBuilder<> B(isa<PHINode>(L.Value) ? &*BB.getFirstInsertionPt() : L.Value->getNextNode());
    auto Slot = [&] { return B.CreateConstInBoundsGEP1_64(B.getInt32Ty(), &Memory, L.FirstWord); };
    const Align Aligned = commonAlignment(Align(SlotsAlignment), uint64_t(L.FirstWord) * WordBytes);
    B.CreateAlignedStore(L.Value, Slot(), Aligned);
    for (Instruction *Use : L.CutOff) {
        B.SetInsertPoint(Use);
        Use->replaceUsesOfWith(L.Value, B.CreateAlignedLoad(L.Value->getType(), Slot(), Aligned));
    }
}

} // namespace trackway
