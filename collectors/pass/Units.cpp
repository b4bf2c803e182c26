#include "Units.h"

#include "LlvmVersion.h"
#include "SpinWaits.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace trackway {

// Intrinsics that become calls of functions that may record, or that return twice.
static bool isCallInDisguise(Intrinsic::ID Id) {
    switch (Id) {
    case Intrinsic::eh_sjlj_longjmp:
    case Intrinsic::eh_sjlj_setjmp:
    case Intrinsic::coro_resume:
    case Intrinsic::coro_destroy:
        return true;
    default:
        return isAwaitSuspend(Id);
    }
}

bool endsUnit(const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || isCallOfSpinWait(*Call))
        return false;
    if (auto *II = dyn_cast<IntrinsicInst>(Call))
        return isCallInDisguise(II->getIntrinsicID());
    // Assembly may switch stacks or call back; an empty one is only a barrier for the compiler.
    if (auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand()))
        return isa<CallBrInst>(Call) || (Call->mayReadOrWriteMemory() && !Asm->getAsmString().empty());
    return true;
}

void forRegistersRead(const Operation &O, function_ref<void(Register)> Visit) {
    for (const RegisterExpression *E : {&O.A, &O.B, &O.C, &O.D})
        for (auto &[R, Scale] : E->Terms)
            Visit(R);
    for (const RegisterExpression &E : O.Words)
        for (auto &[R, Scale] : E.Terms)
            Visit(R);
    if (O.K == Operation::Kind::Masked || O.K == Operation::Kind::Gather)
        Visit(O.Target);
    if (O.K == Operation::Kind::Gather)
        for (unsigned Lane = 0; Lane < O.Lanes; ++Lane)
            Visit(O.FirstLane + Lane);
    for (const Operation &Inner : O.Body) {
        if (Inner.K == Operation::Kind::Step)
            Visit(Inner.Target);
        forRegistersRead(Inner, Visit);
    }
}

void forRegistersTouched(const Operation &O, function_ref<void(Register)> Visit) {
    using Kind = Operation::Kind;
    forRegistersRead(O, Visit);
    if (O.K == Kind::LogRoot || O.K == Kind::Set || O.K == Kind::Step || O.K == Kind::Forget)
        Visit(O.Target);
    for (const Operation &Inner : O.Body)
        forRegistersTouched(Inner, Visit);
}

unsigned Unit::payloadBytes(const std::vector<Root> &Registers) const {
    unsigned Bytes = 0;
    for (const Operation &O : Operations)
        if (O.K == Operation::Kind::LogRoot)
            Bytes += Registers[O.Target].width();
    return Bytes;
}

bool Unit::hasRecord() const {
    return any_of(Operations, [&](const Operation &O) { return !Repairs || O.K != Operation::Kind::Context; });
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

// For each operation whether it stands between an access and its value, which belong to one record.
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
        Piece.Repairs = U.Repairs;
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
        Piece.IsRepaired = U.IsRepaired;
        Result.push_back(std::move(Piece));
    }
    P.Units = std::move(Result);
}

} // namespace trackway
