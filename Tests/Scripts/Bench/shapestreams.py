# SPDX-License-Identifier: MPL-2.0
"""Helpers of the streams of shapes.py for both codecs. Each shape is a function from a number of bytes to a stream."""

import random

START = b"\0\0\0\1"
SHORT = b"\0\0\1"


class Bits:
    """Writes a NAL unit's syntax elements."""

    def __init__(self, *header):
        self.bits = []
        for byte in header:
            self.u(8, byte)

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


class Surroundings:
    """A picture before a shape, and two after it."""

    def __init__(self, head, tail):
        self.head = head
        self.tail = tail

    def around(self, make):
        return lambda size: self.head + make(size) + self.tail

    def flood(self, *units, start=SHORT):
        """Repeats NAL units."""
        once = b"".join(start + unit for unit in units)
        return self.around(lambda size: once * max(1, size // len(once)))

    def counted(self, make, start=SHORT):
        """NAL units, each made of its number."""
        def shape(size):
            result = bytearray(self.head)
            number = 0
            while len(result) < size:
                result += start + make(number)
                number += 1
            return bytes(result) + self.tail
        return shape

    def filled(self, unit, pattern):
        """One NAL unit that continues with this pattern only."""
        return self.around(lambda size: START + unit + pattern * (size // len(pattern)) + b"\x80")

    def chaos(self, size):
        """Many start codes, followed by NAL units of any type."""
        chance = random.Random(4)
        result = bytearray(self.head)
        while len(result) < size:
            result += SHORT + chance.randbytes(chance.randrange(6))
        return bytes(result) + self.tail


def lengths(picture, unit, claimed=None):
    """Behind lengths of four bytes, in one access unit."""
    once = (len(unit) if claimed is None else claimed).to_bytes(4, "big") + unit
    return lambda size: len(picture).to_bytes(4, "big") + picture + once * max(1, size // len(once))


def start_codes(size):
    return START * (size // 4)


UUID = bytes(range(0x40, 0x50))
CAPTIONS = bytes.fromhex("b500314741393403c1fffc8080ff")
