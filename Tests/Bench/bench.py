#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Measures this plugin's pipelines beside stock's, alternating, and prints medians and ratios.

Every measurement is of a whole process: CPU time (user and system), wall time and peak resident memory, as the kernel
accounts them. The two or three commands of a row take turns, after one unmeasured turn each, so that whatever else
the machine does meets all of them. A ratio below 1.00 means ours needs less.

  bench.py [ROW...]      rows whose name contains one of the words; all without

  RUNS=N   measured turns a row (default 5)
  BENCH_MEDIA=DIR   the media that make-media.sh made (default .build/bench)
"""

import os
import platform
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MEDIA = os.environ.get("BENCH_MEDIA", os.path.join(ROOT, ".build", "bench"))
RUNS = int(os.environ.get("RUNS", "5"))
AU = "video/x-h264,stream-format=byte-stream,alignment=au"
NAL = "video/x-h264,stream-format=byte-stream,alignment=nal"
AVC = "video/x-h264,stream-format=avc,alignment=au"
HVC1 = "video/x-h265,stream-format=hvc1,alignment=au"


def gst(pipeline):
    return ["gst-launch-1.0", "-q"] + pipeline.split()


def ffmpeg(name, threads):
    options = ["-threads", str(threads)] if threads else []
    return ["ffmpeg", "-v", "error", "-nostdin"] + options + ["-i", f"{MEDIA}/{name}", "-f", "null", "-"]


def source(name):
    return f"filesrc location={MEDIA}/{name}"


def decode(name, threads, tail="fakesink"):
    return (
        gst(f"{source(name)} ! swifth264parse ! swifth264dec max-threads={threads} ! {tail}"),
        gst(f"{source(name)} ! h264parse ! avdec_h264 max-threads={threads} ! {tail}"),
    )


def parse265(name, packaging, tail="fakesink"):
    """Parsed by ours and by stock's into a packaging of H.265."""
    return tuple(gst(f"{source(name)} ! {parser} ! video/x-h265,stream-format={packaging} ! {tail}")
                 for parser in ("swifth265parse", "h265parse"))


NV12 = "video/x-raw,format=NV12 ! fakesink"
SIXTEEN = 16

# Row: name, ours, stock, and what FFmpeg's own program needs where it does the same.
ROWS = [
    ("parse: HD television",
     gst(f"{source('television.h264')} ! swifth264parse ! {AU} ! fakesink"),
     gst(f"{source('television.h264')} ! h264parse ! {AU} ! fakesink"), None),
    ("parse: HD television, NAL alignment",
     gst(f"{source('television.h264')} ! swifth264parse ! {NAL} ! fakesink"),
     gst(f"{source('television.h264')} ! h264parse ! {NAL} ! fakesink"), None),
    ("parse: SD, four slices",
     gst(f"{source('slices.h264')} ! swifth264parse ! {AU} ! fakesink"),
     gst(f"{source('slices.h264')} ! h264parse ! {AU} ! fakesink"), None),
    ("parse: SD, four slices, NAL alignment",
     gst(f"{source('slices.h264')} ! swifth264parse ! {NAL} ! fakesink"),
     gst(f"{source('slices.h264')} ! h264parse ! {NAL} ! fakesink"), None),
    ("repack: Annex B to AVC, HD television",
     gst(f"{source('television.h264')} ! swifth264parse ! swifth264repack ! {AVC} ! fakesink"),
     gst(f"{source('television.h264')} ! h264parse ! {AVC} ! fakesink"), None),
    ("repack: AVC to Annex B, HD television in MP4",
     gst(f"{source('television.mp4')} ! qtdemux ! swifth264repack ! {AU} ! fakesink"),
     gst(f"{source('television.mp4')} ! qtdemux ! h264parse ! {AU} ! fakesink"), None),
    ("parse: HD, pictures of 900 kB",
     gst(f"{source('hd.h264')} ! swifth264parse ! {AU} ! fakesink"),
     gst(f"{source('hd.h264')} ! h264parse ! {AU} ! fakesink"), None),
    ("parse: H.265, HD television", *parse265("television.h265", "byte-stream,alignment=au"), None),
    ("parse: H.265, HD television, NAL alignment", *parse265("television.h265", "byte-stream,alignment=nal"), None),
    ("parse: H.265, SD, four slices", *parse265("slices.h265", "byte-stream,alignment=au"), None),
    ("parse: H.265, SD, four slices, NAL alignment", *parse265("slices.h265", "byte-stream,alignment=nal"), None),
    ("repack: H.265, Annex B to hvc1, HD television",
     gst(f"{source('television.h265')} ! swifth265parse ! swifth265repack ! {HVC1} ! fakesink"),
     gst(f"{source('television.h265')} ! h265parse ! {HVC1} ! fakesink"), None),
    ("decode: HD, 1 thread", *decode("decode-hd.h264", 1), ffmpeg("decode-hd.h264", 1)),
    ("decode: HD, all cores", *decode("decode-hd.h264", 0), ffmpeg("decode-hd.h264", 0)),
    ("decode: HD to NV12, 1 thread",
     decode("decode-hd.h264", 1, NV12)[0], decode("decode-hd.h264", 1, "videoconvert ! " + NV12)[1], None),
    ("decode: HD to NV12, all cores",
     decode("decode-hd.h264", 0, NV12)[0], decode("decode-hd.h264", 0, "videoconvert ! " + NV12)[1], None),
    ("decode: SD, 30 pictures", *decode("decode-sd.h264", 0), ffmpeg("decode-sd.h264", 0)),
    (f"decode: SD, {SIXTEEN} at once",
     gst(" ".join([f"{source('decode-sd.h264')} ! swifth264parse ! swifth264dec ! fakesink"] * SIXTEEN)),
     gst(" ".join([f"{source('decode-sd.h264')} ! h264parse ! avdec_h264 ! fakesink"] * SIXTEEN)), None),
]


def measure(command):
    """CPU seconds, wall seconds and peak MiB of one process."""
    reader, writer = os.pipe()
    process = subprocess.run(
        [sys.executable, "-I", "-S", os.path.join(ROOT, "Tests", "Bench", "usage.py"), str(writer)] + command,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=[writer])
    os.close(writer)
    with os.fdopen(reader) as figures:
        cpu, wall, peak = (float(figure) for figure in figures.read().split() or [0, 0, 0])
    if process.returncode or b"ERROR" in process.stdout:
        sys.exit(f"failed: {' '.join(command)}\n{process.stdout.decode(errors='replace')}")
    return cpu, wall, peak / 1024


def medians(commands):
    """One (CPU, wall, peak) a command: medians over RUNS turns, alternating."""
    results = [[] for _ in commands]
    for turn in range(RUNS + 1):
        for command, result in zip(commands, results):
            figures = measure(command)
            if turn:
                result.append(figures)
    return [tuple(statistics.median(column) for column in zip(*result)) for result in results]


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


def main():
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return
    words = sys.argv[1:]
    os.environ["GST_PLUGIN_PATH"] = os.path.join(ROOT, ".build", "plugin")
    # Both sides read the same registry of their own, and neither pays for writing it.
    os.environ["GST_REGISTRY"] = os.path.join(MEDIA, "registry.bin")
    subprocess.run(["gst-inspect-1.0", "swifth26x"], stdout=subprocess.DEVNULL, check=True)

    print(machine())
    print()
    print("| | ours CPU s | stock CPU s | ratio | ours wall s | stock wall s | ratio | ours MiB | stock MiB | ratio |"
          " ratio to ffmpeg: CPU, wall |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, ours, stock, reference in ROWS:
        if words and not any(word.lower() in name.lower() for word in words):
            continue
        results = medians([ours, stock] + ([reference] if reference else []))
        cells = []
        for mine, theirs, digits in zip(results[0], results[1], (3, 3, 0)):
            cells += [f"{mine:.{digits}f}", f"{theirs:.{digits}f}", f"**{mine / theirs:.2f}**"]
        cells.append(f"{results[0][0] / results[2][0]:.2f}, {results[0][1] / results[2][1]:.2f}" if reference else "")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
