// How the table stores numbers: docs/format.md, section 2.
#pragma once

#include "llvm/Support/LEB128.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>

namespace trackway {

inline void varint(llvm::raw_ostream &OS, uint64_t Value) { llvm::encodeULEB128(Value, OS); }

inline void svarint(llvm::raw_ostream &OS, int64_t Value) {
    varint(OS, (static_cast<uint64_t>(Value) << 1) ^ static_cast<uint64_t>(Value >> 63));
}

inline void byte(llvm::raw_ostream &OS, uint8_t Value) { OS << static_cast<char>(Value); }

// Little-endian.
inline void fixed(llvm::raw_ostream &OS, uint64_t Value, unsigned Bytes) {
    for (unsigned I = 0; I < Bytes; ++I)
        byte(OS, static_cast<uint8_t>(Value >> (8 * I)));
}

} // namespace trackway
