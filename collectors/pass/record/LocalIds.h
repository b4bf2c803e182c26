// Ids by which records name segments within their function: of one byte, or of two (docs/format.md, section 3).
#pragma once

#include <cstdint>

namespace trackway {

constexpr unsigned GlobalIdBytes = 4;

// Bytes that the id takes in the stream; local ones have a number. Below 256 it is one byte.
constexpr unsigned idBytes(uint16_t LocalId) { return LocalId == 0 ? GlobalIdBytes : LocalId < 256 ? 1 : 2; }

// Gives out a function's local ids.
class LocalIds {
  public:
    // As many ids of one byte as leave enough first bytes for the others.
    explicit LocalIds(unsigned Wanted) {
        while (Prefixes < FirstBytes && FirstBytes - Prefixes + Prefixes * SecondBytes < Wanted)
            ++Prefixes;
    }

    bool areScarce() const { return Prefixes > 0; }
    bool hasOneByte() const { return OneByte < FirstBytes - Prefixes; }
    uint16_t takeOneByte() { return ++OneByte; }

    // 0: there are no more.
    uint16_t takeTwoBytes() {
        if (TwoBytes == Prefixes * SecondBytes)
            return 0;
        unsigned First = FirstBytes - TwoBytes / SecondBytes, Second = 1 + TwoBytes % SecondBytes;
        ++TwoBytes;
        return Second << 8 | First;
    }

  private:
    static constexpr unsigned FirstBytes = 255, SecondBytes = 255; // none is 0

    unsigned Prefixes = 0; // bytes with which ids of two bytes begin: the last ones
    unsigned OneByte = 0, TwoBytes = 0;
};

} // namespace trackway
