#include "record/PlanPrinter.h"

#include "record/Expect.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace trackway {

namespace {

class PlanPrinter {
  public:
    PlanPrinter(raw_ostream &OS, const Plan &P) : OS(OS), P(P) {}

    void print(const Function &F) {
        OS << "function " << F.getName() << "\n";
        for (const Unit &U : P.Units)
            if (!U.Operations.empty())
                unit(U);
        for (const Instruction *I : P.PublishBefore)
            OS << "  publish before " << I->getOpcodeName() << " in " << name(I->getParent()) << "\n";
        for (auto &[Terminator, Successor] : P.PublishOnEdge)
            OS << "  publish from " << name(Terminator->getParent()) << " to "
               << name(Terminator->getSuccessor(Successor)) << "\n";
    }

  private:
    static std::string name(const Value *V) {
        std::string Text;
        raw_string_ostream Stream(Text);
        V->printAsOperand(Stream, false);
        return Text;
    }

    void unit(const Unit &U) {
        OS << "  unit " << name(U.Block) << ": " << (U.FunctionKnown ? "local" : "global");
        if (U.Checks)
            OS << ", checks";
        if (U.Continues)
            OS << ", continues " << name(P.Units[*U.Continues].Block);
        if (!U.Resume.empty()) {
            OS << ", resume";
            for (Register R : U.Resume)
                OS << " r" << R;
        }
        OS << "\n";
        for (const Operation &O : U.ResumeSteps)
            operation(U, O, 2);
        for (const Operation &O : U.Operations)
            operation(U, O);
    }

    void operation(const Unit &U, const Operation &O, unsigned Depth = 0) {
        using Kind = Operation::Kind;
        OS.indent(4 + 2 * Depth);
        switch (O.K) {
        case Kind::Context:
            OS << "context";
            break;
        case Kind::LogRoot:
            root(O.Target);
            if (const Expectation *E = expectationOf(P, U, O))
                expectation(*E);
            break;
        case Kind::Set:
            OS << "set r" << O.Target << " = ";
            expression(O.NewValue);
            break;
        case Kind::Forget:
            OS << "forget r" << O.Target;
            break;
        case Kind::Step:
            OS << "step r" << O.Target << " by " << O.Delta;
            break;
        case Kind::Single:
            at("access", O);
            break;
        case Kind::Block:
            at("block", O);
            OS << ", length ";
            expression(O.Size);
            break;
        case Kind::Masked:
            at("masked", O);
            OS << ", mask r" << O.Target << ", lanes " << O.FirstLaneIndex << "+" << O.Lanes;
            break;
        case Kind::Gather:
            OS << "gather " << O.Index << " at r" << O.FirstLane << "..., mask r" << O.Target << ", lanes "
               << O.FirstLaneIndex << "+" << O.Lanes;
            break;
        case Kind::Value:
            OS << "value of " << O.Index;
            words(O);
            break;
        case Kind::Allocate:
            at("allocate", O);
            sizes(O);
            break;
        case Kind::Reallocate:
            at("reallocate", O);
            sizes(O);
            OS << ", old ";
            expression(O.Old);
            break;
        case Kind::Free:
            at("free", O);
            break;
        case Kind::Enter:
            OS << "enter";
            break;
        case Kind::Exit:
            OS << "exit";
            break;
        case Kind::Order:
            at("order", O);
            OS << ", stamp ";
            expression(O.Stamp);
            break;
        case Kind::Repeat:
            OS << "repeat ";
            expression(O.Count);
            OS << " times";
            break;
        }
        OS << "\n";
        for (const Operation &Inner : O.Body)
            operation(U, Inner, Depth + 1);
    }

    void words(const Operation &O) {
        const char *Separator = ": ";
        for (const RegisterExpression &Word : O.Words) {
            OS << Separator;
            expression(Word);
            Separator = ", ";
        }
    }

    void expectation(const Expectation &E) {
        OS << (E.K == Expectation::Kind::SameValue ? ", repeats" : ", high half repeats");
        if (E.Step != 0)
            OS << " plus " << E.Step;
    }

    void root(Register R) {
        const Root &Root = P.Registers[R];
        OS << "root r" << R << " = " << name(Root.V);
        if (Root.Form == RootForm::Lane || Root.Form == RootForm::MaskBits || Root.Form == RootForm::Word)
            OS << "[" << Root.Index << "]";
        OS << " : " << Root.width() << (Root.Form == RootForm::Signed ? " signed" : "");
    }

    void at(StringRef What, const Operation &O) {
        OS << What << " " << O.Index << " at ";
        expression(O.Address);
    }

    void sizes(const Operation &O) {
        OS << ", size ";
        expression(O.Size);
        OS << ", count ";
        expression(O.Count);
    }

    void expression(const RegisterExpression &E) {
        const char *Separator = "";
        if (E.Symbol) {
            OS << name(E.Symbol);
            Separator = " + ";
        }
        for (auto &[R, Scale] : E.Terms) {
            OS << Separator << "r" << R;
            if (Scale != 1)
                OS << " * " << Scale;
            Separator = " + ";
        }
        if (E.Constant != 0 || *Separator == 0)
            OS << Separator << E.Constant;
    }

    raw_ostream &OS;
    const Plan &P;
};

} // namespace

void printPlan(raw_ostream &OS, const Function &F, const Plan &P) { PlanPrinter(OS, P).print(F); }

} // namespace trackway
