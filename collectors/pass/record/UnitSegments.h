// Gives each unit of a plan the segments that describe its record, its corrections and its resume.
#pragma once

#include "record/Plan.h"
#include "table/ModuleTable.h"

namespace trackway {

// Where a stream ends, its buffer has the id 0, like a fresh one.
constexpr unsigned StreamEndBytes = 4;

// The segments of a unit, by their index in the function.
struct UnitSegments {
    std::optional<unsigned> Continues; // unit whose record it takes the place of
    bool IsLocal = false;              // its id is one byte
    unsigned Record = 0;
    unsigned Correction = 0;     // 0: the unit expects nothing
    unsigned NearCorrection = 0; // 0: the unit has none
    unsigned Resume = 0;         // 0: the unit doesn't check
    unsigned Begin = 0, End = 0; // of the roots that the unit itself adds, in bytes from the record's start
    bool CorrectsFirst = false;  // what is expected can be compared before anything is stored
};

class PlanSegments {
  public:
    PlanSegments(const Plan &P, const llvm::LoopInfo &LI);

    // Adds to the pieces of the flow, one for each unit, where their records are.
    void completeFlow(std::vector<FlowPiece> &Flow) const;

    const UnitSegments &ofUnit(unsigned U) const { return ByUnit[U]; }
    const Segment &segment(unsigned Index) const { return Segments[Index]; }
    std::vector<Segment> take() { return std::move(Segments); }

    unsigned idBytes(unsigned Segment) const { return widthOfId(Segments[Segment].LocalId != 0); }
    // Bytes that the roots among the operations take in a record.
    unsigned rootBytes(llvm::ArrayRef<Operation> Operations) const;

  private:
    // 0: none.
    struct LocalIds {
        uint8_t Record = 0, Correction = 0, NearCorrection = 0;
    };

    static unsigned widthOfId(bool IsLocal) { return IsLocal ? 1 : 4; }

    std::vector<LocalIds> giveLocalIds(const llvm::LoopInfo &LI);
    unsigned add(uint8_t LocalId, std::vector<Operation> Operations);
    void addRecord(unsigned U, uint8_t LocalId);
    void addCorrections(unsigned U, LocalIds Ids);
    bool correctsFirst(unsigned U) const;
    bool mayCorrectNear(unsigned U) const;
    bool isKnownAtHead(const Unit &U) const;
    std::vector<Operation> skip(unsigned Bytes) const;

    const Plan &P;
    std::vector<UnitSegments> ByUnit;
    std::vector<Segment> Segments;
};

} // namespace trackway
