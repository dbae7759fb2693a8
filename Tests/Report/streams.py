# SPDX-License-Identifier: MPL-2.0
"""Streams for the tests of the pages, made of this project's clips."""
import pathlib

media = pathlib.Path(__file__).resolve().parents[1] / "Media"
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
    payload = bytes(range(16)) + text.encode()
    size = b"\xff" * (len(payload) // 255) + bytes([len(payload) % 255])
    body = b"\x05" + size + payload + b"\x80"
    escaped, zeros = bytearray(b"\x06"), 0
    for byte in body:
        if zeros > 1 and byte < 4:
            escaped.append(3)
            zeros = 0
        zeros = zeros + 1 if byte == 0 else 0
        escaped.append(byte)
    return bytes(escaped)


def with_user_data(text):
    """A clip with a user data SEI message in each access unit."""
    delimiter = start_code + b"\x09"
    first, *rest = clip().split(delimiter)
    made = first
    for part in rest:
        # Behind the delimiter's one byte.
        made += delimiter + part[:1] + start_code + user_data(text) + part[1:]
    return made

