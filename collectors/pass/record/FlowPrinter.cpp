#include "record/FlowPrinter.h"

#include "llvm/IR/Function.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace trackway {

namespace {

class FlowPrinter {
  public:
    FlowPrinter(raw_ostream &OS, const Plan &P, ArrayRef<FlowPiece> Pieces) : OS(OS), P(P), Pieces(Pieces) {}

    void print(const Function &F) {
        OS << "flow " << F.getName() << (Pieces.empty() ? ": not described" : "") << "\n";
        for (unsigned I = 0; I < Pieces.size(); ++I) {
            OS << "  ";
            name(I);
            OS << ":" << words(Pieces[I].E);
            callee(Pieces[I]);
            piece(Pieces[I]);
        }
    }

  private:
    static StringRef words(FlowPiece::End E) {
        switch (E) {
        case FlowPiece::End::GoesOn:
            return " goes on";
        case FlowPiece::End::Branches:
            return " branches";
        case FlowPiece::End::Chooses:
            return " chooses";
        case FlowPiece::End::Calls:
            return " calls ";
        case FlowPiece::End::CallsIndirectly:
            return " calls anything";
        case FlowPiece::End::Returns:
            return " returns";
        case FlowPiece::End::Stops:
            return " stops";
        }
        return "";
    }

    static StringRef words(FlowPiece::Loop L) {
        switch (L) {
        case FlowPiece::Loop::None:
            return "";
        case FlowPiece::Loop::Enters:
            return ", enters a loop";
        case FlowPiece::Loop::BackFirst:
            return ", its first way is a loop's";
        case FlowPiece::Loop::BackSecond:
            return ", its second way is a loop's";
        }
        return "";
    }

    void name(unsigned Piece) {
        OS << Piece << " ";
        P.Units[Piece].Block->printAsOperand(OS, false);
    }

    void callee(const FlowPiece &Piece) {
        if (Piece.E == FlowPiece::End::CallsIndirectly && !Piece.Callee.empty())
            OS << ", likely ";
        OS << Piece.Callee;
    }

    void piece(const FlowPiece &Piece) {
        const char *Separator = " to ";
        for (unsigned Successor : Piece.Successors) {
            OS << Separator;
            name(Successor);
            Separator = ", ";
        }
        OS << words(Piece.L) << "; " << Piece.Instructions
           << (Piece.Instructions == 1 ? " instruction" : " instructions");
        if (Piece.Segment)
            OS << ", record " << *Piece.Segment;
        else
            OS << ", no record";
        if (Piece.Continues)
            OS << " in place of that of " << *Piece.Continues;
        OS << "\n";
    }

    raw_ostream &OS;
    const Plan &P;
    ArrayRef<FlowPiece> Pieces;
};

} // namespace

void printFlow(raw_ostream &OS, const Function &F, const Plan &P, ArrayRef<FlowPiece> Pieces) {
    FlowPrinter(OS, P, Pieces).print(F);
}

} // namespace trackway
