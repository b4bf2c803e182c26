#include "table/OperationWriter.h"

#include "table/Encoding.h"
#include "table/OperationCode.h"

using namespace llvm;

namespace trackway {

using OperationKind = Operation::Kind;

static void code(raw_ostream &OS, OperationCode Code) { byte(OS, static_cast<uint8_t>(Code)); }

static void registerNumber(raw_ostream &OS, Register R) {
    varint(OS, R >= FirstStreamRegister ? R - FirstStreamRegister : StreamRegisters + R);
}

static uint8_t rootEncoding(const Root &R) { return R.width() | (R.Form == RootForm::Signed ? SignBit : 0); }

void OperationWriter::expression(const RegisterExpression &E) {
    varint(OS, E.Terms.size() * 2 + (E.Symbol ? 1 : 0));
    if (E.Symbol)
        varint(OS, Numbers.Symbol(E.Symbol));
    svarint(OS, E.Constant);
    for (auto &[Register, Scale] : E.Terms) {
        registerNumber(OS, Register);
        svarint(OS, Scale);
    }
}

void OperationWriter::write(const Operation &O) {
    switch (O.K) {
    case OperationKind::Context:
        return;
    case OperationKind::LogRoot:
    case OperationKind::Set:
    case OperationKind::Forget:
    case OperationKind::Step:
        return writeOfRegister(O);
    case OperationKind::Single:
    case OperationKind::Block:
    case OperationKind::Masked:
    case OperationKind::Gather:
    case OperationKind::Value:
        return writeOfAccess(O);
    case OperationKind::Allocate:
    case OperationKind::Free:
    case OperationKind::Reallocate:
        return writeOfAllocation(O);
    case OperationKind::Enter:
        return code(OS, OperationCode::Enter);
    case OperationKind::Exit:
        return code(OS, OperationCode::Exit);
    case OperationKind::Order:
        return writeOrder(O);
    case OperationKind::Repeat:
        return writeRepeat(O);
    }
}

void OperationWriter::writeOfRegister(const Operation &O) {
    switch (O.K) {
    case OperationKind::LogRoot:
        code(OS, OperationCode::Root);
        registerNumber(OS, O.Target);
        byte(OS, rootEncoding(R.Registers[O.Target]));
        return;
    case OperationKind::Set:
        set(O.Target, O.NewValue);
        return;
    case OperationKind::Forget:
        set(O.Target, {});
        return;
    case OperationKind::Step: { // register = register + delta
        RegisterExpression E;
        E.Constant = O.Delta;
        E.Terms.emplace_back(O.Target, 1);
        set(O.Target, E);
        return;
    }
    default:
        llvm_unreachable("an operation of another group");
    }
}

void OperationWriter::set(Register Target, const RegisterExpression &To) {
    code(OS, OperationCode::Set);
    registerNumber(OS, Target);
    expression(To);
}

void OperationWriter::writeOfAccess(const Operation &O) {
    switch (O.K) {
    case OperationKind::Single:
        code(OS, OperationCode::Access);
        varint(OS, First.Site + O.Index);
        expression(O.Address);
        return;
    case OperationKind::Block:
        code(OS, OperationCode::Block);
        varint(OS, First.Site + O.Index);
        expression(O.Address);
        expression(O.Size);
        return;
    case OperationKind::Masked:
        writeMasked(O);
        return;
    case OperationKind::Gather:
        code(OS, OperationCode::Gather);
        varint(OS, First.Site + O.Index);
        registerNumber(OS, O.Target);
        byte(OS, O.Lanes);
        registerNumber(OS, O.FirstLane);
        return;
    case OperationKind::Value:
        writeValue(O);
        return;
    default:
        llvm_unreachable("an operation of another group");
    }
}

void OperationWriter::writeMasked(const Operation &O) {
    const Access &A = R.Accesses[O.Index].A;
    RegisterExpression Address = O.Address;
    if (!A.Packed)
        Address.Constant += static_cast<int64_t>(O.FirstLaneIndex * A.LaneStride);
    code(OS, OperationCode::Masked);
    varint(OS, First.Site + O.Index);
    expression(Address);
    registerNumber(OS, O.Target);
    byte(OS, O.Lanes);
    byte(OS, A.Packed ? PackedBit : 0);
    varint(OS, A.LaneStride);
}

void OperationWriter::writeValue(const Operation &O) {
    const auto &Shape = R.Accesses[O.Index].A.Shape;
    if (!Shape)
        llvm_unreachable("only an access that has a shape has its value recorded");
    code(OS, OperationCode::Value);
    byte(OS, static_cast<uint8_t>(Shape->Form));
    varint(OS, Shape->Bits);
    varint(OS, Shape->Lanes);
    for (const RegisterExpression &Word : O.Words)
        expression(Word);
}

void OperationWriter::writeOfAllocation(const Operation &O) {
    switch (O.K) {
    case OperationKind::Allocate:
        code(OS, OperationCode::Allocate);
        varint(OS, First.Allocation + O.Index);
        expression(O.Address);
        expression(O.Size);
        expression(O.Count);
        return;
    case OperationKind::Free:
        code(OS, OperationCode::Free);
        varint(OS, First.Allocation + O.Index);
        expression(O.Address);
        return;
    case OperationKind::Reallocate:
        code(OS, OperationCode::Reallocate);
        varint(OS, First.Allocation + O.Index);
        expression(O.Old);
        expression(O.Address);
        expression(O.Size);
        expression(O.Count);
        return;
    default:
        llvm_unreachable("an operation of another group");
    }
}

void OperationWriter::writeRepeat(const Operation &O) {
    code(OS, OperationCode::Loop);
    expression(O.Count);
    varint(OS, O.Body.size());
    for (const Operation &Inner : O.Body)
        write(Inner);
}

void OperationWriter::writeOrder(const Operation &O) {
    const OrderPoint &Point = R.OrderPoints[O.Index];
    code(OS, OperationCode::Order);
    byte(OS, static_cast<uint8_t>(Point.By) << 1 | (Point.IsAcquire ? 1 : 0));
    varint(OS, Numbers.Location(*Point.Where));
    expression(O.Address);
    expression(O.Stamp);
}

} // namespace trackway
