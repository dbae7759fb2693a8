#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Damages H.264 and H.265 byte streams and compares the pictures of this plugin's elements and of stock's.

  compare.py [FILE...]     default: Tests/Media/*.h264, *.h265 and the small vectors

  CODECS=h264,h265  only streams of these codecs

  SEEDS=3       damaged versions of each file for each kind
  FIRST_SEED=0  the first seed of the random damage
  CUT_STEP=64   "cut" keeps the first n bytes for every n-th n up to 4096; 1 is every byte
  KINDS=a,b     only these kinds
  FRONT=stock   stock's parser before our decoder too
  THREADS=1     threads of the decoders
  VERIFY=1      our decoder with verify-slices=true: how many wrong pictures are still not flagged?

For each kind of damage: crashes, hangs (no end within 20 seconds), output pictures, how many of these are good, that
is, equal to one of the undamaged stream, how many are wrong, and how many of the wrong ones are not flagged as
corrupted ("silent"), and runs that ended with an error on the bus. The exit status is 1 when ours crashes or hangs, or
has fewer good pictures than stock in a row.

Pipelines run in two worker processes, for ours and stock's, which are restarted when they crash.
"""

import collections
import ctypes
import glob
import json
import os
import random
import select
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
VECTORS = os.environ.get("CONFORMANCE_VECTORS", os.path.join(ROOT, "..", "shared", "vectors"))
SEEDS = int(os.environ.get("SEEDS", "3"))
FIRST_SEED = int(os.environ.get("FIRST_SEED", "0"))
CUT_STEP = int(os.environ.get("CUT_STEP", "64"))
CODECS = os.environ.get("CODECS", "h264,h265").split(",")
WHICH = ("ours", "stock")
FRONT = os.environ.get("FRONT", "ours")
THREADS = os.environ.get("THREADS", "1")
VERIFY = " verify-slices=true" if os.environ.get("VERIFY", "0") == "1" else ""


def chains(codec):
    """The chains of elements. The good pictures are those of the reference for the undamaged stream, without those
    that a decoder conceals."""
    return {
        "ours": f"{'swift' if FRONT == 'ours' else ''}{codec}parse ! swift{codec}dec max-threads={THREADS}{VERIFY}",
        "stock": f"{codec}parse ! avdec_{codec} max-threads={THREADS}",
        "reference": f"{codec}parse ! avdec_{codec} max-threads=1 output-corrupt=false",
    }


def codec_of(file):
    return "h265" if file.endswith(("5", ".hevc")) else "h264"


UNPADDED = "videoconvert chroma-mode=none matrix-mode=none dither=none ! video/x-raw,format=AYUV64"
PATIENCE = 20


# The worker: calls GStreamer's C functions, and reads the pictures' checksums from checksumsink's standard output.


def worker():
    gst = ctypes.CDLL("libgstreamer-1.0.so.0")
    gst.gst_parse_launch.restype = ctypes.c_void_p
    gst.gst_element_get_bus.restype = ctypes.c_void_p
    gst.gst_element_get_bus.argtypes = [ctypes.c_void_p]
    gst.gst_element_set_state.argtypes = [ctypes.c_void_p, ctypes.c_int]
    gst.gst_bus_timed_pop_filtered.restype = ctypes.c_void_p
    gst.gst_bus_timed_pop_filtered.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int]
    gst.gst_object_unref.argtypes = [ctypes.c_void_p]
    gst.gst_mini_object_unref.argtypes = [ctypes.c_void_p]
    gst.gst_bin_get_by_name.restype = ctypes.c_void_p
    gst.gst_bin_get_by_name.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    gst.gst_element_get_static_pad.restype = ctypes.c_void_p
    gst.gst_element_get_static_pad.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    gst.gst_pad_add_probe.argtypes = [ctypes.c_void_p, ctypes.c_int, PROBE, ctypes.c_void_p, ctypes.c_void_p]
    gst.gst_init(None, None)
    answers = os.fdopen(os.dup(1), "w")
    with tempfile.TemporaryFile() as printed:
        os.dup2(printed.fileno(), 1)
        for line in sys.stdin:
            job = json.loads(line)
            os.ftruncate(1, 0)
            os.lseek(1, 0, os.SEEK_SET)
            # Rows of eight bytes a pixel have no padding, whose content would be in the checksum.
            launch = f"filesrc location={job['file']} ! {job['chain']} ! {UNPADDED} ! checksumsink name=sink hash=md5 sync=false"
            pipeline = gst.gst_parse_launch(launch.encode(), None)
            bus = gst.gst_element_get_bus(pipeline)
            sink = gst.gst_bin_get_by_name(pipeline, b"sink")
            pad = gst.gst_element_get_static_pad(sink, b"sink")
            flagged = []
            probe = PROBE(lambda _, info, __: note_flag(info, flagged))
            gst.gst_pad_add_probe(pad, PROBE_TYPE_BUFFER, probe, None, None)
            gst.gst_element_set_state(pipeline, 4)
            # The end (1), or an error (2) first.
            error = False
            message = gst.gst_bus_timed_pop_filtered(bus, 2**64 - 1, 1 | 2)
            error = ctypes.cast(message + ERROR_OFFSET, ctypes.POINTER(ctypes.c_int))[0] == 2
            gst.gst_mini_object_unref(message)
            gst.gst_element_set_state(pipeline, 1)
            for each in (pad, sink, bus, pipeline):
                gst.gst_object_unref(each)
            printed.seek(0)
            sums = [text.split()[-1].decode() for text in printed.read().splitlines() if text.strip()]
            answers.write(json.dumps({"sums": sums, "flagged": flagged, "error": error}) + "\n")
            answers.flush()


# GstMessage begins with a GstMiniObject, which its type follows.
ERROR_OFFSET = 64
# The flags of a GstMiniObject, after its type, reference count and lock state.
FLAGS_OFFSET = 16
CORRUPTED = 1 << 8
PROBE_TYPE_BUFFER = 1 << 4
PROBE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def note_flag(info, flagged):
    """Notes whether the buffer of a pad probe is flagged as corrupted, and lets it pass."""
    # GstPadProbeInfo: type, id, data.
    buffer = ctypes.cast(info, ctypes.POINTER(ctypes.c_void_p))[2]
    flags = ctypes.cast(buffer + FLAGS_OFFSET, ctypes.POINTER(ctypes.c_uint))[0]
    flagged.append(flags & CORRUPTED != 0)
    return 1


class Worker:
    def __init__(self, chain):
        self.chain = chain
        self.process = None

    def run(self, file):
        """The pictures' checksums and whether there was an error; "crash" or "hang" instead."""
        if self.process is None:
            environment = dict(os.environ)
            environment.setdefault("GST_PLUGIN_PATH", os.path.join(ROOT, ".build", "plugin"))
            self.process = subprocess.Popen(
                [sys.executable, os.path.abspath(__file__), "--worker"], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
        self.process.stdin.write(json.dumps({"file": file, "chain": self.chain}) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        answer = self.process.stdout.readline() if ready else None
        if answer:
            return json.loads(answer)
        self.process.kill()
        self.process.wait()
        self.process = None
        return "hang" if answer is None else "crash"

    def end(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


# Damage.


def nal_units(data):
    """The stream split before each start code."""
    places = []
    at = data.find(b"\0\0\1")
    while at >= 0:
        places.append(at - 1 if at > 0 and data[at - 1] == 0 else at)
        at = data.find(b"\0\0\1", at + 3)
    return [data[a:b] for a, b in zip(places, places[1:] + [len(data)])]


def some(chance, units, count):
    """Random indices of NAL units, the first three (mostly parameter sets) less often."""
    first = 0 if chance.random() < 0.2 else min(3, len(units) - 1)
    return {chance.randrange(first, len(units)) for _ in range(count)}


def drop(data, chance, *_):
    units = nal_units(data)
    gone = some(chance, units, max(1, len(units) // 20))
    return b"".join(unit for index, unit in enumerate(units) if index not in gone)


def truncate(data, chance, *_):
    units = nal_units(data)
    short = some(chance, units, max(1, len(units) // 20))
    return b"".join(
        unit[: chance.randrange(1, len(unit) + 1)] if index in short else unit for index, unit in enumerate(units))


def flip(data, chance, *_):
    damaged = bytearray(data)
    for _ in range(max(1, len(data) // 4000)):
        damaged[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def duplicate(data, chance, *_):
    units = nal_units(data)
    twice = some(chance, units, max(1, len(units) // 20))
    return b"".join(unit * (2 if index in twice else 1) for index, unit in enumerate(units))


def reorder(data, chance, *_):
    units = nal_units(data)
    for index in some(chance, units, max(1, len(units) // 20)):
        other = min(len(units) - 1, index + 1)
        units[index], units[other] = units[other], units[index]
    return b"".join(units)


def splice(data, chance, other, _):
    first, second = nal_units(data), nal_units(other)
    return b"".join(first[: chance.randrange(1, len(first) + 1)] + second[chance.randrange(len(second)) :])


def garbage(data, chance, *_):
    at = chance.randrange(len(data))
    return data[:at] + chance.randbytes(chance.randrange(1, 5000)) + data[at:]


def sets(data, chance, _, codec):
    """Bits of parameter sets that the stream repeats, not of the first ones."""
    units = [bytearray(unit) for unit in nal_units(data)]

    def is_set(unit):
        header = unit[unit.index(1) + 1] if unit.index(1) + 1 < len(unit) else 0
        return header & 31 in (7, 8) if codec == "h264" else header >> 1 & 63 in (32, 33, 34)

    found = [unit for unit in units[5:] if is_set(unit)]
    for unit in chance.sample(found, min(len(found), 1 + len(found) // 4)):
        for _ in range(chance.randrange(1, 3)):
            unit[chance.randrange(min(5, len(unit) - 1), len(unit))] ^= 1 << chance.randrange(8)
    return b"".join(units)


def access_units(data, codec):
    """The stream split before each access unit, as far as types of NAL units and first slices show it."""
    units = []
    has_slice = True
    for unit in nal_units(data):
        at = unit.index(b"\0\0\1") + 3
        if codec == "h264":
            kind = unit[at] & 31 if at < len(unit) else 0
            is_slice, is_before = 1 <= kind <= 5, 6 <= kind <= 9 or 14 <= kind <= 18
            at += 1
        else:
            kind = unit[at] >> 1 & 63 if at < len(unit) else 0
            is_slice, is_before = kind < 32, 32 <= kind <= 35 or kind == 39 or 41 <= kind <= 44
            at += 2
        begins = is_before or (is_slice and at < len(unit) and unit[at] & 0x80 != 0)
        if begins and has_slice:
            units.append(b"")
            has_slice = False
        has_slice |= is_slice
        units[-1] += unit
    return units


def drop_picture(data, chance, _, codec):
    units = access_units(data, codec)
    gone = some(chance, units, max(1, len(units) // 20))
    return b"".join(unit for index, unit in enumerate(units) if index not in gone)


def duplicate_picture(data, chance, _, codec):
    units = access_units(data, codec)
    twice = some(chance, units, max(1, len(units) // 20))
    return b"".join(unit * (2 if index in twice else 1) for index, unit in enumerate(units))


def reorder_pictures(data, chance, _, codec):
    units = access_units(data, codec)
    for index in some(chance, units, max(1, len(units) // 20)):
        other = min(len(units) - 1, index + 1)
        units[index], units[other] = units[other], units[index]
    return b"".join(units)


KINDS = {
    kind.__name__: kind
    for kind in (
        drop, truncate, flip, duplicate, reorder, drop_picture, duplicate_picture, reorder_pictures, splice, garbage,
        sets)
}


def damaged_streams(kind, data, other, name, codec):
    if kind == "cut":
        for count in range(1, min(4096, len(data)) + 1, CUT_STEP):
            yield count, data[:count]
        return
    for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
        yield seed, KINDS[kind](data, random.Random(f"{kind} {name} {seed}"), other, codec)


def default_files():
    files = []
    for codec, patterns in (("h264", ("*.264", "*.h264", "*.jsv", "*.avc")), ("h265", ("*.h265", "*.hevc"))):
        files += sorted(glob.glob(os.path.join(ROOT, "Tests", "Media", f"*.{codec}")))
        for pattern in patterns:
            for file in sorted(glob.glob(os.path.join(VECTORS, codec, pattern))):
                if os.path.getsize(file) < 60_000:
                    files.append(file)
    return files


def main(files):
    codecs = [codec for codec in CODECS if any(codec_of(file) == codec for file in files)]
    return max([compare(codec, [file for file in files if codec_of(file) == codec]) for codec in codecs], default=0)


def compare(codec, files):
    workers = {name: Worker(chain) for name, chain in chains(codec).items()}
    streams = [(os.path.basename(file), open(file, "rb").read()) for file in files]
    streams = [(name, data) for name, data in streams if len(nal_units(data)) > 3]
    rows = collections.defaultdict(lambda: {name: collections.Counter() for name in WHICH})
    kinds = os.environ.get("KINDS", ",".join([*KINDS, "cut"])).split(",")
    worse = []
    silent = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"stream.{codec}")

        def run(name, data):
            with open(path, "wb") as file:
                file.write(data)
            return workers[name].run(path)

        good = {}
        for name, data in streams:
            answer = run("reference", data)
            good[name] = collections.Counter(answer["sums"] if isinstance(answer, dict) else [])
        for number, (name, data) in enumerate(streams):
            other_name, other = streams[(number + 1) % len(streams)]
            for kind in kinds:
                allowed = good[name] + good[other_name] if kind == "splice" else good[name]
                for seed, damaged in damaged_streams(kind, data, other, name, codec):
                    found = {}
                    for which in WHICH:
                        row = rows[kind][which]
                        answer = run(which, damaged)
                        row["runs"] += 1
                        if not isinstance(answer, dict):
                            row[answer] += 1
                            print(f"{which}: {answer} with {kind} of {name}, number {seed}", flush=True)
                            continue
                        row["out"] += len(answer["sums"])
                        found[which] = (collections.Counter(answer["sums"]) & allowed).total()
                        row["good"] += found[which]
                        row["errors"] += answer["error"]
                        # Without good pictures nothing is known to be wrong: stock outputs none of a stream without
                        # a keyframe.
                        wrong = [flag for sum, flag in zip(answer["sums"], answer["flagged"]) if allowed and sum not in allowed]
                        row["wrong"] += len(wrong)
                        row["silent"] += wrong.count(False)
                        if which == "ours" and not all(wrong):
                            silent.append((wrong.count(False), f"{kind} of {name}, number {seed}"))
                    if found.get("ours", 0) < found.get("stock", 0):
                        worse.append(f"{kind} of {name}, number {seed}: {found['ours']} of {found['stock']}"
                                     if "ours" in found else f"{kind} of {name}, number {seed}")
    for each in workers.values():
        each.end()

    print(f"{codec}: {len(streams)} streams")
    columns = "".join(f"{name:>15}" for name in ("out", "good", "wrong", "silent"))
    print(f"{'damage':<18}{'runs':>6}   {'crashes':>9}{'hangs':>9}{columns}{'errors':>13}   (ours/stock)")
    failed = False
    for kind, row in rows.items():
        ours, stock = row["ours"], row["stock"]
        pairs = [f"{ours[key]}/{stock[key]}" for key in ("crash", "hang", "out", "good", "wrong", "silent", "errors")]
        counts = "".join(f"{pair:>15}" for pair in pairs[2:6])
        print(f"{kind:<18}{ours['runs']:>6}   {pairs[0]:>9}{pairs[1]:>9}{counts}{pairs[6]:>13}")
        failed |= ours["crash"] + ours["hang"] > 0 or ours["good"] < stock["good"]
    if worse:
        print(f"fewer good pictures than stock in {len(worse)} runs:", *worse[:40], sep="\n  ")
    if silent:
        print(f"wrong pictures without a flag in {len(silent)} runs, most of them in:")
        print(*(f"  {count:>5}  {text}" for count, text in sorted(silent, reverse=True)[:40]), sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        worker()
    elif sys.argv[1:2] and sys.argv[1].startswith("-"):
        print(__doc__)
    else:
        sys.exit(main(sys.argv[1:] or default_files()))
