#include "table/Operation.h"

using namespace llvm;

namespace trackway {

void forRegistersRead(const Operation &O, function_ref<void(Register)> Visit) {
    for (const RegisterExpression *E : {&O.NewValue, &O.Address, &O.Size, &O.Count, &O.Old, &O.Stamp})
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

} // namespace trackway
