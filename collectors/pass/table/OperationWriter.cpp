#include "table/OperationWriter.h"

#include "table/Encoding.h"

using namespace llvm;

namespace trackway {

using Kind = Operation::Kind;

// The byte that begins an operation.
enum OperationCode : uint8_t {
    LogRootCode = 1,
    SetCode = 2,
    SingleCode = 3,
    BlockCode = 4,
    MaskedCode = 5,
    GatherCode = 6,
    AllocateCode = 7,
    FreeCode = 8,
    ReallocateCode = 9,
    EnterCode = 10,
    ExitCode = 11,
    RepeatCode = 12,
    ValueCode = 13,
    OrderCode = 14,
};

static void registerNumber(raw_ostream &OS, Register R) {
    varint(OS, R >= FirstStreamRegister ? R - FirstStreamRegister : StreamRegisters + R);
}

static uint8_t rootEncoding(const Root &R) { return R.width() | (R.Form == RootForm::Signed ? 16 : 0); }

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
    case Kind::Context:
        return;
    case Kind::LogRoot:
    case Kind::Set:
    case Kind::Forget:
    case Kind::Step:
        return writeOfRegister(O);
    case Kind::Single:
    case Kind::Block:
    case Kind::Masked:
    case Kind::Gather:
    case Kind::Value:
        return writeOfAccess(O);
    case Kind::Allocate:
    case Kind::Free:
    case Kind::Reallocate:
        return writeOfAllocation(O);
    case Kind::Enter:
        return byte(OS, EnterCode);
    case Kind::Exit:
        return byte(OS, ExitCode);
    case Kind::Order:
        return writeOrder(O);
    case Kind::Repeat:
        return writeRepeat(O);
    }
}

void OperationWriter::writeOfRegister(const Operation &O) {
    switch (O.K) {
    case Kind::LogRoot:
        byte(OS, LogRootCode);
        registerNumber(OS, O.Target);
        byte(OS, rootEncoding(R.Registers[O.Target]));
        return;
    case Kind::Set:
        set(O.Target, O.NewValue);
        return;
    case Kind::Forget:
        set(O.Target, {});
        return;
    case Kind::Step: { // register = register + delta
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
    byte(OS, SetCode);
    registerNumber(OS, Target);
    expression(To);
}

void OperationWriter::writeOfAccess(const Operation &O) {
    switch (O.K) {
    case Kind::Single:
        byte(OS, SingleCode);
        varint(OS, First.Site + O.Index);
        expression(O.Address);
        return;
    case Kind::Block:
        byte(OS, BlockCode);
        varint(OS, First.Site + O.Index);
        expression(O.Address);
        expression(O.Size);
        return;
    case Kind::Masked:
        writeMasked(O);
        return;
    case Kind::Gather:
        byte(OS, GatherCode);
        varint(OS, First.Site + O.Index);
        registerNumber(OS, O.Target);
        byte(OS, O.Lanes);
        registerNumber(OS, O.FirstLane);
        return;
    case Kind::Value:
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
    byte(OS, MaskedCode);
    varint(OS, First.Site + O.Index);
    expression(Address);
    registerNumber(OS, O.Target);
    byte(OS, O.Lanes);
    byte(OS, A.Packed ? 1 : 0);
    varint(OS, A.LaneStride);
}

void OperationWriter::writeValue(const Operation &O) {
    const auto &Shape = R.Accesses[O.Index].A.Shape;
    if (!Shape)
        llvm_unreachable("only an access that has a shape has its value recorded");
    byte(OS, ValueCode);
    byte(OS, static_cast<uint8_t>(Shape->Form));
    varint(OS, Shape->Bits);
    varint(OS, Shape->Lanes);
    for (const RegisterExpression &Word : O.Words)
        expression(Word);
}

void OperationWriter::writeOfAllocation(const Operation &O) {
    switch (O.K) {
    case Kind::Allocate:
        byte(OS, AllocateCode);
        varint(OS, First.Allocation + O.Index);
        expression(O.Address);
        expression(O.Size);
        expression(O.Count);
        return;
    case Kind::Free:
        byte(OS, FreeCode);
        varint(OS, First.Allocation + O.Index);
        expression(O.Address);
        return;
    case Kind::Reallocate:
        byte(OS, ReallocateCode);
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
    byte(OS, RepeatCode);
    expression(O.Count);
    varint(OS, O.Body.size());
    for (const Operation &Inner : O.Body)
        write(Inner);
}

void OperationWriter::writeOrder(const Operation &O) {
    const OrderPoint &Point = R.OrderPoints[O.Index];
    byte(OS, OrderCode);
    byte(OS, static_cast<uint8_t>(Point.By) << 1 | (Point.IsAcquire ? 1 : 0));
    varint(OS, Numbers.Location(*Point.Where));
    expression(O.Address);
    expression(O.Stamp);
}

} // namespace trackway
