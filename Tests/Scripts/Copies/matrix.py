#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MPL-2.0
"""Shows what copies keep, for each pair of raw, MP4, MOV, MKV and TS: by h26x repack, and by FFmpeg.

  matrix.py            prints a table for each property
  matrix.py --keep D   sources and copies stay in the folder D

  H26X=.build/tool/h26x   the program
  JOBS=2                  copies at the same time

Sources have 180 pictures with captions, HDR10+, RPU and enhancement layer of Dolby Vision, each in a NAL unit of its
own, and are put into each container by h26x. A column of a table is a target. A cell has a letter for each tool that
keeps the property:

  h   h26x repack
  c   ffmpeg -c copy
  u   ffmpeg -c copy -strict unofficial

The exit status is 1 if FFmpeg keeps a property that h26x loses, or h26x loses one that it must keep: NAL units in all
pairs, the record of Dolby Vision in all containers, colour, ST 2086 and light levels in MP4, MOV and MKV, the ambient
viewing environment in MP4 and MOV.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

# Finds shapestreams.
import patches
from shapestreams import Bits

ROOT = pathlib.Path(__file__).resolve().parents[3]
H26X = pathlib.Path(os.environ.get("H26X", ROOT / ".build/tool/h26x")).resolve()
JOBS = int(os.environ.get("JOBS", "2"))
COUNT = 180
PATIENCE_SECONDS = 120
CONTAINERS = ("mp4", "mov", "mkv", "ts")
TOOLS = {"h": "h26x repack", "c": "ffmpeg -c copy", "u": "ffmpeg -c copy -strict unofficial"}


def call(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, timeout=PATIENCE_SECONDS)


# NAL units.


def escaped(header, payload):
    """A NAL unit with emulation prevention bytes."""
    unit, zeros = bytearray(header), 0
    for byte in payload:
        if zeros >= 2 and byte <= 3:
            unit.append(3)
            zeros = 0
        unit.append(byte)
        zeros = zeros + 1 if byte == 0 else 0
    return bytes(unit)


def message(header, kind, payload):
    """An SEI NAL unit with one message, shorter than 255 bytes."""
    return escaped(header, bytes([kind, len(payload)]) + payload + b"\x80")


def packed(bits):
    """The bits, filled up with zeros."""
    bits = bits.bits + [0] * (-len(bits.bits) % 8)
    return bytes(int("".join(map(str, bits[at:at + 8])), 2) for at in range(0, len(bits), 8))


def crc32(data):
    """Of ISO/IEC 13818-1."""
    total = 0xFFFFFFFF
    for byte in data:
        total ^= byte << 24
        for _ in range(8):
            total = (total << 1 ^ (0x04C11DB7 if total >> 31 else 0)) & 0xFFFFFFFF
    return total.to_bytes(4, "big")


def rpu(header, profile):
    """An RPU that repeats the mapping of an earlier one."""
    has_layer = profile == "7"
    bits = Bits().u(6, 2).u(11, 18).u(4, 0 if profile == "5" else 1).u(4, 0).u(1, 1)
    bits.u(1, 0).u(2, 0).ue(23).u(2, 1).u(1, profile == "5").ue(2, 2, 4).u(4, 0).u(1, has_layer).u(1, not has_layer)
    data = packed(bits.u(1, 0).u(1, 1).ue(0))
    return escaped(header, b"\x19" + data + crc32(data) + b"\x80")


CAPTIONS = bytes.fromhex("b500314741393403c2fffc9420fd8080ff")
HDR10_PLUS = bytes.fromhex("b5003c000104") + packed(
    Bits().u(8, 1).u(2, 1).u(27, 400).u(1, 0).u(17, 1).u(17, 2).u(17, 3).u(17, 4).u(4, 0).u(10, 5).u(3, 0))
AMBIENT = struct.pack(">IHH", 3_140_000, 15_635, 16_450)
DISPLAY = struct.pack(">8H2I", 13250, 34500, 7500, 3000, 34000, 16000, 15635, 16450, 10_000_000, 50)


@dataclasses.dataclass(frozen=True)
class Kind:
    """Streams of a profile of Dolby Vision."""

    profile: str
    compatibility: int
    # Primaries, transfer and matrix as x265 names them, and their numbers.
    names: tuple = ()
    colour: tuple = ()

    @property
    def is_h264(self):
        return self.profile == "9"

    @property
    def suffix(self):
        return "h264" if self.is_h264 else "h265"

    @property
    def has_layer(self):
        return self.profile in ("7", "9")

    @property
    def units(self):
        """The NAL units of each picture: in front of slices, and behind them."""
        sei = b"\x06" if self.is_h264 else b"\x4e\x01"
        front = {"captions": message(sei, 4, CAPTIONS), "HDR10+": message(sei, 4, HDR10_PLUS)}
        layer = b"\x7e\x01\x02\x01\xd0\x09\x7e" if not self.is_h264 else b"\x7e\x41\x9a\x09\x7e"
        behind = {"enhancement layer": layer} if self.has_layer else {}
        return front, behind | {"RPU": rpu(b"\x7c" if self.is_h264 else b"\x7c\x01", self.profile)}

    @property
    def has_display(self):
        """Whether the stream has ST 2086 and light levels."""
        return self.profile in ("8.1", "7")


PQ, HLG = ("bt2020", "smpte2084", "bt2020nc"), ("bt2020", "arib-std-b67", "bt2020nc")
KINDS = [
    Kind("5", 0), Kind("8.1", 1, PQ, (9, 16, 9)), Kind("8.4", 4, HLG, (9, 18, 9)), Kind("7", 6, PQ, (9, 16, 9)),
    Kind("9", 2),
]


def stream(kind):
    """A byte stream with metadata in each picture."""
    options = "aud=1:repeat-headers=1:bframes=0:keyint=30"
    if kind.is_h264:
        codec = ["libx264", "-x264-params", options + ":threads=1"]
    else:
        if kind.names:
            options += ":colorprim={}:transfer={}:colormatrix={}".format(*kind.names)
        if kind.has_display:
            options += (":max-cll=1000,400:master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)"
                        "L(10000000,50)")
        codec = ["libx265", "-x265-params", options + ":ctu=16:info=0:log-level=none:pools=none:frame-threads=1"]
    result = call("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=30000/1001", "-frames:v",
                  COUNT, "-pix_fmt", "yuv420p", "-c:v", *codec, "-f", "h264" if kind.is_h264 else "hevc", "-")
    front, behind = kind.units
    units, pictures = [], 0
    for unit in patches.nal_units(result.stdout) + [None]:
        number = None if unit is None else unit[0] & 31 if kind.is_h264 else unit[0] >> 1
        # Each access unit begins with a delimiter.
        if (unit is None or number == (9 if kind.is_h264 else 35)) and units:
            units += behind.values()
        is_slice = number is not None and (number in (1, 5) if kind.is_h264 else number < 32)
        if is_slice:
            if pictures == 0:
                units.append(message(b"\x06" if kind.is_h264 else b"\x4e\x01", 148, AMBIENT))
            units += front.values()
            pictures += 1
        if unit is not None:
            units.append(unit)
    assert pictures == COUNT, f"{pictures} slices: {result.stderr.decode()}"
    return patches.byte_stream(units)


# What files have.


def movie(data):
    """The content of moov."""
    place = 0
    while len(data) - place >= 8:
        size, name = struct.unpack_from(">I4s", data, place)
        length = 8
        if size == 1:
            size, length = struct.unpack_from(">Q", data, place + 8)[0], 16
        if name == b"moov":
            return data[place + length:place + size]
        place += max(size, 8)
    return b""


def probe(path):
    result = call("ffprobe", "-v", "error", "-show_format", "-show_streams", "-of", "json", path)
    return json.loads(result.stdout or b"{}")


def byte_stream(path, kind):
    """The NAL units of a file, which FFmpeg takes out of containers."""
    if path.suffix == "." + kind.suffix:
        return path.read_bytes()
    return call("ffmpeg", "-v", "error", "-i", path, "-map", "0:v:0", "-c", "copy", "-f",
                "h264" if kind.is_h264 else "hevc", "-").stdout


def properties(path, kind):
    """The names of the properties that a copy has."""
    if not path.exists() or path.stat().st_size == 0:
        return set()
    found = set()
    # FFmpeg leaves the first byte of a start code behind a NAL unit.
    units = [unit.rstrip(b"\0") for unit in patches.nal_units(byte_stream(path, kind))]
    front, behind = kind.units
    for name, unit in (front | behind).items():
        if units.count(unit) == COUNT:
            found.add(name)
    data = path.read_bytes()
    suffix = path.suffix[1:]
    if suffix not in CONTAINERS:
        return found
    for entry in probe(path).get("streams", [{}])[0].get("side_data_list", []):
        if entry.get("side_data_type") != "DOVI configuration record":
            continue
        record = (entry["dv_profile"], entry["dv_bl_signal_compatibility_id"], entry["rpu_present_flag"],
                  entry["el_present_flag"])
        if record == (int(kind.profile.split(".")[0]), kind.compatibility, 1, int(kind.has_layer)):
            found.add("record")
    if suffix in ("mp4", "mov"):
        boxes = movie(data)
        colour = struct.pack(">3H", *kind.colour) if kind.colour else b"none"
        tests = {"colour": b"colrncl" + (b"x" if suffix == "mp4" else b"c") + colour, "ST 2086": b"mdcv" + DISPLAY,
                 "light levels": b"clli" + struct.pack(">HH", 1000, 400), "ambient light": b"amve" + AMBIENT}
        # MOV may have either.
        found |= {name for name, test in tests.items() if test in boxes or test.replace(b"nclc", b"nclx") in boxes}
    elif suffix == "mkv":
        head = data[:65_536]
        # Elements with a value of one or two bytes.
        primaries, transfer = (b"\x55\xbb\x81" + bytes(kind.colour[:1]), b"\x55\xba\x81" + bytes(kind.colour[1:2]))
        if kind.colour and primaries in head and transfer in head:
            found.add("colour")
        if b"\x55\xd0" in head and any(struct.pack(form, 1000) in head for form in (">f", ">d")):
            found.add("ST 2086")
        if b"\x55\xbc\x82\x03\xe8" in head and b"\x55\xbd\x82\x01\x90" in head:
            found.add("light levels")
    return found


def must_keep(kind, target):
    """The properties that h26x must keep in a target."""
    front, behind = kind.units
    names = {*front, *behind}
    if target in CONTAINERS:
        names.add("record")
    if target in ("mp4", "mov", "mkv"):
        names |= {"colour"} if kind.colour else set()
        names |= {"ST 2086", "light levels"} if kind.has_display else set()
    if target in ("mp4", "mov"):
        names.add("ambient light")
    return names


# Titles and languages.

TAGS = {"title": "Two cubes", "language of sound": "ger", "com.apple.quicktime.make": "Nobody"}


def tags(path):
    """The names of the tags that a copy has."""
    document = probe(path)
    values = {key.lower(): value for key, value in document.get("format", {}).get("tags", {}).items()}
    values["language of sound"] = next((
        entry.get("tags", {}).get("language") for entry in document.get("streams", [])
        if entry.get("codec_type") == "audio"), None)
    return {name for name, value in TAGS.items() if values.get(name) == value}


def tagged(folder):
    """Files with tags, by container."""
    clip = ROOT / "Tests/Media/clip-h265.mp4"
    files = {}
    for suffix in CONTAINERS:
        files[suffix] = folder / f"tags.{suffix}"
        options = ["-movflags", "use_metadata_tags"] if suffix in ("mp4", "mov") else []
        call("ffmpeg", "-v", "error", "-y", "-i", clip, "-f", "lavfi", "-i", "sine=sample_rate=48000:duration=2.5",
             "-map", 0, "-map", 1, "-c:v", "copy", "-c:a", "aac", "-metadata", "title=" + TAGS["title"],
             "-metadata:s:a:0", "language=ger", "-metadata", "com.apple.quicktime.make=Nobody", *options, files[suffix])
    return files


# Copies.


def copy(tool, source, target):
    """Copies with a tool; an output of an earlier tool is replaced."""
    if tool == "h":
        return call(H26X, "repack", source, "-o", target, "--force")
    is_stream = target.suffix[1:] not in CONTAINERS
    options = ["-strict", "unofficial"] if tool == "u" else []
    return call("ffmpeg", "-nostdin", "-v", "error", "-y", "-i", source, "-map", "0:v" if is_stream else 0, "-c",
                "copy", *options, target)


class Matrix:
    """The properties of copies, by source, target and tool."""

    def __init__(self, title, names, sources, targets, read, required):
        self.title, self.names, self.sources, self.targets = title, names, sources, targets
        self.read, self.required = read, required
        self.cells = {}

    def fill(self, folder, pool):
        jobs = {}
        for source, path in self.sources.items():
            for target in self.targets:
                for tool in TOOLS:
                    jobs[source, target, tool] = pool.submit(self.cell, folder, path, target, tool)
        self.cells = {place: job.result() for place, job in jobs.items()}

    def cell(self, folder, path, target, tool):
        output = folder / f"{path.stem}-{path.suffix[1:]}-{tool}.{target}"
        result = copy(tool, path, output)
        if tool == "h" and result.returncode:
            print(f"{path.name} to {target}: {result.stderr.decode().strip()}", file=sys.stderr)
            return set()
        return self.read(output)

    def show(self):
        """Prints the tables. Returns lines about losses."""
        losses = []
        for name in self.names:
            print(f"\n{self.title}: {name}")
            print(" " * 8 + "".join(f"{target:8}" for target in self.targets))
            for source in self.sources:
                row = f"  {source:6}"
                for target in self.targets:
                    kept = {tool for tool in TOOLS if name in self.cells[source, target, tool]}
                    row += f"{''.join(tool if tool in kept else '.' for tool in TOOLS):8}"
                    if "h" in kept:
                        continue
                    if kept:
                        losses.append(f"{self.title}: {name}: {source} to {target}: FFmpeg keeps it")
                    elif name in self.required(target):
                        losses.append(f"{self.title}: {name}: {source} to {target}: it must be kept")
                print(row.rstrip())
        return losses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for letter, tool in TOOLS.items():
            print(f"{letter}  {tool}")
        losses, count = [], 0
        for kind in KINDS:
            raw = folder / f"profile-{kind.profile}.{kind.suffix}"
            raw.write_bytes(stream(kind))
            sources = {"raw": raw}
            for suffix in CONTAINERS:
                sources[suffix] = raw.with_name(f"{raw.stem}.{suffix}")
                result = copy("h", raw, sources[suffix])
                assert result.returncode == 0, result.stderr.decode()
            targets = (kind.suffix, *CONTAINERS)
            names = sorted(set().union(*(must_keep(kind, target) for target in targets)))
            matrix = Matrix(
                f"profile {kind.profile}", names, sources, targets, lambda path, kind=kind: properties(path, kind),
                lambda target, kind=kind: must_keep(kind, target))
            matrix.fill(folder, pool)
            losses += matrix.show()
            count += len(matrix.cells)
        matrix = Matrix("tags", list(TAGS), tagged(folder), CONTAINERS, tags, lambda target: set())
        matrix.fill(folder, pool)
        losses += matrix.show()
        count += len(matrix.cells)
    print(f"\n{count} copies, {len(losses)} losses")
    print("\n".join(losses))
    sys.exit(1 if losses else 0)


if __name__ == "__main__":
    main()
