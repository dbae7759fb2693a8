# SPDX-License-Identifier: MPL-2.0
"""Changes bytes of containers and byte streams into forms that FFmpeg does not write."""

import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Bench"))

from shapestreams import START, Bits  # noqa: E402


def noise(count):
    return random.Random("noise").randbytes(count)


def overwritten(data, count=2000):
    """Noise in the middle of a file."""
    place = len(data) // 2
    return data[:place] + noise(count) + data[place + count:]


def replaced(data, old, new, last=False):
    """The data with one place changed, the first or the last of its kind."""
    place = data.rindex(old) if last else data.index(old)
    return data[:place] + new + data[place + len(old):]


# Byte streams.


def nal_units(data):
    """The NAL units of a byte stream whose start codes have three or four bytes."""
    parts = data.split(b"\0\0\1")[1:]
    return [part[:-1] if part.endswith(b"\0") and index + 1 < len(parts) else part for index, part in enumerate(parts)]


def byte_stream(units):
    return b"".join(START + unit for unit in units)


def without(data, kinds, skipped=0):
    """A stream of H.264 without NAL units of these types, and without the first NAL units except parameter sets."""
    return byte_stream(
        unit for index, unit in enumerate(nal_units(data))
        if unit[0] & 31 not in kinds and (index >= skipped or unit[0] & 31 in (7, 8)))


def untimed():
    """Three I pictures of H.264, 32x32, without a frame rate."""
    return byte_stream(map(bytes.fromhex, ("6742C01EDA2590", "68CE3880", "65B84AABAB80", "61B8AAAB80", "61B92AAB80")))


def fields(frames=24, group=8):
    """H.264 of 32x32 samples whose frames are coded in two fields each (PAFF): an IDR picture every eight frames, and
    I pictures between them, which no recovery point announces."""
    sps = Bits(0x67, 77, 0, 30).ue(0, 0, 0, 4, 1).u(1, 0).ue(1, 0).u(5, 0b00101).u(5, 0b00001)
    sps.u(32, 1).u(32, 50).u(6, 0b100011).ue(0, 0, 10, 10, 0, 1)
    pps = Bits(0x68).ue(0, 0).u(2, 0).ue(0, 0, 0).u(3, 0).ue(0, 0, 0).u(3, 0)

    def field(frame, bottom):
        place = frame % group
        idr = place == 0 and not bottom
        bits = Bits(0x65 if idr else 0x41).ue(0, 7, 0).u(4, place).u(1, 1).u(1, bottom)
        if idr:
            bits.ue(frame // group % 2)
        bits.u(8, 2 * place + bottom).u(2 if idr else 1, 0).ue(0)
        for _ in range(2):
            bits.ue(25).u(-len(bits.bits) % 8, 0)
            for sample in [16 + frame * 4 + 2 * bottom] * 256 + [128] * 128:
                bits.u(8, sample)
        return bits.bytes()

    units = []
    for frame in range(frames):
        units += [sps.bytes(), pps.bytes()] if frame % group == 0 else []
        units += [field(frame, 0), field(frame, 1)]
    return byte_stream(units)


def filled(data, size):
    """A stream of H.264 with filler data of this size behind each slice, and an end of sequence at the end."""
    filler = b"\x0c" + b"\xff" * size + b"\x80"
    return byte_stream(part for unit in nal_units(data)
                       for part in ([unit, filler] if unit[0] & 31 in (1, 5) else [unit])) + byte_stream([b"\x0a"])


def ended(data):
    """A stream of H.265 with an end of sequence in front of each VPS but the first."""
    units = nal_units(data)
    return byte_stream(part for index, unit in enumerate(units)
                       for part in ([b"\x48\1", unit] if index and unit[0] >> 1 == 32 else [unit]))


def first_picture(data):
    """The first access unit of a stream with delimiters."""
    return data[:data.index(START + b"\x09", 5)]


def without_second_picture(data):
    first = first_picture(data)
    return first + data[data.index(START + b"\x09", len(first) + 5):]


# MP4 and MOV (ISO/IEC 14496-12).


class Box:
    """A box: fields in front of other boxes, and these."""

    FIELDS = {name: 0 for name in (b"moov", b"trak", b"mdia", b"minf", b"stbl", b"edts", b"moof", b"traf")}
    FIELDS |= {b"stsd": 8, b"avc1": 78, b"hvc1": 78}

    def __init__(self, kind, fields=b"", boxes=()):
        self.kind, self.fields, self.boxes = kind.encode() if isinstance(kind, str) else kind, fields, list(boxes)

    @classmethod
    def all(cls, data):
        """The boxes of a file."""
        boxes, place = [], 0
        while len(data) - place >= 8:
            size, kind = struct.unpack_from(">I4s", data, place)
            content = data[place + 8:place + max(size, 8)]
            count = cls.FIELDS.get(kind, len(content))
            boxes.append(cls(kind, content[:count], cls.all(content[count:])))
            place += max(size, 8)
        return boxes

    def __bytes__(self):
        content = self.fields + b"".join(map(bytes, self.boxes))
        return struct.pack(">I4s", len(content) + 8, self.kind) + content

    def __getitem__(self, path):
        """The first box at a path."""
        found = self
        for name in path.split("/"):
            found = next(box for box in found.boxes if box.kind == name.encode())
        return found

    def number(self, place, count=4):
        return int.from_bytes(self.fields[place:place + count], "big")

    def set(self, place, value, count=4):
        self.fields = self.fields[:place] + value.to_bytes(count, "big") + self.fields[place + count:]

    @property
    def runs(self):
        """The values of a table that counts equal ones, such as stts."""
        return [value for place in range(8, 8 + 8 * self.number(4), 8)
                for value in [self.number(place + 4)] * self.number(place)]

    @runs.setter
    def runs(self, values):
        runs = [number for value in values for number in (1, value)]
        self.fields = struct.pack(f">II{len(runs)}I", 0, len(values), *runs)


class Movie:
    """A movie file whose description is its last box, so that other boxes stay at their places."""

    TABLE = "mdia/minf/stbl"
    ENTRY = TABLE + "/stsd"

    def __init__(self, data):
        self.boxes = Box.all(data)
        self.movie = self.boxes[-1]
        assert self.movie.kind == b"moov"
        self.tracks = [box for box in self.movie.boxes if box.kind == b"trak"]

    def __bytes__(self):
        return b"".join(map(bytes, self.boxes))

    def track(self, handler=b"vide"):
        return next(track for track in self.tracks if track["mdia/hdlr"].fields[8:12] == handler)

    @property
    def entry(self):
        """The first sample entry of the video."""
        return self.track()[self.ENTRY].boxes[0]

    def edit(self, edits, handler=b"vide", long=False):
        """Sets an edit list: durations in seconds, and starts in ticks of the media, −1 for a pause."""
        track, scale = self.track(handler), self.movie["mvhd"].number(12)
        form = ">QqHH" if long else ">IiHH"
        entries = b"".join(
            struct.pack(form, length if long else round(length * scale), start, 1, 0) for length, start in edits)
        version = 1 << 24 if long else 0
        track.boxes = [box for box in track.boxes if box.kind != b"edts"]
        track.boxes.insert(1, Box("edts", boxes=[Box("elst", struct.pack(">II", version, len(edits)) + entries)]))


def edited(data, pictures):
    """An edit list in pictures of which 25 are shown in a second: how long each part is, and where it begins; `None`
    for a pause. The first picture is composed at the time of the third."""
    movie = Movie(data)
    scale = movie.track()["mdia/mdhd"].number(12)
    movie.edit([(length / 25, -1 if start is None else int((start + 2) * scale / 25)) for length, start in pictures])
    return bytes(movie)


def edited_sound(data, edits, long=False):
    """An edit list of the sound: durations in seconds, and starts in samples."""
    movie = Movie(data)
    movie.edit(edits, b"soun", long)
    return bytes(movie)


def with_media_rate(data):
    """The first edit at half its rate."""
    movie = Movie(data)
    movie.track()["edts/elst"].set(16, 0x8000)
    return bytes(movie)


def turned(data):
    """Rotated by 90 degrees."""
    movie = Movie(data)
    header = movie.track()["tkhd"]
    matrix = struct.pack(">9i", 0, 1 << 16, 0, -1 << 16, 0, 0, 180 << 16, 0, 1 << 30)
    header.fields = header.fields[:40] + matrix + header.fields[76:]
    return bytes(movie)


def with_negative_offsets(data):
    """Samples that are decoded after they are shown, by the file's times."""
    movie = Movie(data)
    offsets, edits = movie.track()["mdia/minf/stbl/ctts"], movie.track()["edts/elst"]
    values = offsets.runs
    edits.set(12, edits.number(12) - values[0])
    offsets.runs = [(value - values[0]) % (1 << 32) for value in values]
    # Version 1 has signed numbers.
    offsets.set(0, 1, 1)
    return bytes(movie)


def uneven(data):
    """Samples that are presented evenly and decoded in pairs: one lasts a tick, the next one the rest of two."""
    movie = Movie(data)
    table = movie.track()[Movie.TABLE]
    durations, offsets = table["stts"].runs, table["ctts"].runs
    step = durations[0]
    table["stts"].runs = [1 if index % 2 == 0 else 2 * step - 1 for index in range(len(durations))]
    table["ctts"].runs = [offset + (0 if index % 2 == 0 else step - 1) for index, offset in enumerate(offsets)]
    return bytes(movie)


def with_long_times(data):
    """Headers of version 1, whose times have 64 bits."""
    movie = Movie(data)
    headers = [(movie.movie["mvhd"], 4)]
    for track in movie.tracks:
        headers += [(track["tkhd"], 8), (track["mdia/mdhd"], 4)]
    for header, between in headers:
        old = header.fields
        times = struct.pack(">QQ", header.number(4), header.number(8))
        duration = struct.pack(">Q", header.number(12 + between))
        header.fields = b"\1" + old[1:4] + times + old[12:12 + between] + duration + old[16 + between:]
    return bytes(movie)


def merged(data):
    """The samples 20 and 21 in one: a P picture and the IDR picture after it."""
    movie = Movie(data)
    table = movie.track()[Movie.TABLE]
    sizes = table["stsz"]
    count = sizes.number(8)
    lengths = [sizes.number(12 + 4 * index) for index in range(count)]
    lengths[19:21] = [lengths[19] + lengths[20]]
    sizes.fields = struct.pack(f">III{count - 1}I", 0, 0, count - 1, *lengths)
    for name in ("stts", "ctts"):
        values = table[name].runs
        del values[20]
        table[name].runs = values
    sync = table["stss"]
    numbers = [sync.number(8 + 4 * index) for index in range(sync.number(4))]
    numbers = [number - (number > 21) for number in numbers if number != 21]
    sync.fields = struct.pack(f">II{len(numbers)}I", 0, len(numbers), *numbers)
    chunks = table["stsc"]
    chunks.set(12, chunks.number(12) - 1)
    return bytes(movie)


def sample_lengths(data):
    """The places of the lengths of NAL units in the media of a file."""
    start = data.index(b"mdat") + 4
    end = start - 8 + struct.unpack_from(">I", data, start - 8)[0]
    while start + 4 <= end:
        yield start
        start += 4 + struct.unpack_from(">I", data, start)[0]


def with_start_codes(data):
    """Samples with start codes in place of lengths, and no configuration record."""
    changed = bytearray(data.replace(b"avcC", b"free").replace(b"hvcC", b"free"))
    for place in list(sample_lengths(data)):
        changed[place:place + 4] = START
    return bytes(changed)


def damaged(data):
    """A NAL unit in the last quarter has a length that is too great."""
    places = list(sample_lengths(data))
    place = places[len(places) * 3 // 4]
    return data[:place] + b"\x7f\xff\xff\xff" + data[place + 4:]


def with_start_codes_in_record(data):
    """Start codes in front of the parameter sets of the configuration record."""
    movie = Movie(data)
    record = movie.entry["avcC"]
    (fields, place), sets = (record.fields, 6), record.fields[:5]
    for mask in (31, 255):
        count = fields[place - 1] & mask
        sets += fields[place - 1:place]
        for _ in range(count):
            size = int.from_bytes(fields[place:place + 2], "big")
            sets += (size + 4).to_bytes(2, "big") + START + fields[place + 2:place + 2 + size]
            place += 2 + size
        place += 1
    record.fields = sets + fields[place - 1:]
    return bytes(movie)


def with_other_order(data):
    """PPS, SPS and VPS in this order in the configuration record."""
    movie = Movie(data)
    record = movie.entry["hvcC"]
    arrays, place = [], 23
    for _ in range(record.fields[22]):
        start = place
        place += 3
        for _ in range(record.number(start + 1, 2)):
            place += 2 + record.number(place, 2)
        arrays.append(record.fields[start:place])
    arrays.sort(key=lambda array: -(array[0] & 63))
    record.fields = record.fields[:23] + b"".join(arrays)
    return bytes(movie)


def later_fragments(data, ticks=1 << 40):
    """Fragments whose decoding times (tfdt of version 1) have more than 32 bits."""
    boxes = Box.all(data)
    for fragment in boxes:
        for track in (box for box in fragment.boxes if fragment.kind == b"moof" and box.kind == b"traf"):
            track["tfdt"].set(4, track["tfdt"].number(4, 8) + ticks, 8)
    return b"".join(map(bytes, boxes))


# Boxes that are added.


def described(data, *boxes, coding=None):
    """The file with further boxes in its sample entry."""
    movie = Movie(data)
    movie.entry.boxes += boxes
    movie.entry.kind = coding or movie.entry.kind
    return bytes(movie)


def encrypted(data, coding, scheme):
    kind = Box("schm", bytes(4) + scheme + bytes.fromhex("00010000"))
    return described(data, Box("sinf", boxes=[Box("frma", b"avc1"), kind]), coding=coding)


def dolby_vision(kind, profile, compatibility):
    return Box(kind, bytes([1, 0, profile << 1, 6 << 3 | 5, compatibility << 4]) + bytes(19))


HDR10 = (
    Box("mdcv", struct.pack(">8H2I", 8500, 39850, 6550, 2300, 35400, 14600, 15635, 16450, 10_000_000, 50)),
    Box("clli", struct.pack(">HH", 1000, 400)))
STEREO = Box("st3d", bytes([0, 0, 0, 0, 2]))
SPHERICAL = Box("sv3d", boxes=[
    Box("svhd", bytes(4) + b"meta\0"), Box("proj", boxes=[Box("prhd", bytes(16)), Box("equi", bytes(20))])])
SPATIAL = Box("vexu", boxes=[Box("eyes", boxes=[Box("stri", bytes([0, 0, 0, 0, 3]))])])
FIELD_OF_VIEW = Box("hfov", struct.pack(">I", 90_000))
LAYERS = Box("lhvC", b"\1\2\3")
PROFILE = Box("colr", b"prof" + bytes(range(1, 21)))
FULL_RANGE = Box("colr", b"nclx" + bytes([0, 6, 0, 6, 0, 6, 0x80]))
APERTURE = Box("clap", struct.pack(">8I", 300, 1, 160, 1, 0, 1, 0, 1))


def with_unreadable_track(data):
    """A track because of which libavformat reads nothing of the movie."""
    movie = Movie(data)
    box = Box("stsd", bytes(4) + b"\xff" * 4)
    for name in ("stbl", "minf", "mdia", "trak"):
        box = Box(name, boxes=[box])
    movie.movie.boxes.append(box)
    return bytes(movie)


def with_endless_box(data):
    """The last box of the sample entry has the size 0, for all that follows."""
    return replaced(described(data, FIELD_OF_VIEW), bytes(FIELD_OF_VIEW), bytes(4) + bytes(FIELD_OF_VIEW)[4:])


# FLV.


def decoded_later(data, delay):
    """The same times of presentation, and later times of decoding, in milliseconds."""
    file, tag = bytearray(data), 13
    while tag + 16 <= len(file):
        if file[tag] == 9 and file[tag + 12] == 1:
            for place, change in ((tag + 4, delay), (tag + 13, -delay)):
                value = int.from_bytes(file[place:place + 3], "big") + change
                file[place:place + 3] = (value % (1 << 24)).to_bytes(3, "big")
        tag += int.from_bytes(file[tag + 1:tag + 4], "big") + 15
    return bytes(file)


# MPEG-TS (ISO/IEC 13818-1) of packets of 188 bytes.


def packets(data):
    return [data[place:place + 188] for place in range(0, len(data), 188)]


def identifier(packet):
    return (packet[1] & 31) << 8 | packet[2]


def pes_start(packet):
    """The place of a PES packet that begins in a packet; `None` without one."""
    place = 4 + (1 + packet[4] if packet[3] & 0x20 else 0)
    if packet[1] & 0x40 and packet[3] & 0x10 and place + 19 <= 188 and packet[place:place + 3] == b"\0\0\1":
        return place if 0xBD <= packet[place + 3] <= 0xEF else None
    return None


def moved(data, ticks):
    """All times later by as many ticks of 90 kHz, of which 33 bits are left."""
    result = bytearray()
    for packet in map(bytearray, packets(data)):
        if packet[3] & 0x20 and packet[4] >= 7 and packet[5] & 0x10:
            old = int.from_bytes(packet[6:11], "big")
            packet[6:11] = (((old >> 7) + ticks) % (1 << 33) << 7 | old & 127).to_bytes(5, "big")
        start = pes_start(packet)
        for place in (start + 9, start + 14)[:max(0, (packet[start + 7] >> 6) - 1)] if start else ():
            a, b, c, d, e = packet[place:place + 5]
            time = ((a >> 1 & 7) << 30 | b << 22 | c >> 1 << 15 | d << 7 | e >> 1) + ticks
            packet[place] = a & 0xF1 | (time >> 30 & 7) << 1
            packet[place + 1] = time >> 22 & 255
            packet[place + 2] = (time >> 15 & 127) << 1 | 1
            packet[place + 3] = time >> 7 & 255
            packet[place + 4] = (time & 127) << 1 | 1
        result += packet
    return bytes(result)


def first_time(data):
    """The first PTS of the video."""
    for packet in packets(data):
        start = pes_start(packet)
        if start and packet[start + 3] >= 0xE0:
            a, b, c, d, e = packet[start + 9:start + 14]
            return (a >> 1 & 7) << 30 | b << 22 | c >> 1 << 15 | d << 7 | e >> 1
    return 0


def wrapped(data, ticks):
    """The clock begins anew as many ticks behind the first picture."""
    return moved(data, (1 << 33) - ticks - first_time(data))


def thinned(data, is_kept, streams=range(0xE0, 0xF0)):
    """Only packets of the video, or of streams with these codes, that are chosen by number keep their times."""
    number, result = 0, bytearray()
    for packet in map(bytearray, packets(data)):
        start = pes_start(packet)
        if start and packet[start + 3] in streams:
            if not is_kept(number):
                packet[start + 7] &= 0x3F
                packet[start + 9:start + 9 + packet[start + 8]] = b"\xff" * packet[start + 8]
            number += 1
        result += packet
    return bytes(result)


# The number that FFmpeg gives the second stream.
SOUND = 0x101


def without_sound(data):
    """The sound is announced, and does not come."""
    return b"".join(packet for packet in packets(data) if identifier(packet) != SOUND)


def with_damaged_sound(data):
    return b"".join(
        packet[:30] + noise(150) + packet[180:] if index % 3 == 0 and identifier(packet) == SOUND else packet
        for index, packet in enumerate(packets(data)))


def with_begun_sound(data):
    """The first frame of AAC has no header."""
    for index, packet in enumerate(packets(data)):
        start = pes_start(packet)
        if start and identifier(packet) == SOUND:
            frame = index * 188 + start + 9 + packet[start + 8]
            return data[:frame] + b"\0\0" + data[frame + 2:]
    raise ValueError("no sound")


def spaced(data, front, back):
    """Bytes in front of each packet, and behind it."""
    return b"".join(front + packet + back for packet in packets(data))


# Matroska (RFC 9559).


def element(name, content):
    code = name.to_bytes((name.bit_length() + 7) // 8, "big")
    return code + b"\1" + len(content).to_bytes(7, "big") + content


def elements(data):
    """The elements within one: names and contents."""
    place = 0
    while place < len(data):
        numbers = []
        for keeps_mark in (True, False):
            length = 9 - data[place].bit_length()
            number = int.from_bytes(data[place:place + length], "big")
            numbers.append(number if keeps_mark else number & (1 << 7 * length) - 1)
            place += length
        yield numbers[0], data[place:place + numbers[1]]
        place += numbers[1]


TRACKS, ENTRY, LANGUAGE, VIDEO = 0x1654AE6B, 0xAE, 0x22B59C, 0xE0
INDEX_AND_FILLER = (0x114D9B74, 0x1C53BB6B, 0xEC, 0xBF)


def with_elements(data, track=b"", video=b"", segment=b""):
    """The file without an index, and with further elements of its track, of the track's video, and of the segment."""
    def tracks(content):
        entries = b""
        for name, entry in elements(content):
            fields = b"".join(element(kind, value + video if kind == VIDEO else value)
                              for kind, value in elements(entry) if kind != LANGUAGE)
            entries += element(name, fields + track) if name == ENTRY else element(name, entry)
        return element(TRACKS, entries) + segment

    (head, about), (body, content) = elements(data)
    parts = [tracks(part) if name == TRACKS else element(name, part)
             for name, part in elements(content) if name not in INDEX_AND_FILLER]
    return element(head, about) + element(body, b"".join(parts))


def numbered(name, value):
    return element(name, bytes([value]))


def chapter(number, titles=1, inner=b""):
    title = element(0x80, element(0x85, b"title") + element(0x437C, b"eng"))
    return element(0xB6, numbered(0x73C4, number) + numbered(0x91, 0) + title * titles + inner)


def chapters(*editions):
    return element(0x1043A770, b"".join(element(0x45B9, edition) for edition in editions))


CROP = numbered(0x54BB, 2) + numbered(0x54DD, 6)
SWISS = element(LANGUAGE, b"ger") + element(0x22B59D, b"de-CH")
NESTED = chapters(chapter(1, 3, chapter(2) + chapter(3, inner=chapter(4))), numbered(0x45DD, 1) + chapter(5))
