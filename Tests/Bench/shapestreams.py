# SPDX-License-Identifier: MPL-2.0
"""Streams that are all of one thing: what shapes.py measures. Each is made to a number of bytes."""

import random

START = b"\0\0\0\1"
SHORT = b"\0\0\1"


class Bits:
    """Writes a NAL unit's syntax elements."""

    def __init__(self, header):
        self.bits = [header >> place & 1 for place in range(7, -1, -1)]

    def u(self, count, value):
        self.bits += [value >> place & 1 for place in range(count - 1, -1, -1)]
        return self

    def ue(self, *values):
        for value in values:
            length = (value + 1).bit_length()
            self.u(2 * length - 1, value + 1)
        return self

    def bytes(self):
        bits = self.bits + [1]
        bits += [0] * (-len(bits) % 8)
        plain = bytes(int("".join(map(str, bits[at:at + 8])), 2) for at in range(0, len(bits), 8))
        result = bytearray()
        zeros = 0
        for byte in plain:
            if zeros >= 2 and byte <= 3:
                result.append(3)
                zeros = 0
            result.append(byte)
            zeros = zeros + 1 if byte == 0 else 0
        return bytes(result)


def sps(number=0, width=2, level=30):
    """Baseline, picture order count type 2, frames only."""
    return Bits(0x67).u(8, 66).u(8, 0xC0).u(8, level).ue(number, 0, 2, 1).u(1, 0).ue(width - 1, 1).u(4, 0b1100).bytes()


def pps(number=0, sequence=0, qp=0):
    return Bits(0x68).ue(number, sequence).u(2, 0).ue(0, 0, 0).u(3, 0).ue(qp, 0, 0).u(3, 0).bytes()


def mapped_pps(number, size):
    """With a map of slice groups (type 6) that takes about `size` bytes."""
    units = size * 8
    bits = Bits(0x68).ue(number, 0).u(2, 0).ue(1, 6, units - 1)
    bits.bits += [index & 1 for index in range(units)]
    return bits.ue(0, 0).u(3, 0).ue(0, 0, 0).u(3, 0).bytes()


def slice_unit(number, idr=False, first=0, picture=0, payload=b"\x55" * 12):
    bits = Bits(0x65 if idr else 0x41).ue(first, 7 if idr else 5, picture).u(4, 0 if idr else number & 15)
    if idr:
        bits.ue(number & 1)
    return bits.u(5, 0).bytes() + payload


HEAD = START + sps() + START + pps() + START + slice_unit(0, idr=True)
TAIL = START + slice_unit(1) + START + slice_unit(2)
CODEC_DATA = (bytes([1, 66, 0xC0, 30, 0xFF, 0xE1]) + len(sps()).to_bytes(2, "big") + sps() + b"\1"
              + len(pps()).to_bytes(2, "big") + pps())


def flood(*units, start=SHORT):
    """The NAL units again and again, between a picture in front and two behind."""
    once = b"".join(start + unit for unit in units)
    return lambda size: HEAD + once * max(1, size // len(once)) + TAIL


def counted(make, start=SHORT):
    """NAL units, each made of its number."""
    def shape(size):
        result = bytearray(HEAD)
        number = 0
        while len(result) < size:
            result += start + make(number)
            number += 1
        return bytes(result) + TAIL
    return shape


def filled(pattern):
    """One slice of nothing but this pattern."""
    return lambda size: HEAD + START + slice_unit(1) + pattern * (size // len(pattern)) + b"\x80" + TAIL


def sei(kind, payload):
    return b"\x06" + bytes([kind, len(payload)]) + payload + b"\x80"


def many_messages(message):
    return lambda size: HEAD + START + b"\x06" + message * (size // len(message)) + b"\x80" + TAIL


def maps_and_changes(size):
    """PPS of 64 kB each, and as many changes of the SPS that they refer to, in a row."""
    count = max(2, size * 4 // 64000)
    sets = b"".join(START + mapped_pps(1 + index % 255, 64000) for index in range(count))
    changes = b"".join(START + sps(width=2 + index % 2) for index in range(count))
    return HEAD + sets + changes + TAIL


def sets_alone(size):
    """No picture at all."""
    result = bytearray()
    number = 0
    while len(result) < size:
        result += START + (sps(number % 32, 2 + number % 7) if number % 9 == 0 else pps(number % 256, number % 32))
        number += 1
    return bytes(result)


def chaos(size):
    """Start codes everywhere, and any NAL unit type behind them."""
    chance = random.Random(4)
    result = bytearray(HEAD)
    while len(result) < size:
        result += SHORT + chance.randbytes(chance.randrange(6))
    return bytes(result) + TAIL


def lengths(unit, claimed=None):
    """Behind lengths of four bytes, in one access unit."""
    once = (len(unit) if claimed is None else claimed).to_bytes(4, "big") + unit
    picture = slice_unit(0, idr=True)
    return lambda size: len(picture).to_bytes(4, "big") + picture + once * max(1, size // len(once))


UUID = bytes(range(0x40, 0x50))
CAPTIONS = bytes.fromhex("b500314741393403c1fffc8080ff")
DELIMITER = b"\x09\xf0"

# Name, how it is packaged, and what makes it.
SHAPES = [
    ("NAL units of a byte in one access unit", "bytes", flood(b"\x01", start=START[1:])),
    ("IDR headers alone", "bytes", flood(b"\x65")),
    ("start codes alone", "bytes", flood(b"", start=START)),
    ("short start codes alone", "bytes", flood(b"")),
    ("start codes and nothing else at all", "bytes", lambda size: START * (size // 4)),
    ("zeros and nothing else at all", "bytes", lambda size: bytes(size)),
    ("zeros behind a picture", "bytes", lambda size: HEAD + bytes(size) + TAIL),
    ("no start code", "bytes", lambda size: b"\xff" * size),
    ("one slice", "bytes", filled(b"\x55")),
    ("one slice of emulation prevention", "bytes", filled(b"\0\0\3")),
    ("one slice of nearly start codes", "bytes", filled(b"\0\0\2")),
    ("one slice of pairs of zeros", "bytes", filled(b"\0\0\x04")),
    ("parameter sets alone", "bytes", sets_alone),
    ("PPS with maps, and changes of their SPS", "bytes", maps_and_changes),
    ("the same SPS", "bytes", flood(sps())),
    ("SPS of two sizes in turn", "bytes", flood(sps(width=2), sps(width=3))),
    ("SPS of all ids", "bytes", counted(lambda n: sps(n % 32, 2 + n % 5))),
    ("the same PPS", "bytes", flood(pps())),
    ("PPS of all ids", "bytes", counted(lambda n: pps(n % 256, 0, n % 7))),
    ("PPS of SPS that are not there", "bytes", counted(lambda n: pps(n % 256, 1 + n % 31))),
    ("a new SPS with every picture", "bytes",
     counted(lambda n: sps(width=2 + n % 2) + START + pps() + START + slice_unit(n, idr=True))),
    ("SPS extensions", "bytes", flood(Bits(0x6D).ue(0, 0).u(1, 0).bytes())),
    ("subset SPS", "bytes", flood(b"\x6f" + sps()[1:])),
    ("unreadable SPS", "bytes", flood(b"\x67\x42\xc0")),
    ("SEI of user data", "bytes", flood(sei(5, UUID + b"words"))),
    ("SEI of a UUID alone", "bytes", flood(sei(5, UUID))),
    ("SEI of captions", "bytes", flood(sei(4, CAPTIONS))),
    ("one SEI of many messages", "bytes", many_messages(bytes([5, 20]) + UUID + b"four")),
    ("one SEI of empty messages", "bytes", many_messages(b"\xc8\x00")),
    ("one SEI with a type without end", "bytes", many_messages(b"\xff")),
    ("SEI that end too early", "bytes", flood(b"\x06\x05\xff\xff\x10")),
    ("delimiters", "bytes", flood(DELIMITER)),
    ("a delimiter with every picture", "bytes", counted(lambda n: DELIMITER + SHORT + slice_unit(n))),
    ("filler of a byte", "bytes", flood(b"\x0c\x80")),
    ("one filler NAL unit", "bytes", lambda size: HEAD + START + b"\x0c" + b"\xff" * size + b"\x80" + TAIL),
    ("ends of sequence", "bytes", flood(b"\x0a")),
    ("ends of stream", "bytes", flood(b"\x0b")),
    ("prefix NAL units", "bytes", flood(b"\x6e\x40\x80\x07")),
    ("slice extensions", "bytes", flood(b"\x74\x40\x80\x07\x88")),
    ("NAL units of RTP", "bytes", flood(b"\x78\x01", b"\x7c\x02")),
    ("reserved NAL units", "bytes", flood(b"\x00", b"\x1e")),
    ("the forbidden bit", "bytes", flood(b"\xe5\x88", b"\xc1\x9a")),
    ("data partitions without their first", "bytes", flood(b"\x63\x80", b"\x64\x80")),
    ("slices of one picture", "bytes", counted(lambda n: slice_unit(1, first=1 + n % 3, payload=b""))),
    ("pictures of a slice", "bytes", counted(lambda n: slice_unit(n))),
    ("IDR pictures of a slice", "bytes", counted(lambda n: slice_unit(n, idr=True))),
    ("slices of a PPS that is not there", "bytes", counted(lambda n: slice_unit(n, picture=9))),
    ("pictures with zeros behind them", "bytes", counted(lambda n: slice_unit(n) + bytes(1000))),
    ("start codes at random", "bytes", chaos),
    ("lengths of 0", "avc", lengths(b"")),
    ("lengths of 1", "avc", lengths(b"\x01")),
    ("lengths of slices", "avc", lengths(slice_unit(1, first=1))),
    ("lengths of filler", "avc", lengths(b"\x0c\x80")),
    ("lengths beyond the end", "avc", lengths(b"\x41", claimed=0xFFFFFF)),
]
