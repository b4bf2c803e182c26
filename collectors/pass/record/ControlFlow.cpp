#include "record/ControlFlow.h"

#include "code/Calls.h"
#include "code/OurInstructions.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace trackway {

namespace {

using PieceEnd = FlowPiece::End;

// The code after a call that returns twice may be reached again, by none of the ways that the code shows.
bool returnsTwice(const Function &F) {
    return any_of(instructions(F), [](const Instruction &I) {
        auto *Call = dyn_cast<CallBase>(&I);
        return Call && Call->hasFnAttr(Attribute::ReturnsTwice);
    });
}

// The function that surely runs, by which its records are known; null if another one may take its place.
const Function *surelyCalled(const CallBase &Call) {
    auto *Callee = dyn_cast<Function>(Call.getCalledOperand()->stripPointerCasts());
    bool MayBeAnother = !Callee || Callee->isIntrinsic() || Callee->hasLinkOnceLinkage() || Callee->hasWeakLinkage() ||
                        Callee->hasExternalWeakLinkage() || (Callee->isInterposable() && !Callee->isDeclaration());
    return MayBeAnother ? nullptr : Callee;
}

// The name that the code calls. The linker may have chosen a definition that doesn't record.
std::string calledName(const CallBase &Call) {
    auto *Callee = dyn_cast<GlobalValue>(Call.getCalledOperand()->stripPointerCasts());
    bool IsIntrinsic = isa_and_nonnull<Function>(Callee) && cast<Function>(Callee)->isIntrinsic();
    return Callee && !IsIntrinsic ? Callee->getName().str() : "";
}

class Describer {
  public:
    Describer(Function &F, const Plan &P, function_ref<uint32_t(const Instruction &)> Location)
        : F(F), P(P), Location(Location) {
        for (unsigned U = P.Units.size(); U-- > 0;)
            First[P.Units[U].Block] = U;
    }

    std::vector<FlowPiece> run() {
        if (returnsTwice(F) || P.Units.empty() || P.Units[0].Block != &F.getEntryBlock())
            return {};
        for (unsigned U = 0; U < P.Units.size(); ++U)
            if (!add(U))
                return {};
        for (const Loop *L : P.FoldedLoops)
            if (!addLoop(*L))
                return {};
        return std::move(Pieces);
    }

  private:
    bool isLastOfBlock(unsigned U) const { return U + 1 == P.Units.size() || P.Units[U + 1].Block != P.Units[U].Block; }

    bool add(unsigned U) {
        const Unit &Own = P.Units[U];
        FlowPiece &Piece = Pieces.emplace_back();
        bool IsLast = isLastOfBlock(U);
        // The first parts of a long unit have its end, too.
        if (!IsLast && P.Units[U + 1].End == Own.End) {
            Piece.Successors = {U + 1};
            return true;
        }
        Piece.Instructions = instructionsBefore(Own);
        if (!IsLast) {
            Piece.Successors = {U + 1};
            setCall(Piece, *cast<CallBase>(Own.End));
            return true;
        }
        return setTerminator(Piece, *Own.Block->getTerminator());
    }

    // The one at the end, and those back to the end of the unit before.
    static uint32_t instructionsBefore(const Unit &U) {
        uint32_t Count = 1;
        for (const Instruction *I = U.End->getPrevNode(); I && !endsUnit(*I); I = I->getPrevNode())
            Count += !isa<DbgInfoIntrinsic>(I) && !isa<PHINode>(I) && !isOurs(*I);
        return Count;
    }

    void setCall(FlowPiece &Piece, const CallBase &Call) {
        if (Call.isInlineAsm())
            return;
        Piece.Location = Location(Call);
        Piece.E = surelyCalled(Call) ? PieceEnd::Calls : PieceEnd::CallsIndirectly;
        Piece.Callee = calledName(Call);
    }

    bool setTerminator(FlowPiece &Piece, const Instruction &T) {
        for (unsigned S = 0; S < T.getNumSuccessors(); ++S) {
            auto It = First.find(T.getSuccessor(S));
            if (It == First.end())
                return false;
            Piece.Successors.push_back(It->second);
        }
        if (auto *Branch = dyn_cast<BranchInst>(&T)) {
            if (Branch->isUnconditional())
                return true;
            if (Piece.Successors[0] == Piece.Successors[1]) {
                Piece.Successors.pop_back();
                return true;
            }
            if (isOurs(T)) // no branch of the program, wherever it leads
                return true;
            Piece.E = PieceEnd::Branches;
        } else if (isa<SwitchInst>(T) || isa<IndirectBrInst>(T)) {
            llvm::sort(Piece.Successors);
            Piece.Successors.erase(std::unique(Piece.Successors.begin(), Piece.Successors.end()),
                                   Piece.Successors.end());
            Piece.E = PieceEnd::Chooses;
        } else if (auto *Invoke = dyn_cast<InvokeInst>(&T)) {
            setCall(Piece, *Invoke);
            return true;
        } else if (isa<ReturnInst>(T)) {
            Piece.E = PieceEnd::Returns;
        } else if (isa<UnreachableInst>(T) || isa<ResumeInst>(T)) {
            Piece.E = PieceEnd::Stops;
        } else {
            return false;
        }
        Piece.Location = Location(T);
        return true;
    }

    unsigned last(const BasicBlock *BB) const {
        unsigned U = First.lookup(BB);
        while (!isLastOfBlock(U))
            ++U;
        return U;
    }

    // The loop that one operation stands for leads back to its head at its latch only.
    bool addLoop(const Loop &L) {
        FlowPiece &Before = Pieces[last(L.getLoopPreheader())], &Latch = Pieces[last(L.getLoopLatch())];
        unsigned Head = First.lookup(L.getHeader());
        if (Latch.E != PieceEnd::Branches || Before.E != PieceEnd::GoesOn)
            return false;
        Before.L = FlowPiece::Loop::Enters;
        Latch.L = Latch.Successors[0] == Head ? FlowPiece::Loop::BackFirst : FlowPiece::Loop::BackSecond;
        return true;
    }

    Function &F;
    const Plan &P;
    function_ref<uint32_t(const Instruction &)> Location;
    DenseMap<const BasicBlock *, unsigned> First; // unit
    std::vector<FlowPiece> Pieces;
};

} // namespace

std::vector<FlowPiece> describeFlow(Function &F, const Plan &P, function_ref<uint32_t(const Instruction &)> Location) {
    return Describer(F, P, Location).run();
}

} // namespace trackway
