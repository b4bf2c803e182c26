#include "record/Paths.h"

#include "record/Expect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallSet.h"

using namespace llvm;

namespace trackway {

namespace {

// A path's segment repeats the operations of all its units: so tables grow with the square of a path's length.
constexpr unsigned MaxPathOperations = 64;

class PathFinder {
  public:
    explicit PathFinder(Plan &P) : P(P), Paths(P.Units.size()) {
        for (unsigned U = 0; U < P.Units.size(); ++U)
            LastUnit[P.Units[U].Block] = U;
    }

    void run() {
        for (unsigned U = 0; U < P.Units.size(); ++U)
            if (P.Units[U].hasRecord())
                place(U);
    }

  private:
    struct Path {
        unsigned Payload = 0, Operations = 0;
        SmallSet<Register, 16> Touched;
    };

    void place(unsigned U) {
        Unit &Own = P.Units[U];
        std::vector<Operation> Operations = recordOperations(P, Own);
        unsigned Payload = Own.payloadBytes(P.Registers);
        Path &Result = Paths[U];
        if (std::optional<unsigned> Before = onlyWayTo(U); Before && !Own.Checks) {
            const Path &Prefix = Paths[*Before];
            if (Prefix.Payload + Payload <= MaxPathPayload &&
                Prefix.Operations + Operations.size() <= MaxPathOperations && mayFollow(Own, Prefix)) {
                Own.Continues = Before;
                Result = Prefix;
            }
        }
        Result.Payload += Payload;
        Result.Operations += Operations.size();
        for (const Operation &O : Operations)
            forRegistersTouched(O, [&](Register R) { Result.Touched.insert(R); });
    }

    // The unit with a record that comes before this one whenever this one is reached, without a call between.
    std::optional<unsigned> onlyWayTo(unsigned U) const {
        while (true) {
            const BasicBlock *BB = P.Units[U].Block;
            if (U > 0 && P.Units[U - 1].Block == BB) {
                --U;
            } else {
                const BasicBlock *From = BB->getUniquePredecessor();
                auto It = From ? LastUnit.find(From) : LastUnit.end();
                // In reverse post-order, a block that is always executed before another comes before it.
                if (It == LastUnit.end() || It->second >= U)
                    return std::nullopt;
                U = It->second;
            }
            const Unit &Before = P.Units[U];
            if (Before.EndsInCall)
                return std::nullopt;
            if (Before.hasRecord())
                return U;
            if (!Before.Operations.empty())
                return std::nullopt;
        }
    }

    // The correction of an expectation comes before the whole record, so the units before must not use what it sets.
    bool mayFollow(const Unit &U, const Path &Prefix) const {
        if (P.KeepsFrameSmall && hasExpectations(P, U)) // else it were corrected in the middle of its code
            return false;
        return all_of(U.Operations, [&](const Operation &O) {
            const Expectation *E = expectationOf(P, U, O);
            return !E || !Prefix.Touched.contains(E->Remembered);
        });
    }

    Plan &P;
    std::vector<Path> Paths; // that ends in the unit
    DenseMap<const BasicBlock *, unsigned> LastUnit;
};

} // namespace

void findPaths(Plan &P) { PathFinder(P).run(); }

} // namespace trackway
