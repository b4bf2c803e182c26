#include "record/Units.h"

#include "code/Calls.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace llvm;

namespace trackway {

unsigned Unit::payloadBytes(const std::vector<Root> &Registers) const {
    unsigned Bytes = 0;
    for (const Operation &O : Operations)
        if (O.K == Operation::Kind::LogRoot)
            Bytes += Registers[O.Target].width();
    return Bytes;
}

UnitIndex cutUnits(Function &F, std::vector<Unit> &Units) {
    UnitIndex Index;
    ReversePostOrderTraversal<Function *> Order(&F);
    for (BasicBlock *BB : Order) {
        Index.First[BB] = Units.size();
        for (Instruction &I : *BB) {
            Index.Before[&I] = Units.size();
            if (endsUnit(I) && !I.isTerminator())
                Units.emplace_back(BB, &I, true);
        }
        Instruction *Terminator = BB->getTerminator();
        Units.emplace_back(BB, Terminator, endsUnit(*Terminator));
    }
    return Index;
}

static Operation logRoot(Register R, Instruction *Anchor) {
    Operation O;
    O.K = Operation::Kind::LogRoot;
    O.Anchor = Anchor;
    O.Target = R;
    return O;
}

// Says for each operation whether it stands between an access and its value, which belong to one record.
static std::vector<bool> findInseparable(ArrayRef<Operation> Operations) {
    using Kind = Operation::Kind;
    std::vector<bool> Inseparable(Operations.size());
    bool Value = false;
    for (size_t I = Operations.size(); I-- > 0;) {
        Kind K = Operations[I].K;
        Value = K == Kind::Value || (Value && K != Kind::Single && K != Kind::Masked && K != Kind::Gather);
        Inseparable[I] = Value;
    }
    return Inseparable;
}

// Pieces of a long unit follow each other without a call between. Each records for itself the registers that no
// other unit may rely on, so that few need to be recorded again in a fresh buffer.
void splitLongUnits(Plan &P) {
    using Kind = Operation::Kind;
    std::vector<Unit> Result;
    for (Unit &U : P.Units) {
        unsigned Bytes = 0;
        DenseSet<Register> Recorded;
        Unit Piece(U.Block, U.End, false);
        auto Record = [&](Register R) {
            if (Recorded.insert(R).second)
                Bytes += P.Registers[R].width();
        };
        std::vector<bool> Inseparable = findInseparable(U.Operations);
        for (size_t I = 0; I < U.Operations.size(); ++I) {
            Operation &O = U.Operations[I];
            // The value of a load stands where the next instruction's operations do.
            bool Between = !Piece.Operations.empty() && !Inseparable[I] &&
                           (Piece.Operations.back().Anchor != O.Anchor || Piece.Operations.back().K == Kind::Value);
            if (Bytes > MaxUnitPayload && Between) {
                Result.push_back(std::move(Piece));
                Piece = Unit(U.Block, U.End, false);
                Bytes = 0;
                Recorded.clear();
            }
            if (O.K == Kind::LogRoot)
                Record(O.Target);
            forRegistersRead(O, [&](Register R) {
                if (!P.UnitLocal[R] || Recorded.contains(R))
                    return;
                Record(R);
                Piece.Operations.push_back(logRoot(R, O.Anchor));
            });
            Piece.Operations.push_back(std::move(O));
        }
        Piece.EndsInCall = U.EndsInCall;
        Piece.KeepsRegisters = U.KeepsRegisters;
        Result.push_back(std::move(Piece));
    }
    P.Units = std::move(Result);
}

} // namespace trackway
