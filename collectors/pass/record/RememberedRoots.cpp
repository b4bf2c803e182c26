#include "record/RememberedRoots.h"

using namespace llvm;

namespace trackway {

// Whether functions share what is remembered, in a register of the stream.
static bool isShared(const Expectation &E) { return E.K == Expectation::Kind::SameHighHalf; }

// The part of the root that is compared.
static Value *comparable(const Expectation &E, const Root &R, IRBuilder<> &B) {
    if (E.K == Expectation::Kind::SameValue)
        return R.V;
    return B.CreateTrunc(B.CreateLShr(B.CreatePtrToInt(R.V, B.getInt64Ty()), 32), B.getInt32Ty());
}

static Value *asInteger(Value *V, IRBuilder<> &B) {
    return V->getType()->isPointerTy() ? B.CreatePtrToInt(V, B.getInt64Ty()) : V;
}

Value *RememberedRoots::differs(const Unit &U, IRBuilder<> &B) {
    Value *Any = nullptr;
    for (const Operation &O : U.Operations)
        if (const Expectation *E = expectationOf(P, U, O)) {
            Value *Now = comparable(*E, P.Registers[O.Target], B);
            Value *Differs = B.CreateICmpNE(Now, likely(*E, Now->getType(), B));
            Any = Any ? B.CreateOr(Any, Differs) : Differs;
        }
    return Any;
}

Value *RememberedRoots::offBy(const Unit &U, IRBuilder<> &B) {
    for (const Operation &O : U.Operations)
        if (const Expectation *E = expectationOf(P, U, O)) {
            Value *Root = P.Registers[O.Target].V;
            Value *Now = asInteger(Root, B);
            return B.CreateSub(Now, asInteger(likely(*E, Root->getType(), B), B));
        }
    return nullptr;
}

Value *RememberedRoots::likely(const Expectation &E, Type *T, IRBuilder<> &B) {
    Value *Last = B.CreateLoad(T, memory(E, T, B), isShared(E));
    if (E.Step == 0)
        return Last;
    return T->isPointerTy() ? B.CreateConstGEP1_64(B.getInt8Ty(), Last, E.Step)
                            : B.CreateAdd(Last, ConstantInt::getSigned(T, E.Step));
}

// What functions share changes only if an expectation failed.
void RememberedRoots::remember(const Unit &U, Instruction *Before, Instruction *Failed) {
    for (const Operation &O : U.Operations)
        if (const Expectation *E = expectationOf(P, U, O)) {
            IRBuilder<> B(isShared(*E) ? Failed : Before);
            Value *Now = comparable(*E, P.Registers[O.Target], B);
            B.CreateStore(Now, memory(*E, Now->getType(), B), isShared(*E));
        }
}

void RememberedRoots::rememberResumed(const Unit &U, Instruction *Before) {
    for (Register R : U.ResumeForgets)
        forget(R, Before);
    for (Register R : U.Resume)
        if (const auto &E = P.Expectations[R]; E && E->Remembered == R && E->In->contains(U.Block)) {
            Value *Now = P.Registers[R].V;
            IRBuilder<> B(Before);
            B.CreateStore(Now, memory(*E, Now->getType(), B));
        }
}

void RememberedRoots::forget(Register Remembered, Instruction *Before) {
    for (unsigned R = 0; R < P.Expectations.size(); ++R)
        if (const auto &E = P.Expectations[R]; E && E->Remembered == Remembered) {
            IRBuilder<> B(Before);
            Type *T = P.Registers[R].V->getType();
            B.CreateStore(Constant::getNullValue(T), memory(*E, T, B));
        }
}

std::vector<AllocaInst *> RememberedRoots::variables() const {
    std::vector<AllocaInst *> All;
    for (auto &[R, Variable] : Variables)
        All.push_back(Variable);
    return All;
}

// Where in struct trackway_cells the program has what a register of the stream holds.
unsigned RememberedRoots::cellOf(Register Remembered) const {
    constexpr unsigned All = sizeof(trackway_cells::high_halves) / sizeof(uint32_t);
    unsigned Cell = (P.Window + Remembered - FirstStreamRegister) % All;
    return offsetof(trackway_cells, high_halves) + Cell * sizeof(uint32_t);
}

// The program's memory for what the decoder holds in the register `Remembered`.
Value *RememberedRoots::memory(const Expectation &E, Type *T, IRBuilder<> &B) {
    if (isShared(E))
        return Stream.cell(B, cellOf(E.Remembered));
    AllocaInst *&Variable = Variables[E.Remembered];
    if (!Variable) {
        IRBuilder<> Entry(&F.getEntryBlock(), F.getEntryBlock().begin());
        Variable = Entry.CreateAlloca(T, nullptr, "trackway.expected");
    }
    return Variable;
}

} // namespace trackway
