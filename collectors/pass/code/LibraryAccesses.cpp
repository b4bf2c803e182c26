#include "code/LibraryAccesses.h"

#include "code/OurInstructions.h"
#include "code/Synchronisation.h"
#include "code/Synchronisers.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/ConstantFolder.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace trackway {

namespace {

std::string textOf(const EffectExpression &E) {
    std::string Text = std::to_string(static_cast<int>(E.O)) + "." + std::to_string(E.Number) + E.Helper + "(";
    for (const EffectExpression &Operand : E.Operands)
        Text += textOf(Operand) + ",";
    return Text + ")";
}

bool isKnownBefore(const EffectExpression &E) {
    bool IsOfCall = E.O == EffectOp::Result || E.O == EffectOp::At || E.O == EffectOp::Extent;
    return !IsOfCall && all_of(E.Operands, isKnownBefore);
}

// What a thread does to a lock when it leaves it must come before what the next one does, of which only the stamps say
// when that was: a release's is read before the call.
bool isRecordedBefore(const CallBase &Call, const LibraryRule &Rule) {
    auto Known = synchronisingCall(Call);
    return Known && Known->Releases && !Known->Acquires && all_of(Rule, [](const LibraryEffect &E) {
               return isKnownBefore(E.Pointer) && isKnownBefore(E.Length) && all_of(E.Condition, isKnownBefore);
           });
}

// Computes the values of a call's effects. Nothing branches: what a condition rules out is computed of null pointers,
// of which the helpers read nothing.
class RangeBuilder {
  public:
    RangeBuilder(CallBase &Call, Instruction *Before)
        : Call(Call), B(Call.getContext(), ConstantFolder(),
                        IRBuilderCallbackInserter([](Instruction *Inserted) { markOurs(*Inserted); })) {
        B.SetInsertPoint(Before);
        B.SetCurrentDebugLocation(Call.getDebugLoc());
    }

    Value *pointer(const LibraryEffect &E) { return value(E.Pointer); }

    // Ranges of one call often have the same length: what is recorded once costs half.
    Value *length(const LibraryEffect &E) {
        Value *&Known = Lengths[textOf(E.Length) + (E.Condition.empty() ? "" : textOf(E.Condition.front()))];
        return Known ? Known : Known = computedLength(E);
    }

  private:
    // What would be negative is 0, as the result -1 of `read`.
    Value *computedLength(const LibraryEffect &E) {
        Value *Condition = E.Condition.empty() ? nullptr : isSet(value(E.Condition.front()));
        if (Condition)
            Guards.push_back(Condition);
        Value *Length = integer(value(E.Length));
        if (mayBeNegative(E.Length))
            Length = B.CreateBinaryIntrinsic(Intrinsic::smax, Length, B.getInt64(0));
        if (!Condition)
            return Length;
        Guards.pop_back();
        return B.CreateSelect(Condition, Length, B.getInt64(0));
    }

    bool mayBeNegative(const EffectExpression &E) const {
        switch (E.O) {
        case EffectOp::Constant:
            return E.Number < 0;
        case EffectOp::Argument:
            return Call.getArgOperand(E.Number)->getType()->getIntegerBitWidth() < 64;
        case EffectOp::Extent:
            return false;
        case EffectOp::Add:
        case EffectOp::Multiply:
            return any_of(E.Operands, [&](const EffectExpression &Part) { return mayBeNegative(Part); });
        default:
            return true;
        }
    }

    Value *value(const EffectExpression &E) {
        switch (E.O) {
        case EffectOp::Constant:
            return B.getInt64(E.Number);
        case EffectOp::Argument:
            return extended(Call.getArgOperand(E.Number));
        case EffectOp::Result:
            return extended(&Call);
        case EffectOp::At:
            return B.CreateLoad(B.getPtrTy(), value(E.Operands[0]));
        case EffectOp::Choose:
            return choose(E);
        case EffectOp::Extent:
            return extent(E);
        default:
            break;
        }
        Value *Left = value(E.Operands[0]), *Right = value(E.Operands[1]);
        switch (E.O) {
        case EffectOp::Add:
            return Left->getType()->isPointerTy() ? B.CreateGEP(B.getInt8Ty(), Left, Right) : B.CreateAdd(Left, Right);
        case EffectOp::Subtract:
            return B.CreateSub(integer(Left), integer(Right));
        case EffectOp::Multiply:
            return B.CreateMul(Left, Right);
        default:
            return B.CreateBinaryIntrinsic(Intrinsic::umin, Left, Right);
        }
    }

    Value *extended(Value *V) { return V->getType()->isPointerTy() ? V : B.CreateSExtOrTrunc(V, B.getInt64Ty()); }

    Value *integer(Value *V) { return V->getType()->isPointerTy() ? B.CreatePtrToInt(V, B.getInt64Ty()) : V; }

    Value *isSet(Value *V) { return B.CreateICmpNE(V, Constant::getNullValue(V->getType())); }

    Value *choose(const EffectExpression &E) {
        Value *Condition = isSet(value(E.Operands[0]));
        Guards.push_back(Condition);
        Value *Then = value(E.Operands[1]);
        Guards.back() = B.CreateNot(Condition);
        Value *Else = value(E.Operands[2]);
        Guards.pop_back();
        return B.CreateSelect(Condition, Then, Else);
    }

    Value *guarded(Value *Pointer) {
        for (Value *Guard : Guards)
            Pointer = B.CreateSelect(Guard, Pointer, Constant::getNullValue(Pointer->getType()));
        return Pointer;
    }

    Value *extent(const EffectExpression &E) {
        if (Value *Constant = constantLength(E))
            return Constant;
        if (helperOf(E).BeforeCall)
            return beforeCall(E);
        if (!Guards.empty())
            return callHelper(E);
        Value *&Known = Extents[textOf(E)];
        return Known ? Known : Known = callHelper(E);
    }

    // No condition is known yet.
    Value *beforeCall(const EffectExpression &E) {
        Value *&Known = Extents[textOf(E)];
        if (Known)
            return Known;
        IRBuilderBase::InsertPointGuard AfterCall(B);
        SmallVector<Value *, 2> GuardsAfterCall;
        std::swap(Guards, GuardsAfterCall);
        B.SetInsertPoint(&Call);
        B.SetCurrentDebugLocation(Call.getDebugLoc());
        Known = callHelper(E);
        std::swap(Guards, GuardsAfterCall);
        return Known;
    }

    // Formats and the like are mostly literals.
    Value *constantLength(const EffectExpression &E) {
        bool HasNoLimit = E.Operands.back().O == EffectOp::Constant && E.Operands.back().Number == -1;
        if (E.Helper != "length" || !HasNoLimit || E.Operands[0].O != EffectOp::Argument)
            return nullptr;
        uint64_t WithEnd = GetStringLength(Call.getArgOperand(E.Operands[0].Number));
        return WithEnd ? B.getInt64(WithEnd - 1) : nullptr;
    }

    Value *callHelper(const EffectExpression &E) {
        SmallVector<Value *, 4> Arguments;
        SmallVector<Type *, 4> Types;
        for (const EffectExpression &Operand : E.Operands) {
            Value *V = value(Operand);
            Arguments.push_back(V->getType()->isPointerTy() ? guarded(V) : V);
            Types.push_back(V->getType());
        }
        auto *Signature = FunctionType::get(B.getInt64Ty(), Types, false);
        FunctionCallee Callee = Call.getModule()->getOrInsertFunction(nameOfHelper(E.Helper), Signature);
        CallInst *Made = B.CreateCall(Callee, Arguments);
        Made->setDoesNotThrow();
        return Made;
    }

    CallBase &Call;
    IRBuilder<ConstantFolder, IRBuilderCallbackInserter> B;
    SmallVector<Value *, 2> Guards;      // all hold where what is computed counts
    StringMap<Value *> Extents, Lengths; // by what they are computed from
};

} // namespace

// Descriptions of variables are erased before the oracle comes to its turn.
static Instruction *lastingAfter(CallBase &Call) {
    Instruction *I = afterCall(Call);
    while (isa<DbgInfoIntrinsic>(I))
        I = I->getNextNode();
    return I;
}

std::vector<LibraryRange> insertRanges(CallBase &Call, const LibraryRule &Rule) {
    bool IsBefore = isRecordedBefore(Call, Rule);
    Instruction *Anchor = IsBefore ? &Call : lastingAfter(Call);
    // What is computed after it needs the frame.
    if (auto *Direct = dyn_cast<CallInst>(&Call); Direct && !IsBefore)
        Direct->setTailCallKind(CallInst::TCK_NoTail);
    RangeBuilder Builder(Call, Anchor);
    std::vector<LibraryRange> Ranges;
    for (const LibraryEffect &E : Rule) {
        Value *Pointer = Builder.pointer(E);
        Ranges.push_back({E.K, Pointer, Builder.length(E), Anchor});
    }
    return Ranges;
}

Access accessOf(CallBase &Call, const LibraryRange &Range, uint8_t Part) {
    Access A;
    A.Where = &Call;
    A.Part = Part;
    A.Kind = Range.K == LibraryEffect::Kind::Write ? AccessKind::LibraryWrite : AccessKind::LibraryRead;
    A.Form = AccessForm::Block;
    A.Pointer = Range.Pointer;
    A.Length = Range.Length;
    A.Anchor = Range.Anchor;
    return A;
}

} // namespace trackway
