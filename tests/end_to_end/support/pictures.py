"""Reads PNG files of 8 bits a channel, red, green and blue, as their specification has them."""

import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = 3


def chunks(content):
    assert content.startswith(SIGNATURE)
    position = len(SIGNATURE)
    while position < len(content):
        length, kind = struct.unpack_from(">I4s", content, position)
        data = content[position + 8 : position + 8 + length]
        (checksum,) = struct.unpack_from(">I", content, position + 8 + length)
        assert checksum == zlib.crc32(kind + data), kind
        yield kind, data
        position += 12 + length


def predicted(kind, left, above, corner):
    """The part of a byte that its filter foresees."""
    if kind < 4:
        return (0, left, above, (left + above) // 2)[kind]
    estimate = left + above - corner
    return min((left, above, corner), key=lambda value: abs(estimate - value))


def pixels(path):
    """Width, height, and rows of (red, green, blue)."""
    with open(path, "rb") as file:
        parts = list(chunks(file.read()))
    width, height, *form = struct.unpack(">IIBBBBB", parts[0][1])
    assert form == [8, 2, 0, 0, 0], form
    data = zlib.decompress(b"".join(content for kind, content in parts if kind == b"IDAT"))
    stride = width * CHANNELS
    before, rows = bytearray(stride), []
    for row in range(height):
        kind, *filtered = data[row * (stride + 1) : (row + 1) * (stride + 1)]
        line = bytearray(stride)
        for index, value in enumerate(filtered):
            left, corner = (line[index - CHANNELS], before[index - CHANNELS]) if index >= CHANNELS else (0, 0)
            line[index] = (value + predicted(kind, left, before[index], corner)) & 255
        rows.append([tuple(line[x : x + CHANNELS]) for x in range(0, stride, CHANNELS)])
        before = line
    return width, height, rows
