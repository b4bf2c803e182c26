#include "record/UnitSegments.h"

#include "LlvmVersion.h"
#include "record/Expect.h"

using namespace llvm;

namespace trackway {

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

PlanSegments::PlanSegments(const Plan &P, BlockFrequencies &Frequencies) : P(P), ByUnit(P.Units.size()) {
    std::vector<UnitIds> Ids = giveLocalIds(Frequencies);
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

// The segments that have local ids: what is recorded only where the decoder knows the function. A record that continues
// another has an id of the same width.
std::vector<PlanSegments::Candidate> PlanSegments::findCandidates() const {
    std::vector<bool> IsLocal(P.Units.size());
    std::vector<Candidate> Records, Corrections;
    for (unsigned U = 0; U < P.Units.size(); ++U) {
        const Unit &Own = P.Units[U];
        IsLocal[U] = Own.hasRecord() && Own.FunctionKnown && (!Own.Continues || IsLocal[*Own.Continues]);
        if (!IsLocal[U])
            continue;
        Records.push_back({U, &UnitIds::Record, 0});
        // A correction comes before the record, where the function is no better known.
        if (isKnownAtHead(Own) && !nearCorrectionOperations(P, Own).empty())
            Corrections.push_back({U, &UnitIds::NearCorrection, 0});
        if (hasExpectations(P, Own))
            Corrections.push_back({U, &UnitIds::Correction, 0});
    }
    append_range(Records, Corrections);
    return Records;
}

// Corrections are rarer than their records. No record is taken for a busier one than the one that it continues.
void PlanSegments::weigh(std::vector<Candidate> &Candidates, BlockFrequencies &Frequencies) const {
    constexpr uint64_t RecordsPerNear = 4, RecordsPerCorrection = 16;
    std::vector<uint64_t> OfUnit(P.Units.size());
    for (unsigned U = 0; U < P.Units.size(); ++U) {
        OfUnit[U] = Frequencies.of(P.Units[U].Block);
        if (auto Before = P.Units[U].Continues)
            OfUnit[U] = std::min(OfUnit[U], OfUnit[*Before]);
    }
    for (Candidate &C : Candidates)
        C.Weight = OfUnit[C.Unit] / (C.Id == &UnitIds::Record           ? 1
                                     : C.Id == &UnitIds::NearCorrection ? RecordsPerNear
                                                                        : RecordsPerCorrection);
}

// The busiest segments get the ids of one byte if there aren't enough of these.
std::vector<PlanSegments::UnitIds> PlanSegments::giveLocalIds(BlockFrequencies &Frequencies) const {
    std::vector<UnitIds> Ids(P.Units.size());
    std::vector<Candidate> Candidates = findCandidates();
    LocalIds Available(Candidates.size());
    if (Available.areScarce()) {
        weigh(Candidates, Frequencies);
        llvm::stable_sort(Candidates, [](const Candidate &A, const Candidate &B) { return A.Weight > B.Weight; });
    }
    auto RecordBytes = [&](unsigned U) { return trackway::idBytes(Ids[U].Record); };
    for (const Candidate &C : Candidates) {
        std::optional<unsigned> Before = P.Units[C.Unit].Continues;
        if (C.Id == &UnitIds::NearCorrection && Before && RecordBytes(*Before) == RecordBytes(C.Unit))
            continue; // the unit doesn't correct before its record
        bool IsLong = C.Id == &UnitIds::Record && Before && RecordBytes(*Before) > 1;
        Ids[C.Unit].*C.Id = !IsLong && Available.hasOneByte() ? Available.takeOneByte() : Available.takeTwoBytes();
    }
    return Ids;
}

unsigned PlanSegments::add(uint16_t LocalId, std::vector<Operation> Operations) {
    Segments.push_back({LocalId, std::move(Operations)});
    return Segments.size() - 1;
}

void PlanSegments::addRecord(unsigned U, uint16_t LocalId) {
    UnitSegments &S = ByUnit[U];
    S.IdBytes = trackway::idBytes(LocalId);
    std::optional<unsigned> Before = P.Units[U].Continues;
    if (Before && ByUnit[*Before].IdBytes == S.IdBytes)
        S.Continues = Before;
    std::vector<Operation> Operations = recordOperations(P, P.Units[U]);
    S.Begin = S.Continues ? ByUnit[*S.Continues].End : S.IdBytes;
    S.End = S.Begin + rootBytes(Operations);
    if (S.Continues) {
        const std::vector<Operation> &Prefix = Segments[ByUnit[*S.Continues].Record].Operations;
        Operations.insert(Operations.begin(), Prefix.begin(), Prefix.end());
    }
    S.Record = add(LocalId, std::move(Operations));
}

void PlanSegments::addCorrections(unsigned U, UnitIds Ids) {
    UnitSegments &S = ByUnit[U];
    S.CorrectsFirst = correctsFirst(U);
    std::vector<Operation> Correction;
    if (!S.CorrectsFirst)
        Correction = skip(S.End + StreamEndBytes - trackway::idBytes(Ids.Correction));
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
