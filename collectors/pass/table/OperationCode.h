// How the module table names operations: docs/format.md, section 2.1. A test of the reader compares these numbers with
// its own (trace/src/table/as_the_pass_writes.rs).
#pragma once

#include <cstdint>

namespace trackway {

enum class OperationCode : uint8_t {
    Root = 1,
    Set = 2,
    Access = 3,
    Block = 4,
    Masked = 5,
    Gather = 6,
    Allocate = 7,
    Free = 8,
    Reallocate = 9,
    Enter = 10,
    Exit = 11,
    Loop = 12,
    Value = 13,
    Order = 14,
    Region = 15,
};

enum RootBit : uint8_t { SignBit = 16 }; // in the byte that says a root's width
enum MaskedBit : uint8_t { PackedBit = 1 };

} // namespace trackway
