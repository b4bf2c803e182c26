#include "table/PackedBody.h"
#include "table/Encoding.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace trackway {

// The level from which on a further per cent costs more time than it takes to compile what the table describes.
static constexpr int Level = 6;

// Bytes below which there is nothing to gain, and the table is better read in a dump.
static constexpr size_t SmallestPacked = 1024;

bool packBody(std::string &Body) {
    if (Body.size() < SmallestPacked || !compression::zstd::isAvailable())
        return false;
    SmallVector<uint8_t, 0> Frame;
    compression::zstd::compress(arrayRefFromStringRef(Body), Frame, Level);
    std::string Packed;
    raw_string_ostream Out(Packed);
    fixed(Out, Body.size(), 4);
    Out << toStringRef(Frame);
    Out.flush();
    if (Packed.size() >= Body.size())
        return false;
    Body = std::move(Packed);
    return true;
}

} // namespace trackway
