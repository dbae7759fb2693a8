# SPDX-License-Identifier: MPL-2.0
"""The pictures of a file as FFmpeg decodes them, and the fewest pictures that a cut has to encode."""

import dataclasses
import json
import math
import re
import statistics
import subprocess
import tempfile

import sources


@dataclasses.dataclass
class Picture:
    # In seconds.
    time: float
    duration: float
    digest: str
    # The samples as they are decoded.
    luma: memoryview
    # By its bar code; None without one.
    number: int


def layout(path):
    """Width and height, and the bits of a sample."""
    text = sources.run("ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries",
                       "stream=width,height,pix_fmt", "-of", "csv=p=0", path).decode()
    # A transport stream's are printed twice, once in its program.
    width, height, samples = text.split()[0].strip(",").split(",")[:3]
    deep = re.search(r"(\d+)le$", samples)
    return int(width), int(height), int(deep[1]) if deep else 8


def read(path, has_bars=True, is_strict=True, edits=None):
    """All pictures in the order of presentation. Raises ValueError for a file that does not decode, or if is_strict for
    one about which FFmpeg prints anything. With edits, FFmpeg ignores the edit list, and these are applied."""
    width, height, depth = layout(path)
    with tempfile.NamedTemporaryFile() as gray, tempfile.NamedTemporaryFile() as digests:
        output = ["-map", "0:v:0", "-vsync", "passthrough", "-enc_time_base", "-1"]
        # A conversion to gray would stretch limited ranges.
        run = subprocess.run(
            ["ffmpeg", "-v", "error", "-y", "-copyts", *(["-ignore_editlist", "1"] if edits else []), "-i", path,
             *output, "-f", "framemd5", digests.name, *output, "-vf", "extractplanes=y", "-f", "rawvideo", gray.name],
            capture_output=True, text=True)
        lines = digests.read().decode().splitlines()
        luma = memoryview(gray.read()).cast("B" if depth == 8 else "H")
    if run.returncode:
        raise ValueError(run.stderr.strip().splitlines()[-1])
    # Raw video has no times, which matters to no one here.
    noise = [line for line in run.stderr.splitlines() if "[rawvideo @" not in line and "repeated" not in line]
    if noise and is_strict:
        raise ValueError(noise[0])
    base = next(line for line in lines if line.startswith("#tb 0:")).split()[-1].split("/")
    unit = int(base[0]) / int(base[1])
    pictures = []
    for line in lines:
        if line.startswith("#"):
            continue
        _, _, time, duration, _, digest = [part.strip() for part in line.split(",")]
        plane = luma[len(pictures) * width * height:][:width * height]
        pictures.append(Picture(int(time) * unit, int(duration) * unit, digest, plane,
                                sources.number(plane, depth) if has_bars else None))
    return edited(pictures, edits) if edits else pictures


def evenly(pictures):
    """The pictures with their usual distance. FFmpeg places pictures of byte streams unevenly if some are fields."""
    distance = statistics.mode(round(next.time - last.time, 6) for last, next in zip(pictures, pictures[1:]))
    return [dataclasses.replace(picture, time=place * distance, duration=distance)
            for place, picture in enumerate(pictures)]


def numbers_and_times(all_pictures, ranges):
    """The numbers of the pictures of ranges, and when each is shown."""
    starts = [picture.time for picture in all_pictures]
    starts.append(starts[-1] + (all_pictures[-1].duration or starts[-1] - starts[-2]))
    numbers, times, origin = [], [], 0
    for start, end in ranges:
        numbers += range(start, end)
        times += [origin + starts[number] - starts[start] for number in range(start, end)]
        origin += starts[end] - starts[start]
    return numbers, times


def joined(ranges):
    """Ranges, of which one that begins where the previous one ends is part of that one."""
    result = []
    for start, end in ranges:
        if result and result[-1][1] == start:
            start = result.pop()[0]
        result.append((start, end))
    return result


def spans(numbers):
    """Numbers as text, such as 3-7 9."""
    runs = []
    for number in numbers:
        if runs and number is not None and runs[-1][1] is not None and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    text = " ".join(f"{first}-{last}" if first != last else "?" if first is None else f"{first}" for first, last in runs)
    return text if len(text) < 80 else text[:77] + "…"


def edited(pictures, edits):
    """The pictures that edits show. FFmpeg confuses edits if there are several."""
    shown, origin = [], 0
    for start, duration in edits:
        for picture in pictures if start is not None else []:
            if start - 1e-6 < picture.time < start + duration - 1e-6:
                shown.append(dataclasses.replace(picture, time=origin + picture.time - start))
        origin += duration
    return shown


def edits(path):
    """The edits of the only track of an MP4 or MOV file: where each begins in the media, None for an empty one, and how
    long it is, in seconds. None without any."""
    data = path.read_bytes()
    scales, found = {}, []

    def walk(place, end):
        while place + 8 <= end:
            size, name = int.from_bytes(data[place:place + 4], "big"), data[place + 4:place + 8]
            header = 16 if size == 1 else 8
            if size == 1:
                size = int.from_bytes(data[place + 8:place + 16], "big")
            size = size or end - place
            content = data[place + header:place + size]
            if name in (b"moov", b"trak", b"edts", b"mdia"):
                walk(place + header, place + size)
            elif name in (b"mvhd", b"mdhd"):
                scales[name] = int.from_bytes(content[20:24] if content[0] else content[12:16], "big")
            elif name == b"elst":
                width = 8 if content[0] else 4
                for entry in range(int.from_bytes(content[4:8], "big")):
                    field = content[8 + entry * (2 * width + 4):]
                    found.append((int.from_bytes(field[:width], "big"),
                                  int.from_bytes(field[width:2 * width], "big", signed=True)))
            place += max(size, 8)

    walk(0, len(data))
    return [(start / scales[b"mdhd"] if start >= 0 else None, duration / scales[b"mvhd"]) for duration, start in found]


def psnr(one, other, depth):
    """Of two planes with so many bits a sample, in dB."""
    if one == other:
        return math.inf
    error = sum((a - b) * (a - b) for a, b in zip(one, other)) / len(one)
    return 10 * math.log10((2 ** depth - 1) ** 2 / error)


# The structure of a stream.


@dataclasses.dataclass
class Coded:
    # In the order of presentation.
    number: int
    # "closed": no later picture refers beyond it. "open": its leading pictures may.
    entry: str
    is_reference: bool
    # A leading picture that needs no picture in front of its entry.
    is_decodable: bool = False


def units(data):
    """The NAL units of a byte stream."""
    starts = []
    place = data.find(b"\0\0\1")
    while place >= 0:
        starts.append(place + 3)
        place = data.find(b"\0\0\1", place + 3)
    for start, end in zip(starts, starts[1:] + [len(data) + 3]):
        yield data[start:end - 3].rstrip(b"\0")


def structure(source):
    """The coded pictures in decoding order, by the headers of NAL units and the container's times."""
    packets = json.loads(sources.run("ffprobe", "-v", "error", "-select_streams", "v:0", "-show_packets",
                                     "-show_entries", "packet=pts", "-of", "json", source.path))["packets"]
    times = [packet["pts"] for packet in packets]
    numbers = {time: number for number, time in enumerate(sorted(times))}
    stream = sources.run("ffmpeg", "-v", "error", "-i", source.path, "-map", "0:v:0", "-c", "copy", "-f",
                         "hevc" if source.codec == "h265" else "h264", "-")
    pictures = []
    recovers = False
    for unit in units(stream):
        if source.codec == "h265":
            kind = unit[0] >> 1 & 63
            if kind < 32:
                entry = "closed" if kind in (19, 20) else "open" if 16 <= kind <= 21 else ""
                pictures.append((entry, kind > 15 or kind % 2 == 1, kind in (6, 7)))
        else:
            kind = unit[0] & 31
            # SEI: a recovery point has type 6.
            recovers = recovers or (kind == 6 and unit[1] == 6)
            if kind in (1, 5):
                entry = "closed" if kind == 5 else "open" if recovers else ""
                pictures.append((entry, unit[0] >> 5 & 3 != 0, False))
                recovers = False
    if len(pictures) != len(times):
        return None
    return [Coded(numbers[time], *rest) for time, rest in zip(times, pictures)]


def references(coded):
    """For each coded picture the places of those that it may refer to."""
    result = []
    entry = before = None
    for place, picture in enumerate(coded):
        if picture.entry:
            entry, before = place, entry
            result.append(set())
            continue
        since = {other for other in range(entry or 0, place) if coded[other].is_reference}
        first = coded[entry or 0]
        if picture.number > first.number:
            result.append({other for other in since if coded[other].number >= first.number})
        elif first.entry == "closed" or picture.is_decodable:
            result.append(since)
        else:
            earlier = (other for other in range(before or 0, entry) if coded[other].is_reference)
            result.append(since | {other for other in earlier if coded[other].number >= coded[before or 0].number})
    return result


def fewest_encoded(coded, start, end):
    """The fewest pictures of a range that must be encoded. The copied ones are neighbors in the order of presentation,
    begin with an entry in decoding order, and refer to one another alone."""
    needs = references(coded)
    order = sorted((place for place, picture in enumerate(coded) if start <= picture.number < end),
                   key=lambda place: coded[place].number)
    best = 0
    for first in range(len(order)):
        for last in range(len(order), first + best, -1):
            copied = set(order[first:last])
            if coded[min(copied)].entry and all(needs[place] <= copied for place in copied):
                best = last - first
                break
    return len(order) - best
