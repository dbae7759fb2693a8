# SPDX-License-Identifier: MPL-2.0
"""Degenerate H.265 streams: many repetitions of one element."""

from shapestreams import Bits, CAPTIONS, SHORT, START, Surroundings, UUID, lengths, start_codes


def header(kind, layer=0):
    return bytes([kind << 1 | layer >> 5, (layer & 31) << 3 | 1])


def with_profile(bits):
    """Main, level 2.1."""
    return bits.u(32, 0x01600000).u(32, 0x90000000).u(32, 63)


def vps(number=0):
    bits = Bits(*header(32)).u(4, number).u(2, 3).u(6, 0).u(3, 0).u(1, 1).u(16, 0xFFFF)
    return with_profile(bits).u(1, 1).ue(1, 0, 0).u(6, 0).ue(0).u(2, 0).bytes()


def many_layer_sets():
    """A VPS with the most layer sets, and HRD parameters for each."""
    bits = Bits(*header(32)).u(4, 0).u(2, 3).u(6, 0).u(3, 0).u(1, 1).u(16, 0xFFFF)
    bits = with_profile(bits).u(1, 1).ue(1, 0, 0).u(6, 62).ue(1023)
    bits.bits += [1] * 63 * 1023
    bits.u(1, 1).u(32, 1).u(32, 25).u(1, 0).ue(1024)
    for index in range(1024):
        bits.ue(index)
        if index:
            bits.u(1, 0)
        # No HRD parameters of either kind; low delay, one buffer.
        else:
            bits.u(2, 0)
        bits.u(1, 1).ue(0).u(1, 1).ue(0)
    return bits.u(1, 0).bytes()


def sps(number=0, width=1):
    """Blocks of 64, one high; no reordering, 8 bits of picture order count."""
    bits = with_profile(Bits(*header(33)).u(4, 0).u(3, 0).u(1, 1)).ue(number, 1, 64 * width, 64).u(1, 0)
    return bits.ue(0, 0, 4).u(1, 1).ue(1, 0, 0).ue(0, 3, 0, 3, 0, 0).u(4, 0).ue(0).u(5, 0).bytes()


def sps_of_predicted_sets():
    """64 reference picture sets of 16 pictures, all but the first predicted."""
    bits = with_profile(Bits(*header(33)).u(4, 0).u(3, 0).u(1, 1)).ue(0, 1, 64, 64).u(1, 0)
    bits.ue(0, 0, 4).u(1, 1).ue(15, 0, 0).ue(0, 3, 0, 3, 0, 0).u(4, 0).ue(64).ue(15, 0)
    for _ in range(15):
        bits.ue(0).u(1, 1)
    for _ in range(63):
        # Predicted, down by one: uses the set that it is predicted from, and not the picture itself.
        bits.u(1, 1).u(1, 1).ue(0)
        bits.bits += [1] * 15 + [0, 0]
    return bits.u(5, 0).bytes()


def pps(number=0, sequence=0, qp=0, extension=0):
    bits = Bits(*header(34)).ue(number, sequence).u(7, 0).ue(0, 0, qp).u(3, 0).ue(0, 0).u(6, 0).u(4, 0).ue(0)
    bits.u(1, 0).u(1, extension > 0)
    if extension:
        # Data of an undefined extension.
        bits.u(8, 1)
        bits.bits += [1, 0] * (extension * 4)
    return bits.bytes()


def tiled_pps(number):
    """20 × 22 tiles of given sizes."""
    bits = Bits(*header(34)).ue(number, 0).u(7, 0).ue(0, 0, 0).u(3, 0).ue(0, 0).u(4, 0).u(2, 2).ue(19, 21).u(1, 0)
    return bits.ue(*[0] * 40).u(1, 0).u(5, 0).ue(0).u(2, 0).bytes()


def slice_unit(number, kind=1, address=None, picture=0, payload=b"\x55" * 12):
    """20 is an IDR picture, 21 CRA, 9 RASL. A picture of two blocks has an address 1."""
    bits = Bits(*header(kind)).u(1, address is None)
    if 16 <= kind <= 23:
        bits.u(1, 0)
    bits.ue(picture)
    if address is not None:
        bits.u(1, address & 1)
    bits.ue(2)
    if kind not in (19, 20):
        bits.u(8, number & 255).u(1, 0).ue(0, 0)
    return bits.bytes() + payload


def sei(kind, payload, suffix=False):
    return header(40 if suffix else 39) + bytes([kind, len(payload)]) + payload + b"\x80"


SETS = (vps(), sps(), pps())
PICTURE = slice_unit(0, 20)
CODEC_DATA = (bytes([1, 1, 0x60, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 63, 0xF0, 0, 0xFC, 0xFD, 0xF8, 0xF8, 0, 0, 0x0F, 3])
              + b"".join(bytes([0x80 | unit[0] >> 1, 0, 1]) + len(unit).to_bytes(2, "big") + unit for unit in SETS))
AROUND = Surroundings(
    b"".join(START + unit for unit in (*SETS, PICTURE)), START + slice_unit(1) + START + slice_unit(2))
flood, counted = AROUND.flood, AROUND.counted
PREFIX, SUFFIX = header(39), header(40)
DELIMITER = header(35) + b"\x50"


def extensions_and_changes(size):
    """64 long PPS, and changes of the SPS that they refer to."""
    sets = b"".join(START + pps(index, extension=size // 80) for index in range(64))
    changes = b"".join(START + sps(width=1 + index % 2) for index in range(max(2, size // 200)))
    return AROUND.head + sets + changes + AROUND.tail


def sets_alone(size):
    """Parameter sets without a picture."""
    result = bytearray()
    for number in range(size):
        if len(result) >= size:
            break
        makers = [lambda: vps(number % 16), lambda: sps(number % 16, 1 + number % 7),
                  lambda: pps(number % 64, number % 16)]
        result += START + makers[min(number % 9, 2)]()
    return bytes(result)


# Name, how it is packaged, and what makes it.
SHAPES = [
    ("NAL units of a byte in one access unit", "bytes", flood(b"\x02", start=START[1:])),
    ("NAL units of a header in one access unit", "bytes", flood(b"\x02\x01")),
    ("IDR headers alone", "bytes", flood(header(20))),
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
    ("PPS with long extensions, and changes of their SPS", "bytes", extensions_and_changes),
    ("the same VPS", "bytes", flood(vps())),
    ("VPS of all ids", "bytes", counted(lambda n: vps(n % 16))),
    ("VPS of many sets of layers", "bytes", flood(many_layer_sets())),
    ("the same SPS", "bytes", flood(sps())),
    ("SPS of two sizes in turn", "bytes", flood(sps(width=1), sps(width=2))),
    ("SPS of two sizes in turn, with 64 PPS", "bytes",
     AROUND.around(lambda size: b"".join(START + pps(n) for n in range(64))
                   + (SHORT + sps(width=1) + SHORT + sps(width=2)) * (size // (2 * len(sps()) + 6)))),
    ("SPS of all ids", "bytes", counted(lambda n: sps(n % 16, 1 + n % 5))),
    ("SPS of predicted reference picture sets", "bytes", flood(sps_of_predicted_sets(), sps())),
    ("the same PPS", "bytes", flood(pps())),
    ("PPS of all ids", "bytes", counted(lambda n: pps(n % 64, 0, n % 7))),
    ("PPS of tiles", "bytes", counted(lambda n: tiled_pps(n % 64))),
    ("PPS of SPS that are not there", "bytes", counted(lambda n: pps(n % 64, 1 + n % 15))),
    ("a new SPS with every picture", "bytes",
     counted(lambda n: vps() + START + sps(width=1 + n % 2) + START + pps() + START + slice_unit(n, 20))),
    ("unreadable VPS", "bytes", flood(vps()[:3])),
    ("unreadable SPS", "bytes", flood(sps()[:4])),
    ("parameter sets of other layers", "bytes", flood(header(33, 1) + sps()[2:], header(34, 1) + pps()[2:])),
    ("SEI of user data", "bytes", flood(sei(5, UUID + b"words"))),
    ("SEI of a UUID alone", "bytes", flood(sei(5, UUID))),
    ("SEI of captions", "bytes", flood(sei(4, CAPTIONS))),
    ("suffix SEI of picture hashes", "bytes", flood(sei(132, b"\0" + UUID, suffix=True))),
    ("one SEI of many messages", "bytes", AROUND.filled(PREFIX, bytes([5, 20]) + UUID + b"four")),
    ("one SEI of empty messages", "bytes", AROUND.filled(PREFIX, b"\xc8\x00")),
    ("one suffix SEI of empty messages", "bytes", AROUND.filled(SUFFIX, b"\xc8\x00")),
    ("one SEI with a type without end", "bytes", AROUND.filled(PREFIX, b"\xff")),
    ("SEI that end too early", "bytes", flood(PREFIX + b"\x05\xff\xff\x10")),
    ("delimiters", "bytes", flood(DELIMITER)),
    ("a delimiter with every picture", "bytes", counted(lambda n: DELIMITER + SHORT + slice_unit(n))),
    ("filler of a byte", "bytes", flood(header(38) + b"\x80")),
    ("one filler NAL unit", "bytes", AROUND.filled(header(38), b"\xff")),
    ("ends of sequence", "bytes", flood(header(36))),
    ("ends of stream", "bytes", flood(header(37))),
    ("slices of other layers", "bytes", flood(header(1, 1) + slice_unit(1)[2:])),
    ("NAL units of RTP", "bytes", flood(header(48) + b"\x12\x34", header(49) + b"\x12\x34", header(50) + b"\x12\x34")),
    ("reserved NAL units", "bytes", flood(header(22) + b"\x80", header(41) + b"\x80", header(60) + b"\x80")),
    ("the forbidden bit", "bytes", flood(b"\x82\x01\x80", b"\xa8\x01\x80")),
    ("slice segments of one picture", "bytes", counted(lambda n: slice_unit(1, address=1, payload=b""))),
    ("pictures of a slice", "bytes", counted(lambda n: slice_unit(n))),
    ("IDR pictures of a slice", "bytes", counted(lambda n: slice_unit(n, 20))),
    ("CRA pictures of a slice", "bytes", counted(lambda n: slice_unit(n, 21))),
    ("CRA pictures and RASL pictures in turn", "bytes",
     counted(lambda n: slice_unit(n, 21) + SHORT + slice_unit(n - 1, 9) + SHORT + header(36))),
    ("slices of a PPS that is not there", "bytes", counted(lambda n: slice_unit(n, picture=9))),
    ("pictures with zeros behind them", "bytes", counted(lambda n: slice_unit(n) + bytes(1000))),
    ("start codes at random", "bytes", AROUND.chaos),
    ("lengths of 0", "packets", lengths(PICTURE, b"")),
    ("lengths of 1", "packets", lengths(PICTURE, b"\x02")),
    ("lengths of slices", "packets", lengths(PICTURE, slice_unit(1, address=1))),
    ("lengths of filler", "packets", lengths(PICTURE, header(38) + b"\x80")),
    ("lengths beyond the end", "packets", lengths(PICTURE, b"\x02", claimed=0xFFFFFF)),
]
