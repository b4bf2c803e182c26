// Gives each unit of a plan the segments that describe its record, its corrections and its resume.
#pragma once

#include "record/LocalIds.h"
#include "record/Plan.h"
#include "table/ModuleTable.h"

namespace trackway {

// Where a stream ends, its buffer has the id 0, like a fresh one.
constexpr unsigned StreamEndBytes = 4;

// The segments of a unit, by their index in the function.
struct UnitSegments {
    std::optional<unsigned> Continues; // unit whose record it takes the place of
    unsigned IdBytes = GlobalIdBytes;  // of its record
    unsigned Record = 0;
    unsigned Correction = 0;     // 0: the unit expects nothing
    unsigned NearCorrection = 0; // 0: the unit has none
    unsigned Resume = 0;         // 0: the unit doesn't check
    unsigned Begin = 0, End = 0; // of the roots that the unit itself adds, in bytes from the record's start
    bool CorrectsFirst = false;  // what is expected can be compared before anything is stored
};

class PlanSegments {
  public:
    PlanSegments(const Plan &P, BlockFrequencies &Frequencies);

    // Adds to the pieces of the flow, one for each unit, where their records are.
    void completeFlow(std::vector<FlowPiece> &Flow) const;

    const UnitSegments &ofUnit(unsigned U) const { return ByUnit[U]; }
    const Segment &segment(unsigned Index) const { return Segments[Index]; }
    std::vector<Segment> take() { return std::move(Segments); }

    unsigned idBytes(unsigned Segment) const { return trackway::idBytes(Segments[Segment].LocalId); }
    // Bytes that the roots among the operations take in a record.
    unsigned rootBytes(llvm::ArrayRef<Operation> Operations) const;

  private:
    // 0: none.
    struct UnitIds {
        uint16_t Record = 0, Correction = 0, NearCorrection = 0;
    };
    // A segment that gets a local id.
    struct Candidate {
        unsigned Unit;
        uint16_t UnitIds::*Id;
        uint64_t Weight; // estimates how often it is recorded
    };

    std::vector<UnitIds> giveLocalIds(BlockFrequencies &Frequencies) const;
    std::vector<Candidate> findCandidates() const;
    void weigh(std::vector<Candidate> &Candidates, BlockFrequencies &Frequencies) const;
    unsigned add(uint16_t LocalId, std::vector<Operation> Operations);
    void addRecord(unsigned U, uint16_t LocalId);
    void addCorrections(unsigned U, UnitIds Ids);
    bool correctsFirst(unsigned U) const;
    bool mayCorrectNear(unsigned U) const;
    bool isKnownAtHead(const Unit &U) const;
    std::vector<Operation> skip(unsigned Bytes) const;

    const Plan &P;
    std::vector<UnitSegments> ByUnit;
    std::vector<Segment> Segments;
};

} // namespace trackway
