#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Damages single slices of short streams, and counts what `h26x check --deep` and `ffmpeg -v error` report.

  flips.py [FILE...]     default: clips made with libx264 and libx265, and the beginning of small vectors

  H26X=.build/tool/h26x   the program
  COUNT=1000   damaged streams for each entropy coder and kind of damage
  KINDS=flip,cut,zeroed,swapped,lost    only these kinds
  SEED=0       seed of the random damage
  MISSED=FOLDER    keeps the damaged streams that `check --deep` does not report

A damaged stream counts if its pictures differ from those of the undamaged one, in FFmpeg's decoder. The kinds:

  flip     one bit behind the slice header
  cut      the slice ends at a random byte
  zeroed   16 bytes are 0, those that would be emulated 3
  swapped  two neighboring pieces of 16 bytes change places
  lost     184 bytes are missing, as of a packet of a transport stream
"""

import collections
import concurrent.futures
import csv
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
VECTORS = os.environ.get("CONFORMANCE_VECTORS", os.path.join(ROOT, "..", "shared", "vectors"))
H26X = os.path.abspath(os.environ.get("H26X", os.path.join(ROOT, ".build", "tool", "h26x")))
COUNT = int(os.environ.get("COUNT", "1000"))
KINDS = os.environ.get("KINDS", "flip,cut,zeroed,swapped,lost").split(",")
SEED = int(os.environ.get("SEED", "0"))
MISSED = os.environ.get("MISSED")
PICTURES = 6
# Streams that one run of the program checks.
BATCH = 25
# A vector of more bytes in so few pictures takes too long to decode thousands of times.
LIMIT = 200_000


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace")


def ffmpeg(*arguments):
    done = run("ffmpeg", "-nostdin", "-v", "error", "-y", *arguments)
    if done.returncode:
        sys.exit(f"flips.py: ffmpeg: {done.stderr.strip()}")


def made(folder):
    """Clips of both encoders, with the tools that they use by default and some others."""
    source = ["-f", "lavfi", "-i", f"testsrc2=size=176x144:rate=25,noise=alls=6:all_seed=1", "-frames:v", str(PICTURES)]
    x264 = {"cabac": "", "cavlc": "cabac=0:", "slices": "slices=4:", "cavlc-slices": "cabac=0:slices=3:", "fields": "tff=1:"}
    for name, options in x264.items():
        path = os.path.join(folder, f"x264-{name}.h264")
        ffmpeg(*source, "-c:v", "libx264", "-qp", "26", "-x264-params", options + "bframes=2:keyint=50:b-pyramid=none", path)
        yield path
    for name, options in {"plain": "", "slices": "slices=2:", "small": "ctu=16:"}.items():
        path = os.path.join(folder, f"x265-{name}.h265")
        ffmpeg(*source, "-c:v", "libx265", "-qp", "26", "-x265-params", options + "bframes=2:log-level=none:info=0", path)
        yield path


def vectors(folder):
    """The first pictures of vectors of at most 352x288."""
    try:
        rows = list(csv.DictReader(open(os.path.join(VECTORS, "manifest.tsv")), delimiter="\t"))
    except OSError:
        return
    for row in rows:
        if row["container"] != "annexb" or row["md5"] == "-" or row["stock_libavcodec"] != "yes":
            continue
        if int(row["width"] or 0) * int(row["height"] or 0) > 352 * 288:
            continue
        path = os.path.join(folder, "vector-" + os.path.basename(row["file"]) + "." + row["codec"])
        form = "h264" if row["codec"] == "h264" else "hevc"
        done = run("ffmpeg", "-nostdin", "-v", "error", "-y", "-f", form, "-i", os.path.join(VECTORS, row["file"]), "-c",
                   "copy", "-frames:v", str(PICTURES), "-f", form, path)
        if done.returncode == 0 and 0 < os.path.getsize(path) < LIMIT:
            yield path


def codec_of(path):
    return "h265" if path.endswith(("5", ".hevc")) else "h264"


def decode(path):
    """The pictures' checksums, and whether FFmpeg reports an error."""
    done = run("ffmpeg", "-nostdin", "-v", "error", "-threads", "1", "-f", "hevc" if codec_of(path) == "h265" else "h264",
               "-i", path, "-fps_mode", "passthrough", "-f", "framemd5", "-")
    return [line.split(",")[-1] for line in done.stdout.splitlines() if not line.startswith("#")], bool(done.stderr.strip())


def check(paths):
    """The rules of the errors that the program finds, by path."""
    found = collections.defaultdict(set)
    for line in run(H26X, "check", "--deep", *paths).stdout.splitlines():
        match = re.match(r"(.*?): access unit \d+ at \d+: error: ([a-z0-9-]+)", line)
        if match:
            found[match[1]].add(match[2])
    return found


class Stream:
    """An undamaged stream, and where the data of its slices are."""

    def __init__(self, path):
        self.path, self.bytes = path, open(path, "rb").read()
        self.pictures, reports = decode(path)
        self.rules = check([path])[path]
        self.is_sound = bool(self.pictures) and not reports and not self.rules & {"slice-data", "missing-blocks"}
        self.slices = list(self.find_slices())
        cabac = b"" if codec_of(path) == "h265" else run(H26X, "inspect", "--fields", path).stdout
        if codec_of(path) == "h265":
            self.coder = "H.265"
        else:
            modes = set(re.findall(r"entropy_coding_mode_flag\W+(\d)", cabac))
            self.coder = {frozenset("0"): "H.264 CAVLC", frozenset("1"): "H.264 CABAC"}.get(frozenset(modes))

    def find_slices(self):
        starts = [match.end() for match in re.finditer(b"\0\0\1", self.bytes)]
        for index, start in enumerate(starts):
            end = starts[index + 1] - 3 if index + 1 < len(starts) else len(self.bytes)
            while end > start and self.bytes[end - 1] == 0:
                end -= 1
            if codec_of(self.path) == "h265":
                is_slice, header = self.bytes[start] >> 1 & 63 <= 21, 16
            else:
                is_slice, header = self.bytes[start] & 31 in (1, 5), 12
            # A header of an intra or inter slice of these streams is shorter.
            if is_slice and end - start > header + 8:
                yield start, start + header, end

    def damaged(self, kind, chance):
        data = bytearray(self.bytes)
        # By the bytes of the slices, so that each bit has the same chance.
        weights = [end - first for _, first, end in self.slices]
        _, first, end = chance.choices(self.slices, weights)[0]
        if kind == "flip":
            place = chance.randrange(first, end)
            data[place] ^= 1 << chance.randrange(8)
        elif kind == "cut":
            del data[chance.randrange(first, end - 1):end]
        elif kind == "zeroed":
            place = chance.randrange(first, max(first + 1, end - 17))
            for index in range(place, min(place + 16, end - 1)):
                data[index] = 3 if data[index - 2] == data[index - 1] == 0 else 0
        elif kind == "swapped":
            place = chance.randrange(first, max(first + 1, end - 33))
            size = min(16, (end - 1 - place) // 2)
            a, b = data[place:place + size], data[place + size:place + 2 * size]
            data[place:place + 2 * size] = b + a
        elif kind == "lost":
            place = chance.randrange(first, end - 1)
            del data[place:min(place + 184, end)]
        return bytes(data) if data != self.bytes else None


def trial(stream, kind, number, folder):
    """A damaged stream whose pictures differ: its path, and whether FFmpeg reports it."""
    chance = random.Random(f"{SEED} {kind} {os.path.basename(stream.path)} {number}")
    data = stream.damaged(kind, chance)
    if data is None:
        return None
    path = os.path.join(folder, f"{kind}-{number}-{os.path.basename(stream.path)}")
    with open(path, "wb") as file:
        file.write(data)
    pictures, reports = decode(path)
    if pictures == stream.pictures:
        os.remove(path)
        return None
    return path, reports


def main():
    with tempfile.TemporaryDirectory() as folder:
        paths = sys.argv[1:] or [*made(folder), *vectors(folder)]
        coders = collections.defaultdict(list)
        for path in paths:
            stream = Stream(path)
            if stream.is_sound and stream.slices and stream.coder:
                coders[stream.coder].append(stream)
            else:
                print(f"left out: {os.path.basename(path)}", file=sys.stderr)
        print(f"{'damage':24}{'streams':>8}{'changed':>9}{'ffmpeg':>9}{'slices read':>13}{'any finding':>13}")
        for coder, streams in sorted(coders.items()):
            for kind in KINDS:
                with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                    jobs = [(streams[number % len(streams)], kind, number, folder) for number in range(COUNT)]
                    changed = [done for done in pool.map(lambda job: trial(*job), jobs) if done]
                    batches = [changed[at:at + BATCH] for at in range(0, len(changed), BATCH)]
                    found = {}
                    for part in pool.map(lambda batch: check([path for path, _ in batch]), batches):
                        found.update(part)
                undamaged = {stream.path: stream.rules for stream in streams}
                deep = any_rule = stock = 0
                for path, reports in changed:
                    original = next(p for p in undamaged if path.endswith("-" + os.path.basename(p)))
                    rules = found.get(path, set()) - undamaged[original]
                    stock += reports
                    deep += bool(rules & {"slice-data", "missing-blocks"})
                    any_rule += bool(rules)
                    if not rules and MISSED:
                        shutil.copy(path, MISSED)
                    os.remove(path)
                share = lambda count: f"{100 * count / max(1, len(changed)):.1f} %"
                print(f"{coder + ' ' + kind:24}{COUNT:8}{len(changed):9}{share(stock):>9}{share(deep):>13}"
                      f"{share(any_rule):>13}", flush=True)


main()
