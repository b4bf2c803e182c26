#include "record/UnitSegments.h"

#include "LlvmVersion.h"
#include "record/Expect.h"

using namespace llvm;

namespace trackway {

static constexpr unsigned MaxLocalIds = 255;

static Operation ofRegister(Operation::Kind K, Register R) {
    Operation O;
    O.K = K;
    O.Anchor = nullptr;
    O.Target = R;
    return O;
}

static std::vector<Operation> resumeOperations(const Unit &U) {
    std::vector<Operation> Operations;
    for (Register R : U.Resume)
        Operations.push_back(ofRegister(Operation::Kind::LogRoot, R));
    Operations.insert(Operations.end(), U.ResumeSteps.begin(), U.ResumeSteps.end());
    for (Register R : U.ResumeForgets)
        Operations.push_back(ofRegister(Operation::Kind::Forget, R));
    return Operations;
}

PlanSegments::PlanSegments(const Plan &P, const LoopInfo &LI) : P(P), ByUnit(P.Units.size()) {
    std::vector<LocalIds> Ids = giveLocalIds(LI);
    for (unsigned U = 0; U < P.Units.size(); ++U) {
        const Unit &Own = P.Units[U];
        if (Own.hasRecord()) {
            addRecord(U, Ids[U].Record);
            if (hasExpectations(P, Own))
                addCorrections(U, Ids[U]);
        }
        if (!Own.Operations.empty() && Own.resumes())
            ByUnit[U].Resume = add(0, resumeOperations(Own));
    }
}

void PlanSegments::completeFlow(std::vector<FlowPiece> &Flow) const {
    for (unsigned U = 0; U < Flow.size(); ++U)
        if (P.Units[U].hasRecord()) {
            Flow[U].Segment = ByUnit[U].Record;
            Flow[U].Continues = ByUnit[U].Continues;
        }
}

unsigned PlanSegments::rootBytes(ArrayRef<Operation> Operations) const {
    unsigned Bytes = 0;
    for (const Operation &O : Operations)
        if (O.K == Operation::Kind::LogRoot)
            Bytes += P.Registers[O.Target].width();
    return Bytes;
}

// Units of the deepest loops get the ids of one byte; corrections, which are rarer than records, get those that are
// left over. A record that continues another has an id of the same width.
std::vector<PlanSegments::LocalIds> PlanSegments::giveLocalIds(const LoopInfo &LI) {
    std::vector<LocalIds> Ids(P.Units.size());
    std::vector<unsigned> ByDepth;
    for (unsigned U = 0; U < P.Units.size(); ++U)
        if (P.Units[U].hasRecord())
            ByDepth.push_back(U);
    llvm::stable_sort(ByDepth, [&](unsigned A, unsigned B) {
        return LI.getLoopDepth(P.Units[A].Block) > LI.getLoopDepth(P.Units[B].Block);
    });
    unsigned NextLocal = 1;
    auto NextId = [&] { return NextLocal <= MaxLocalIds ? NextLocal++ : 0; };
    for (unsigned U : ByDepth) {
        const Unit &Own = P.Units[U];
        UnitSegments &S = ByUnit[U];
        bool FollowsGlobal = Own.Continues && !ByUnit[*Own.Continues].IsLocal;
        Ids[U].Record = Own.FunctionKnown && !FollowsGlobal ? NextId() : 0;
        S.IsLocal = Ids[U].Record != 0;
        if (Own.Continues && ByUnit[*Own.Continues].IsLocal == S.IsLocal)
            S.Continues = Own.Continues;
    }
    // A correction comes before the record, where the function is no better known.
    for (unsigned U : ByDepth)
        if (ByUnit[U].IsLocal) {
            Ids[U].NearCorrection = mayCorrectNear(U) ? NextId() : 0;
            Ids[U].Correction = hasExpectations(P, P.Units[U]) ? NextId() : 0;
        }
    return Ids;
}

unsigned PlanSegments::add(uint8_t LocalId, std::vector<Operation> Operations) {
    Segments.push_back({LocalId, std::move(Operations)});
    return Segments.size() - 1;
}

void PlanSegments::addRecord(unsigned U, uint8_t LocalId) {
    UnitSegments &S = ByUnit[U];
    std::vector<Operation> Operations = recordOperations(P, P.Units[U]);
    S.Begin = S.Continues ? ByUnit[*S.Continues].End : widthOfId(S.IsLocal);
    S.End = S.Begin + rootBytes(Operations);
    if (S.Continues) {
        const std::vector<Operation> &Prefix = Segments[ByUnit[*S.Continues].Record].Operations;
        Operations.insert(Operations.begin(), Prefix.begin(), Prefix.end());
    }
    S.Record = add(LocalId, std::move(Operations));
}

void PlanSegments::addCorrections(unsigned U, LocalIds Ids) {
    UnitSegments &S = ByUnit[U];
    S.CorrectsFirst = correctsFirst(U);
    std::vector<Operation> Correction;
    if (!S.CorrectsFirst)
        Correction = skip(S.End + StreamEndBytes - widthOfId(Ids.Correction != 0));
    append_range(Correction, correctionOperations(P, P.Units[U]));
    S.Correction = add(Ids.Correction, std::move(Correction));
    if (mayCorrectNear(U))
        S.NearCorrection = add(Ids.NearCorrection, nearCorrectionOperations(P, P.Units[U]));
}

bool PlanSegments::correctsFirst(unsigned U) const { return !ByUnit[U].Continues && isKnownAtHead(P.Units[U]); }

bool PlanSegments::mayCorrectNear(unsigned U) const {
    return correctsFirst(U) && !nearCorrectionOperations(P, P.Units[U]).empty();
}

// Whether every root that is expected has its value already before the unit's first operation.
bool PlanSegments::isKnownAtHead(const Unit &U) const {
    const Instruction *Head = U.Operations.front().Anchor;
    return all_of(U.Operations, [&](const Operation &O) {
        auto *I = expectationOf(P, U, O) ? dyn_cast<Instruction>(P.Registers[O.Target].V) : nullptr;
        return !I || I->getParent() != Head->getParent() || I->comesBefore(Head);
    });
}

// Roots that are never read.
std::vector<Operation> PlanSegments::skip(unsigned Bytes) const {
    std::vector<Operation> Operations;
    for (unsigned Width = 8; Bytes > 0; Bytes -= Width) {
        while (Width > Bytes)
            Width /= 2;
        Operations.push_back(ofRegister(Operation::Kind::LogRoot, P.Skipped[Log2_32(Width)]));
    }
    return Operations;
}

} // namespace trackway
