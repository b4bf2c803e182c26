// The naive oracle (docs/format.md, section 4): a call for every access, found by a walk of its own.
//
// It exists to contradict the recorder's selection and addressing, so it shares no code with them.
#ifndef TRACKWAY_ORACLE_H
#define TRACKWAY_ORACLE_H

#include "code/SpinWaits.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/ValueHandle.h"
#include <cstdint>
#include <vector>

namespace llvm {
class AllocaInst;
class Function;
class Instruction;
class Module;
class Type;
} // namespace llvm

namespace trackway {

// FNV-1a-64 over the module's source file name, a zero byte and the function's linkage name.
uint64_t oracleFunctionHash(const llvm::Module &, const llvm::Function &);

// Metadata on the slots that the oracle's calls need and on the stores that fill them: they are no accesses of the
// program. The calls themselves are known by their callees' prefix `__trackway_`.
inline constexpr char OracleMark[] = "trackway.oracle";

// The places of values while they are reported: the function's slot of each type.
using OracleSlots = llvm::DenseMap<std::pair<llvm::Function *, llvm::Type *>, llvm::AllocaInst *>;

class Oracle {
  public:
    // Whether the part of an access is to be reported, and with its value. Part 1 is the write of a copy, all else is
    // part 0.
    struct Predicates {
        llvm::function_ref<bool(const llvm::Instruction &, unsigned Part)> IsWanted;
        llvm::function_ref<bool(const llvm::Instruction &)> HasValue; // reported with what it loads or stores
    };

    explicit Oracle(llvm::Module &Module) : M(Module) {}

    // Remembers the accesses of a function that isn't instrumented yet.
    void collect(llvm::Function &, Predicates);

    // The loads of such a loop count when the wait is over, since they are recorded then. A wait that the program's end
    // cuts off is in neither.
    void setWait(const SpinWait &W) { Waits.insert({W.Loads.front(), W}); }

    // A range that a library function accesses. What it follows from is computed before the anchor, by the code that
    // recording inserts: whether that is right is for other tests to find.
    struct Range {
        uint64_t Ordinal;
        uint8_t Part;
        bool IsWritten;
        llvm::WeakVH Pointer, Length, Anchor;
    };
    void add(const llvm::Function &F, const Range &R) { Ranges.emplace_back(oracleFunctionHash(M, F), R); }

    // Puts the calls before the remembered accesses, or after them if they report a value that is loaded. Instructions
    // may have been inserted since collect(); a remembered access that was erased in between is a programming error and
    // is reported by collected() != inserted().
    void insert();

    // Forgets all that was remembered after collected() was `Count`.
    void forgetAfter(uint64_t Count) { Found.erase(Found.begin() + static_cast<ptrdiff_t>(Count), Found.end()); }

    uint64_t collected() const { return Found.size(); }
    uint64_t inserted() const { return Inserted; }

  private:
    struct Access {
        llvm::WeakVH Instruction;
        uint64_t Function; // hash
        uint64_t Ordinal;
        uint8_t Parts; // bit n: part n is reported
        bool HasValue;
        llvm::WeakVH Next; // what stood after it
    };

    llvm::Module &M;
    std::vector<Access> Found;
    std::vector<std::pair<uint64_t, Range>> Ranges; // with the hash of the function
    llvm::DenseMap<const llvm::Instruction *, SpinWait> Waits;
    OracleSlots ValueSlots;
    uint64_t Inserted = 0;
};

} // namespace trackway

#endif
