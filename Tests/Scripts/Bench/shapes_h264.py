# SPDX-License-Identifier: MPL-2.0
"""Degenerate H.264 streams: many repetitions of one element."""

from shapestreams import Bits, CAPTIONS, SHORT, START, Surroundings, UUID, lengths, start_codes


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


CODEC_DATA = (bytes([1, 66, 0xC0, 30, 0xFF, 0xE1]) + len(sps()).to_bytes(2, "big") + sps() + b"\1"
              + len(pps()).to_bytes(2, "big") + pps())
AROUND = Surroundings(
    START + sps() + START + pps() + START + slice_unit(0, idr=True), START + slice_unit(1) + START + slice_unit(2))
flood, counted = AROUND.flood, AROUND.counted


def sei(kind, payload):
    return b"\x06" + bytes([kind, len(payload)]) + payload + b"\x80"


def maps_and_changes(size):
    """PPS of 64 kB each, and as many changes of the SPS that they refer to, in a row."""
    count = max(2, size * 4 // 64000)
    sets = b"".join(START + mapped_pps(1 + index % 255, 64000) for index in range(count))
    changes = b"".join(START + sps(width=2 + index % 2) for index in range(count))
    return AROUND.head + sets + changes + AROUND.tail


def sets_alone(size):
    """Parameter sets without a picture."""
    result = bytearray()
    number = 0
    while len(result) < size:
        result += START + (sps(number % 32, 2 + number % 7) if number % 9 == 0 else pps(number % 256, number % 32))
        number += 1
    return bytes(result)


DELIMITER = b"\x09\xf0"
PICTURE = slice_unit(0, idr=True)

# Name, how it is packaged, and what makes it.
SHAPES = [
    ("NAL units of a byte in one access unit", "bytes", flood(b"\x01", start=START[1:])),
    ("IDR headers alone", "bytes", flood(b"\x65")),
    ("start codes alone", "bytes", flood(b"", start=START)),
    ("short start codes alone", "bytes", flood(b"")),
    ("start codes and nothing else at all", "bytes", start_codes),
    ("zeros and nothing else at all", "bytes", bytes),
    ("zeros behind a picture", "bytes", AROUND.around(bytes)),
    ("no start code", "bytes", lambda size: b"\xff" * size),
    ("one slice", "bytes", AROUND.filled(slice_unit(1), b"\x55")),
    ("one slice of emulation prevention", "bytes", AROUND.filled(slice_unit(1), b"\0\0\3")),
    ("one slice of nearly start codes", "bytes", AROUND.filled(slice_unit(1), b"\0\0\2")),
    ("one slice of pairs of zeros", "bytes", AROUND.filled(slice_unit(1), b"\0\0\x04")),
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
    ("one SEI of many messages", "bytes", AROUND.filled(b"\x06", bytes([5, 20]) + UUID + b"four")),
    ("one SEI of empty messages", "bytes", AROUND.filled(b"\x06", b"\xc8\x00")),
    ("one SEI with a type without end", "bytes", AROUND.filled(b"\x06", b"\xff")),
    ("SEI that end too early", "bytes", flood(b"\x06\x05\xff\xff\x10")),
    ("delimiters", "bytes", flood(DELIMITER)),
    ("a delimiter with every picture", "bytes", counted(lambda n: DELIMITER + SHORT + slice_unit(n))),
    ("filler of a byte", "bytes", flood(b"\x0c\x80")),
    ("one filler NAL unit", "bytes", AROUND.filled(b"\x0c", b"\xff")),
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
    ("start codes at random", "bytes", AROUND.chaos),
    ("lengths of 0", "packets", lengths(PICTURE, b"")),
    ("lengths of 1", "packets", lengths(PICTURE, b"\x01")),
    ("lengths of slices", "packets", lengths(PICTURE, slice_unit(1, first=1))),
    ("lengths of filler", "packets", lengths(PICTURE, b"\x0c\x80")),
    ("lengths beyond the end", "packets", lengths(PICTURE, b"\x41", claimed=0xFFFFFF)),
]
