#include "record/FoldLoops.h"

#include "code/TripCounts.h"

#include "llvm/ADT/DenseSet.h"

using namespace llvm;

namespace trackway {

namespace {

class Folder {
  public:
    using CountExpression = function_ref<RegisterExpression(Value *, Instruction *)>;

    Folder(Plan &P, const PlanInput &In, const UnitIndex &Places, const DenseSet<const Loop *> &SteadyLoops,
           CountExpression Count)
        : P(P), In(In), Places(Places), SteadyLoops(SteadyLoops), Count(Count) {}

    void run() {
        if (In.LI.empty())
            return;
        TripCounts Counts(In.F, In.DT, In.LI);
        auto OutermostFirst = In.LI.getLoopsInPreorder();
        for (Loop *L : reverse(OutermostFirst))
            if (canFold(*L))
                if (Value *TimesBack = Counts.timesBack(*L, SteadyLoops))
                    fold(*L, TimesBack);
    }

  private:
    using Kind = Operation::Kind;

    static bool mayRepeat(const Operation &O) {
        switch (O.K) {
        case Kind::Context:
        case Kind::Set:
        case Kind::Step:
        case Kind::Single:
        case Kind::Block:
        case Kind::Value:
        case Kind::Repeat:
            return true;
        default:
            return false;
        }
    }

    static unsigned depth(const Operation &O) {
        unsigned Deepest = 0;
        for (const Operation &Inner : O.Body)
            Deepest = std::max(Deepest, depth(Inner));
        return Deepest + (O.K == Kind::Repeat);
    }

    bool canFold(const Loop &L) const {
        bool Accesses = false;
        for (const Unit &U : P.Units) {
            if (!L.contains(U.Block))
                continue;
            auto MayRepeat = [](const Operation &O) { return mayRepeat(O) && depth(O) < MaxRepeatDepth; };
            if (U.EndsInCall || !all_of(U.Operations, MayRepeat))
                return false;
            if (U.Operations.empty())
                continue;
            if (In.LI.getLoopFor(U.Block) != &L || !L.getLoopLatch() || !In.DT.dominates(U.Block, L.getLoopLatch()))
                return false;
            Accesses = true;
        }
        return Accesses;
    }

    void fold(Loop &L, Value *TimesBack) {
        P.FoldedLoops.push_back(&L);
        Instruction *Anchor = L.getLoopPreheader()->getTerminator();
        RegisterExpression Times = Count(TimesBack, Anchor);
        ++Times.Constant;
        std::vector<Operation> Body;
        for (Unit &U : P.Units)
            if (L.contains(U.Block)) {
                for (Operation &O : U.Operations)
                    if (O.K != Kind::Context)
                        Body.push_back(std::move(O));
                U.Operations.clear();
            }
        Operation Repeat;
        Repeat.K = Kind::Repeat;
        Repeat.Anchor = Anchor;
        Repeat.Count = Times;
        Repeat.Body = std::move(Body);
        P.Units[Places.before(Anchor)].Operations.push_back(std::move(Repeat));
    }

    Plan &P;
    const PlanInput &In;
    const UnitIndex &Places;
    const DenseSet<const Loop *> &SteadyLoops;
    CountExpression Count;
};

} // namespace

void foldLoops(Plan &P, const PlanInput &In, const UnitIndex &Places, const DenseSet<const Loop *> &SteadyLoops,
               Folder::CountExpression Count) {
    Folder(P, In, Places, SteadyLoops, Count).run();
}

static bool recordsInAnyCase(const Unit &U) {
    return any_of(U.Operations, [](const Operation &O) {
        return O.K != Operation::Kind::Context && O.K != Operation::Kind::LogRoot && O.K != Operation::Kind::Forget;
    });
}

void liftSets(Plan &P, const PlanInput &In, const UnitIndex &Places) {
    for (Loop *L : In.LI.getLoopsInPreorder()) {
        BasicBlock *Before = L->getLoopPreheader();
        BasicBlock *Single = Before ? Before->getSinglePredecessor() : nullptr;
        if (!Single || !In.DT.isReachableFromEntry(Single))
            continue;
        Unit &From = P.Units[Places.first(Before)], &To = P.Units[Places.before(Single->getTerminator())];
        bool SetsOnly = all_of(From.Operations, [](const Operation &O) { return O.K == Operation::Kind::Set; });
        if (From.EndsInCall || To.EndsInCall || !SetsOnly || !recordsInAnyCase(To))
            continue;
        for (Operation &O : From.Operations) {
            O.Anchor = Single->getTerminator();
            To.Operations.push_back(O);
        }
        From.Operations.clear();
    }
}

} // namespace trackway
