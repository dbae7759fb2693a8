# SPDX-License-Identifier: MPL-2.0
"""Streams for the tests of the pages, made of this project's clips."""
import pathlib
import struct

media = pathlib.Path(__file__).resolve().parents[2] / "Media"
start_code = b"\0\0\0\1"


def nal_units(data):
    """The NAL units of a byte stream whose start codes have three or four bytes."""
    parts = data.split(b"\0\0\1")[1:]
    return [part[:-1] if part.endswith(b"\0") and index + 1 < len(parts) else part for index, part in enumerate(parts)]


def clip(name="clip.h264"):
    return (media / name).read_bytes()


def damaged():
    """A clip without its second access unit, a reference picture."""
    data, delimiter = clip(), b"\0\0\0\1\x09"
    second = data.index(delimiter, 5)
    return data[:second] + data[data.index(delimiter, second + 5):]


def two_formats():
    """Two clips of different sizes, concatenated: their parameter sets have the same ids."""
    return clip("clip.h264") + clip("wide.h264")


def user_data(text):
    """A NAL unit of H.264 with user data SEI."""
    return message(b"\x06", {5: bytes(range(16)) + text.encode()})


def message(header, payloads):
    """A NAL unit with SEI messages by type."""
    body = b""
    for kind, payload in payloads.items():
        body += bytes([kind]) + b"\xff" * (len(payload) // 255) + bytes([len(payload) % 255]) + payload
    body += b"\x80"
    escaped, zeros = bytearray(header), 0
    for byte in body:
        if zeros > 1 and byte < 4:
            escaped.append(3)
            zeros = 0
        zeros = zeros + 1 if byte == 0 else 0
        escaped.append(byte)
    return bytes(escaped)


def high_dynamic_range():
    """A clip of 10 bit with the metadata of HDR10: a P3 display of 0.005 to 1,000 cd/m², and light levels."""
    display = struct.pack(">8H2I", 13250, 34500, 7500, 3000, 34000, 16000, 15635, 16450, 10_000_000, 50)
    sent = message(b"\x4e\x01", {137: display, 144: struct.pack(">2H", 987, 321)})
    data = clip("ten-bit.h265")
    # Before the first slice.
    place = min(data.index(start + bytes([kind << 1, 1])) for start in (b"\0\0\1",) for kind in (19, 20) if start + bytes([kind << 1, 1]) in data)
    return data[:place] + b"\0\0\1" + sent + data[place:]


def with_user_data(text):
    """A clip with a user data SEI message in each access unit."""
    delimiter = start_code + b"\x09"
    first, *rest = clip().split(delimiter)
    made = first
    for part in rest:
        # Behind the delimiter's one byte.
        made += delimiter + part[:1] + start_code + user_data(text) + part[1:]
    return made

