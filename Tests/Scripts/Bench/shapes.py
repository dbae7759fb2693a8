#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Measures whether the elements' work is linear in their input, on degenerate streams.

Each shape is made at n, 2n and 4n bytes and goes through the parser (access units, and NAL units), the repackager and
the decoder, and through stock's elements. The CPU time of the process, less what three pictures need, is printed
per byte, with the growth from 2n to 4n: 2.0 is linear. A row that grows faster and takes long enough to measure is marked,
and makes the exit status 1.

  shapes.py [WORD...]      shapes whose name contains one of the words; all without

  CODECS="h264 h265"       one of them, or both
  CHAINS="parse nal …"     some of: parse nal repack decode
  SIZE=N                   n in bytes (default 250000)
  STOCK=0                  without stock's elements
"""

import os
import subprocess
import sys
import time

import shapes_h264
import shapes_h265

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
FOLDER = os.path.join(ROOT, ".build", "bench", "shapes")
SIZE = int(os.environ.get("SIZE", "250000"))
PATIENCE = 60
# Growth is not judged below this CPU time in seconds, which is measured too coarsely.
TELLING = 0.15
GROWTH = 2.8

STREAMS = {"h264": shapes_h264, "h265": shapes_h265}
PACKETS = {"h264": "avc", "h265": "hvc1"}
CHAINS = ("parse", "nal", "repack", "decode")


def media(codec, form):
    return f"video/x-{codec},stream-format={form}"


def chain_of(name, codec, kind):
    """The elements, ours and stock's."""
    ours, stock = f"swift{codec}parse", f"{codec}parse"
    if name == "repack":
        other = media(codec, "byte-stream" if kind == "packets" else PACKETS[codec])
        return f"swift{codec}repack ! {other} ! fakesink", f"{stock} ! {other},alignment=au ! fakesink"
    if name == "decode":
        return (f"{ours} ! swift{codec}dec max-threads=1 ! fakesink",
                f"{stock} ! avdec_{codec} max-threads=1 ! fakesink")
    alignment = "nal" if name == "nal" else "au"
    return tuple(f"{parser} ! {media(codec, 'byte-stream')},alignment={alignment} ! fakesink"
                 for parser in (ours, stock))


def cpu(pipeline):
    """CPU seconds of a process; None when it does not end."""
    process = subprocess.Popen(["gst-launch-1.0", "-q"] + pipeline.split(), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode < 0:
                print(f"  crashed with signal {-process.returncode}: {pipeline}")
            return usage.ru_utime + usage.ru_stime
        time.sleep(0.005)
    process.kill()
    process.wait()
    return None


def source(path, size, kind, chain, codec):
    """The source of a file: the repackager gets all of it as one access unit."""
    if kind == "packets":
        caps = f"{media(codec, PACKETS[codec])},alignment=au,codec_data=(buffer){STREAMS[codec].CODEC_DATA.hex()}"
        return f"filesrc location={path} blocksize={size} ! queue ! {caps}"
    if chain == "repack":
        return f"filesrc location={path} blocksize={size} ! queue ! {media(codec, 'byte-stream')},alignment=au"
    return f"filesrc location={path}"


def floor(codec, chains, sides):
    """The CPU time of each chain for three pictures: start-up."""
    path = os.path.join(FOLDER, "floor.bin")
    with open(path, "wb") as file:
        file.write(STREAMS[codec].AROUND.head + STREAMS[codec].AROUND.tail)
    return {
        (chain, side): min(
            cpu(f"{source(path, 4096, 'bytes', chain, codec)} ! {chain_of(chain, codec, 'bytes')[side]}")
            for _ in range(5))
        for chain in chains for side in sides
    }


def measure(codec, words, chains, sides):
    """Prints a codec's table, and returns the rows that grow too fast."""
    floors = floor(codec, chains, sides)
    worse = []
    print(f"\n| {codec} | element | ours ns/byte: n, 2n, 4n | growth | stock ns/byte: n, 2n, 4n | growth |")
    print("|---|---|--:|--:|--:|--:|")
    for name, kind, make in STREAMS[codec].SHAPES:
        if words and not any(word in name.lower() for word in words):
            continue
        files = []
        for factor in (1, 2, 4):
            path = os.path.join(FOLDER, f"{factor}.bin")
            content = make(SIZE * factor)
            with open(path, "wb") as file:
                file.write(content)
            files.append((path, len(content)))
        for chain in chains:
            cells = []
            for side in sides:
                costs = []
                for path, size in files:
                    cost = cpu(f"{source(path, size, kind, chain, codec)} ! {chain_of(chain, codec, kind)[side]}")
                    costs.append(None if cost is None else max(cost - floors[chain, side], 0.001))
                if None in costs:
                    cells += [f"over {PATIENCE} s", ""]
                    if side == 0:
                        worse.append(f"{codec}, {name}, {chain}: over {PATIENCE} s")
                    continue
                growth = costs[2] / costs[1]
                per_byte = ", ".join(f"{cost / size * 1e9:.1f}" for cost, (_, size) in zip(costs, files))
                cells += [per_byte, f"{growth:.1f}"]
                if side == 0 and costs[2] > TELLING and growth > GROWTH:
                    cells[-1] = f"**{growth:.1f}**"
                    worse.append(f"{codec}, {name}, {chain}: ×{growth:.1f} to {costs[2]:.2f} s")
            print(f"| {name} | {chain} | {' | '.join(cells)} |", flush=True)
        for path, _ in files:
            os.remove(path)
    return worse


def main():
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return
    words = [word.lower() for word in sys.argv[1:]]
    chains = os.environ.get("CHAINS", " ".join(CHAINS)).split()
    sides = [0, 1] if os.environ.get("STOCK", "1") != "0" else [0]
    os.makedirs(FOLDER, exist_ok=True)
    os.environ["GST_PLUGIN_PATH"] = os.path.join(ROOT, ".build", "plugin")
    os.environ["GST_REGISTRY"] = os.path.join(FOLDER, "registry.bin")
    subprocess.run(["gst-inspect-1.0", "swifth26x"], stdout=subprocess.DEVNULL, check=True)
    worse = []
    for codec in os.environ.get("CODECS", "h264 h265").split():
        worse += measure(codec, words, chains, sides)
    if worse:
        print("\nNot linear:\n" + "\n".join(worse))
        sys.exit(1)


if __name__ == "__main__":
    main()
