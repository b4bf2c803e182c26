#include "count/Flow.h"

#include "LlvmVersion.h"
#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/ErrorHandling.h"

#include <numeric>

using namespace llvm;

namespace trackway {

namespace {

// Whether unwinding, indirect jumps or assembly enter the block by ways that can't be split.
bool isEnteredSpecially(const BasicBlock &BB) {
    return BB.isEHPad() || any_of(predecessors(&BB), [](const BasicBlock *P) {
               return isa<IndirectBrInst, CallBrInst>(P->getTerminator());
           });
}

// The instruction after which a block's flow may break: a call at its end, as a terminator or before it.
const Instruction *lastStep(const BasicBlock &BB) {
    const Instruction *Terminator = BB.getTerminator();
    if (isa<InvokeInst>(Terminator))
        return Terminator;
    const Instruction *Before = previousInstruction(*Terminator);
    return Before ? Before : Terminator;
}

class EdgeFinder {
  public:
    EdgeFinder(Function &F, const LoopInfo &LI, const FlowRules &Rules)
        : F(F), Rules(Rules), Likely(F, LI), Frequencies(F, Likely, LI) {}

    std::vector<FlowEdge> run() {
        for (BasicBlock *BB : depth_first(&F.getEntryBlock()))
            visit(*BB);
        enter(F.getEntryBlock());
        std::vector<FlowEdge> Result = Blocks;
        for (auto &Entry : Edges)
            Result.push_back(Entry.second);
        return Result;
    }

  private:
    void visit(BasicBlock &BB) {
        Blocks.push_back({&BB, &BB, true, true, frequency(BB)});
        if (isEnteredSpecially(BB) && !BB.isEntryBlock())
            enter(BB);
        const Instruction &Last = *lastStep(BB);
        if (Rules.BeginsAnew(Last))
            return leaveAndEnterBehind(BB);
        if (isa<UnreachableInst>(BB.getTerminator()) || Rules.MayNotContinue(Last))
            escape(BB);
        if (succ_empty(&BB) && !isa<UnreachableInst>(BB.getTerminator()))
            leave(BB);
        for (BasicBlock *To : successors(&BB))
            isEnteredSpecially(*To) ? escape(BB) : branch(BB, *To);
    }

    void leaveAndEnterBehind(BasicBlock &BB) {
        leave(BB);
        for (BasicBlock *To : successors(&BB))
            if (!isEnteredSpecially(*To))
                enter(*To);
    }

    void enter(BasicBlock &To) { add(nullptr, &To, true, frequency(To)); }
    void leave(BasicBlock &From) { add(&From, nullptr, true, frequency(From)); }
    // Nothing is executed where it ends.
    void escape(BasicBlock &From) { add(&From, nullptr, false, 0); }

    void branch(BasicBlock &From, BasicBlock &To) {
        double Cost = frequency(From) * probability(From, To);
        const BasicBlock *Ahead = Rules.CountedAhead(From, To);
        if (Ahead)
            Cost = std::min(Cost, frequency(*Ahead));
        // An edge that must be split costs a jump, too.
        else if (!From.getUniqueSuccessor() && !To.getUniquePredecessor())
            Cost *= 2;
        add(&From, &To, true, Cost);
    }

    // Edges with the same ends are counted together.
    void add(BasicBlock *From, BasicBlock *To, bool Countable, double Cost) {
        auto [It, New] = Edges.insert({{From, To}, {From, To, false, Countable, Cost}});
        if (!New)
            It->second.Countable &= Countable;
    }

    double frequency(const BasicBlock &BB) const { return frequencyOf(Frequencies, BB); }

    double probability(const BasicBlock &From, const BasicBlock &To) const {
        BranchProbability P = Likely.getEdgeProbability(&From, &To);
        return static_cast<double>(P.getNumerator()) / BranchProbability::getDenominator();
    }

    Function &F;
    const FlowRules &Rules;
    BranchProbabilityInfo Likely;
    BlockFrequencyInfo Frequencies;
    std::vector<FlowEdge> Blocks;
    MapVector<std::pair<BasicBlock *, BasicBlock *>, FlowEdge> Edges;
};

// Nodes are numbered: 0 is the outside, and each block has one for its begin and, following that, one for its end.
class Solver {
  public:
    explicit Solver(std::vector<FlowEdge> Edges) {
        Result.Edges = std::move(Edges);
        for (const FlowEdge &E : Result.Edges)
            if (E.IsBlock)
                Begins.try_emplace(E.From, 2 * Begins.size() + 1);
        Incident.resize(2 * Begins.size() + 1);
        Unknown.resize(Incident.size());
    }

    Flow run() {
        chooseTree();
        deriveTree();
        for (const FlowEdge &E : Result.Edges)
            if (E.IsBlock)
                Result.Executions[E.From] = E.Variable;
        return std::move(Result);
    }

  private:
    uint32_t source(const FlowEdge &E) const {
        if (!E.From)
            return 0;
        return E.IsBlock ? Begins.lookup(E.From) : Begins.lookup(E.From) + 1;
    }

    uint32_t target(const FlowEdge &E) const {
        if (!E.To)
            return 0;
        return E.IsBlock ? Begins.lookup(E.To) + 1 : Begins.lookup(E.To);
    }

    // The dearest edges, those that can't be counted before all.
    void chooseTree() {
        std::vector<uint32_t> Order(Result.Edges.size());
        std::iota(Order.begin(), Order.end(), 0);
        llvm::stable_sort(Order, [&](uint32_t A, uint32_t B) {
            const FlowEdge &X = Result.Edges[A], &Y = Result.Edges[B];
            return std::pair(!X.Countable, X.Cost) > std::pair(!Y.Countable, Y.Cost);
        });
        EquivalenceClasses<uint32_t> Joined;
        for (uint32_t I : Order) {
            FlowEdge &E = Result.Edges[I];
            uint32_t From = source(E), To = target(E);
            Incident[From].push_back(I);
            Incident[To].push_back(I);
            if (!Joined.isEquivalent(Joined.getOrInsertLeaderValue(From), Joined.getOrInsertLeaderValue(To))) {
                Joined.unionSets(From, To);
                IsTree.insert(I);
                ++Unknown[From];
                ++Unknown[To];
                continue;
            }
            if (!E.Countable)
                report_fatal_error("trackway: edges of a function's flow that can't be counted form a circle");
            E.Variable = {false, static_cast<uint32_t>(Result.Counted.size())};
            Result.Counted.push_back(I);
        }
    }

    // Starts at the leaves, where only one of a node's edges is unknown.
    void deriveTree() {
        std::vector<uint32_t> Leaves;
        for (uint32_t N = 1; N < Unknown.size(); ++N)
            if (Unknown[N] == 1)
                Leaves.push_back(N);
        while (!Leaves.empty()) {
            uint32_t N = Leaves.back();
            Leaves.pop_back();
            if (Unknown[N] != 1)
                continue;
            uint32_t Edge = *find_if(Incident[N], [&](uint32_t I) { return IsTree.contains(I); });
            derive(Edge, N);
            for (uint32_t End : {source(Result.Edges[Edge]), target(Result.Edges[Edge])})
                if (--Unknown[End] == 1 && End != 0)
                    Leaves.push_back(End);
        }
    }

    void derive(uint32_t Edge, uint32_t N) {
        bool LeavesNode = source(Result.Edges[Edge]) == N;
        CountSum Sum;
        for (uint32_t I : Incident[N]) {
            const FlowEdge &E = Result.Edges[I];
            if (I != Edge)
                Sum.push_back({E.Variable, (source(E) == N) == LeavesNode ? -1 : 1});
        }
        IsTree.erase(Edge);
        if (Sum.size() == 1 && Sum[0].Factor == 1) {
            Result.Edges[Edge].Variable = Sum[0].Variable;
            return;
        }
        Result.Edges[Edge].Variable = {true, static_cast<uint32_t>(Result.Derived.size())};
        Result.Derived.push_back(std::move(Sum));
    }

    Flow Result;
    DenseMap<const BasicBlock *, uint32_t> Begins;
    std::vector<std::vector<uint32_t>> Incident; // edges of each node
    std::vector<uint32_t> Unknown;               // how many of them are unknown
    DenseSet<uint32_t> IsTree;
};

} // namespace

std::vector<FlowEdge> flowEdges(Function &F, const LoopInfo &LI, const FlowRules &Rules) {
    return EdgeFinder(F, LI, Rules).run();
}

Flow solveFlow(std::vector<FlowEdge> Edges) { return Solver(std::move(Edges)).run(); }

} // namespace trackway
