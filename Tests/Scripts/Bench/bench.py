#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Measures this plugin's pipelines and stock's, and the program and FFmpeg's, alternately; prints medians and ratios.

Every measurement is of a whole process: CPU time (user and system, that of a codec's process included), wall time and
peak resident memory, as the kernel accounts them. The two or three commands of a row alternate, after one unmeasured run each, so that other load on
the machine affects all of them. A ratio below 1.00 means ours needs less.

  bench.py [ROW...]      only rows whose name contains one of the words

  RUNS=N   measured runs of each command (default 5)
  BENCH_MEDIA=DIR   the media that make-media.sh made (default .build/bench)
"""

import os
import platform
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
PROGRAM = os.path.join(ROOT, ".build", "tool", "h26x")
MEDIA = os.environ.get("BENCH_MEDIA", os.path.join(ROOT, ".build", "bench"))
RUNS = int(os.environ.get("RUNS", "5"))
SIXTEEN = 16


class Codec:
    """Names of elements and caps of a codec."""

    def __init__(self, name, digits, length_prefixed):
        self.name = name
        self.file = f"h{digits}"
        self.parse = (f"swifth{digits}parse", f"h{digits}parse")
        self.repack = f"swifth{digits}repack"
        self.decode = (f"swifth{digits}dec", f"avdec_h{digits}")
        self.length_prefixed = length_prefixed
        self.access_units = self.caps("byte-stream", "au")
        self.nal_units = self.caps("byte-stream", "nal")
        self.prefixed = self.caps(length_prefixed, "au")

    def caps(self, stream_format, alignment):
        return f"video/x-{self.file},stream-format={stream_format},alignment={alignment}"


CODECS = [Codec("H.264", "264", "avc"), Codec("H.265", "265", "hvc1")]


def gst(pipeline):
    return ["gst-launch-1.0", "-q"] + pipeline.split()


def ffmpeg(name, threads):
    options = ["-threads", str(threads)] if threads else []
    return ["ffmpeg", "-v", "error", "-nostdin"] + options + ["-i", f"{MEDIA}/{name}", "-f", "null", "-"]


def source(name):
    return f"filesrc location={MEDIA}/{name}"


def parsed(codec, name, caps):
    """A byte stream through our parser and stock's."""
    return tuple(gst(f"{source(name)} ! {parser} ! {caps} ! fakesink") for parser in codec.parse)


def repacked(codec):
    """From start codes to length prefixes and back; stock's parser is its repackager."""
    prefix = codec.length_prefixed
    raw, mp4 = f"television.{codec.file}", f"television-{codec.file}.mp4"
    return [
        (f"{codec.name} repack: byte-stream to {prefix}, HD television",
         gst(f"{source(raw)} ! {codec.parse[0]} ! {codec.repack} ! {codec.prefixed} ! fakesink"),
         gst(f"{source(raw)} ! {codec.parse[1]} ! {codec.prefixed} ! fakesink"), None),
        (f"{codec.name} repack: {prefix} to byte-stream, HD television in MP4",
         gst(f"{source(mp4)} ! qtdemux ! {codec.repack} ! {codec.access_units} ! fakesink"),
         gst(f"{source(mp4)} ! qtdemux ! {codec.parse[1]} ! {codec.access_units} ! fakesink"), None),
        (f"{codec.name} repack with edits, beside none, HD television",
         gst(f"{source(mp4)} ! qtdemux ! {codec.repack} edit=colour=bt709,remove-sei=5 ! {codec.access_units} ! fakesink"),
         gst(f"{source(mp4)} ! qtdemux ! {codec.repack} ! {codec.access_units} ! fakesink"), None),
    ]


def decoded(codec, name, threads, tails=("fakesink", "fakesink")):
    return tuple(
        gst(f"{source(name)} ! {parser} ! {decoder} max-threads={threads} ! {tail}")
        for parser, decoder, tail in zip(codec.parse, codec.decode, tails))


def converted(raw_format):
    """To another format: by our decoder, and by videoconvert after stock's."""
    sink = f"video/x-raw,format={raw_format} ! fakesink"
    return sink, "videoconvert ! " + sink


def rows(codec):
    """Row: name, our command, the stock command, and FFmpeg's program if it does the same."""
    television, slices = f"television.{codec.file}", f"slices.{codec.file}"
    hd, sd = f"decode-hd.{codec.file}", f"decode-sd.{codec.file}"
    name = codec.name
    yield f"{name} parse: HD television", *parsed(codec, television, codec.access_units), None
    yield f"{name} parse: HD television, NAL alignment", *parsed(codec, television, codec.nal_units), None
    yield f"{name} parse: SD, four slices", *parsed(codec, slices, codec.access_units), None
    yield f"{name} parse: SD, four slices, NAL alignment", *parsed(codec, slices, codec.nal_units), None
    yield from repacked(codec)
    for threads, which in ((1, "1 thread"), (0, "all cores")):
        yield f"{name} decode: HD, {which}", *decoded(codec, hd, threads), ffmpeg(hd, threads)
        yield f"{name} decode: HD to NV12, {which}", *decoded(codec, hd, threads, converted("NV12")), None
    yield f"{name} decode: SD, 30 pictures", *decoded(codec, sd, 0), ffmpeg(sd, 0)
    yield (f"{name} decode: SD, {SIXTEEN} at once",
           *(command + command[2:] * (SIXTEEN - 1) for command in decoded(codec, sd, 0)), None)


def all_rows():
    h264, h265 = CODECS
    for codec in CODECS:
        yield from rows(codec)
    yield "H.264 parse: HD, pictures of 900 kB", *parsed(h264, "noise.h264", h264.access_units), None
    for threads, which in ((1, "1 thread"), (0, "all cores")):
        yield (f"H.265 decode: HD of 10 bits to P010, {which}",
               *decoded(h265, "decode-hd-10.h265", threads, converted("P010_10LE")), None)


def program_rows():
    """Row: name, the program's command, and FFmpeg's for the same."""
    quiet = ["ffmpeg", "-v", "error", "-nostdin", "-y"]
    for codec in CODECS:
        mp4, mkv = f"{MEDIA}/television-{codec.file}.mp4", f"{MEDIA}/television-{codec.file}.mkv"
        for source_file, suffix in ((mp4, "mkv"), (mkv, "mp4")):
            name = f"{codec.name} repack: {source_file[-3:].upper()} to {suffix.upper()}"
            ours, theirs = f"{MEDIA}/ours.{suffix}", f"{MEDIA}/theirs.{suffix}"
            yield (name, [PROGRAM, "repack", source_file, "-o", ours, "--force"],
                   quiet + ["-i", source_file, "-map", "0", "-c", "copy", theirs])
        ours, plain = f"{MEDIA}/ours.mp4", [PROGRAM, "repack", mp4, "-o", f"{MEDIA}/theirs.mp4", "--force"]
        for what, edits in (("in one pass", ["--colour", "bt709"]), ("latency measured", ["--latency", "auto"])):
            yield (f"{codec.name} edit: MP4, {what}, beside repack",
                   [PROGRAM, "edit", mp4, "-o", ours, "--force"] + edits, plain)
        hd = f"{MEDIA}/decode-hd-{codec.file}.mp4"
        for options, what in (([], "HD in MP4"), (["--no-isolation"], "HD in MP4, in the program's process")):
            yield (f"{codec.name} decode: {what}", [PROGRAM, "decode", hd, "-o", "/dev/null"] + options,
                   ["ffmpeg", "-v", "error", "-nostdin", "-i", hd, "-f", "null", "-"])
        for file, what in ((mp4, "MP4"), (mkv, "MKV"), (f"{MEDIA}/decode-hd.{codec.file}", "byte stream")):
            yield f"{codec.name} info: {what}", [PROGRAM, "info", file], ["ffprobe", "-v", "error", "-show_streams", file]


def isolation_rows():
    """Row: name, a decoder with its codec in a separate process, and one with its codec in the pipeline's process."""
    for codec in CODECS:
        def pair(name, threads, count=1):
            commands = [
                gst(f"{source(name)} ! {codec.parse[0]} ! {codec.decode[0]} max-threads={threads} isolation={where} ! fakesink")
                for where in ("process", "none")]
            return [command + command[2:] * (count - 1) for command in commands]

        hd, sd = f"decode-long-hd.{codec.file}", f"decode-long-sd.{codec.file}"
        for threads, which in ((1, "1 thread"), (0, "all cores")):
            yield f"{codec.name} isolation: 1,050 pictures of HD, {which}", *pair(hd, threads)
            yield f"{codec.name} isolation: 1,500 pictures of SD, {which}", *pair(sd, threads)
        yield f"{codec.name} isolation: 1,500 pictures of SD, {SIXTEEN} at once, 1 thread", *pair(sd, 1, SIXTEEN)
        yield f"{codec.name} isolation: 30 pictures of SD", *pair(f"decode-sd.{codec.file}", 0)


def measure(command):
    """CPU seconds, wall seconds and peak MiB of one process."""
    reader, writer = os.pipe()
    process = subprocess.run(
        [sys.executable, "-I", "-S", os.path.join(HERE, "usage.py"), str(writer)] + command,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=[writer])
    os.close(writer)
    with os.fdopen(reader) as figures:
        cpu, wall, peak = (float(figure) for figure in figures.read().split() or [0, 0, 0])
    if process.returncode or b"ERROR" in process.stdout:
        sys.exit(f"failed: {' '.join(command)}\n{process.stdout.decode(errors='replace')}")
    return cpu, wall, peak / 1024


def medians(commands):
    """(CPU, wall, peak) of each command: medians over RUNS alternating runs."""
    results = [[] for _ in commands]
    for turn in range(RUNS + 1):
        for command, result in zip(commands, results):
            figures = measure(command)
            if turn:
                result.append(figures)
    return [tuple(statistics.median(column) for column in zip(*result)) for result in results]


def cells(ours, theirs):
    """A row's figures: CPU, wall and peak, each ours, theirs and their ratio."""
    cells = []
    for mine, other, digits in zip(ours, theirs, (3, 3, 0)):
        cells += [f"{mine:.{digits}f}", f"{other:.{digits}f}", f"**{mine / other:.2f}**"]
    return cells


def machine():
    model = platform.processor() or platform.machine()
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    version = subprocess.run(["gst-launch-1.0", "--version"], capture_output=True, text=True, check=True)
    ffmpeg_version = subprocess.run(["ffmpeg", "-version"], capture_output=True, text=True, check=True)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB; {version.stdout.splitlines()[1]}, "
            f"{' '.join(ffmpeg_version.stdout.split()[:3])}; medians of {RUNS} alternating runs")


def table_of_pairs(ours, theirs, pairs, words):
    print()
    print("|" + "".join(f" | {ours} {figure} | {theirs} {figure} | ratio" for figure in ("CPU s", "wall s", "MiB")) + " |")
    print("|---" + "|--:" * 9 + "|")
    for name, first, second in pairs:
        if words and not any(word.lower() in name.lower() for word in words):
            continue
        print(f"| {name} | {' | '.join(cells(*medians([first, second])))} |", flush=True)


def main():
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return
    words = sys.argv[1:]
    os.environ["GST_PLUGIN_PATH"] = os.path.join(ROOT, ".build", "plugin")
    # A registry that exists already, the same for both sides.
    os.environ["GST_REGISTRY"] = os.path.join(MEDIA, "registry.bin")
    subprocess.run(["gst-inspect-1.0", "swifth26x"], stdout=subprocess.DEVNULL, check=True)

    print(machine())
    print()
    print("| | ours CPU s | stock CPU s | ratio | ours wall s | stock wall s | ratio | ours MiB | stock MiB | ratio |"
          " ratio to ffmpeg: CPU, wall |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, ours, stock, reference in all_rows():
        if words and not any(word.lower() in name.lower() for word in words):
            continue
        results = medians([ours, stock] + ([reference] if reference else []))
        row = cells(*results[:2])
        row.append(f"{results[0][0] / results[2][0]:.2f}, {results[0][1] / results[2][1]:.2f}" if reference else "")
        print(f"| {name} | {' | '.join(row)} |", flush=True)

    table_of_pairs("isolated", "in process", isolation_rows(), words)
    table_of_pairs("h26x", "FFmpeg", program_rows(), words)


if __name__ == "__main__":
    main()
