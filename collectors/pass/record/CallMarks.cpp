#include "record/CallMarks.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace trackway {

static void splitCriticalEdges(Instruction *Terminator, function_ref<bool(const BasicBlock *)> To) {
    if (!isa<BranchInst, SwitchInst>(Terminator))
        return;
    for (unsigned S = 0; S < Terminator->getNumSuccessors(); ++S)
        if (To(Terminator->getSuccessor(S)))
            SplitCriticalEdge(Terminator, S);
}

void splitEdgesForCallMarks(Function &F) {
    auto Returns = [](const BasicBlock *BB) { return isa<ReturnInst>(BB->getTerminator()); };
    SmallVector<BasicBlock *, 8> Before;
    for (BasicBlock &BB : F)
        if (any_of(successors(&BB), Returns))
            Before.push_back(&BB);
    for (BasicBlock *BB : Before)
        splitCriticalEdges(BB->getTerminator(), Returns);
}

namespace {

class Merger {
  public:
    Merger(Plan &P, const UnitIndex &Places, Function &F) : P(P), Places(Places), F(F) {}

    void run() {
        BasicBlock &Entry = F.getEntryBlock();
        if (isAlone(Entry, Kind::Enter) && gainsBelow(Entry, 0)) {
            clear(Entry);
            placeBelow(Entry, 0);
        }
        for (BasicBlock &BB : F)
            if (Places.First.count(&BB) && isAlone(BB, Kind::Exit) && gainsAbove(BB)) {
                clear(BB);
                for (BasicBlock *From : predecessors(&BB))
                    addBehind(From);
            }
    }

  private:
    using Kind = Operation::Kind;
    static constexpr unsigned MaxDepth = 3;
    static constexpr unsigned MaxBranches = 2;

    Unit &first(const BasicBlock &BB) const { return P.Units[Places.first(&BB)]; }
    Unit &last(const BasicBlock &BB) const { return P.Units[Places.before(BB.getTerminator())]; }

    // Whether the block is one unit that says nothing else.
    bool isAlone(const BasicBlock &BB, Kind K) const {
        const Unit &U = first(BB);
        return &U == &last(BB) && !U.EndsInCall && U.Operations.size() == 1 && U.Operations[0].K == K;
    }

    void clear(const BasicBlock &BB) { first(BB).Operations.clear(); }

    static Operation mark(Kind K, Instruction *Anchor) {
        Operation O;
        O.K = K;
        O.Anchor = Anchor;
        return O;
    }

    // ---- From the entry downwards ----

    static bool leadsOnlyFrom(const BasicBlock &BB) {
        unsigned Branches = BB.getTerminator()->getNumSuccessors();
        return Branches > 0 && Branches <= MaxBranches && isa<BranchInst>(BB.getTerminator()) &&
               all_of(successors(&BB), [&](const BasicBlock *To) { return To->getSinglePredecessor() == &BB; });
    }

    bool gains(const BasicBlock &BB, unsigned Depth) const {
        const Unit &U = first(BB);
        return !U.Operations.empty() || (!U.EndsInCall && gainsBelow(BB, Depth));
    }

    bool gainsBelow(const BasicBlock &BB, unsigned Depth) const {
        return Depth < MaxDepth && leadsOnlyFrom(BB) &&
               any_of(successors(&BB), [&](const BasicBlock *To) { return gains(*To, Depth + 1); });
    }

    void placeBelow(BasicBlock &BB, unsigned Depth) {
        for (BasicBlock *To : successors(&BB)) {
            Unit &U = first(*To);
            if (U.Operations.empty() && !U.EndsInCall && gainsBelow(*To, Depth + 1)) {
                placeBelow(*To, Depth + 1);
                continue;
            }
            Instruction *Anchor = U.Operations.empty() ? U.End : U.Operations.front().Anchor;
            U.Operations.insert(U.Operations.begin(), mark(Kind::Enter, Anchor));
        }
    }

    // ---- From a return upwards ----

    bool gainsAbove(BasicBlock &BB) const {
        bool Gains = false;
        for (BasicBlock *From : predecessors(&BB)) {
            if (!Places.First.count(From) || !isa<BranchInst>(From->getTerminator()) || !From->getSingleSuccessor())
                return false;
            Gains |= !last(*From).Operations.empty();
        }
        return Gains;
    }

    void addBehind(BasicBlock *From) { last(*From).Operations.push_back(mark(Kind::Exit, From->getTerminator())); }

    Plan &P;
    const UnitIndex &Places;
    Function &F;
};

} // namespace

void mergeCallMarks(Plan &P, const UnitIndex &Places, Function &F) { Merger(P, Places, F).run(); }

} // namespace trackway
