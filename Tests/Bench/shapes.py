#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Measures whether the elements' work grows with their input and no faster, on streams that nobody should send.

Each shape is made at n, 2n and 4n bytes and goes through the parser (access units, and NAL units), the repackager and
the decoder, and through stock's elements. The CPU time of the process, less what three pictures need, is printed
per byte, with the growth from 2n to 4n: 2.0 is linear. A row that grows faster and takes long enough to tell is marked,
and makes the exit status 1.

  shapes.py [WORD...]      shapes whose name contains one of the words; all without

  CHAINS="parse nal …"     some of: parse nal repack decode
  SIZE=N                   n in bytes (default 250000)
  STOCK=0                  without stock's elements
"""

import os
import subprocess
import sys
import time

import shapestreams

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, ".build", "bench", "shapes")
SIZE = int(os.environ.get("SIZE", "250000"))
PATIENCE = 60
# Below this a process is measured too coarsely to speak of growth, in seconds.
TELLING = 0.15
GROWTH = 2.8

BYTES = "video/x-h264,stream-format=byte-stream"
CHAINS = {
    "parse": (f"swifth264parse ! {BYTES},alignment=au ! fakesink", f"h264parse ! {BYTES},alignment=au ! fakesink"),
    "nal": (f"swifth264parse ! {BYTES},alignment=nal ! fakesink", f"h264parse ! {BYTES},alignment=nal ! fakesink"),
    "repack": ("swifth264repack ! video/x-h264,stream-format=OTHER ! fakesink",
               "h264parse ! video/x-h264,stream-format=OTHER,alignment=au ! fakesink"),
    "decode": ("swifth264parse ! swifth264dec max-threads=1 ! fakesink",
               "h264parse ! avdec_h264 max-threads=1 ! fakesink"),
}


def cpu(pipeline):
    """CPU seconds of a process, and None when it does not end."""
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


def source(path, size, kind, chain):
    """The file as it comes to the element: the repackager gets it as one access unit."""
    if kind == "avc":
        caps = f"video/x-h264,stream-format=avc,alignment=au,codec_data=(buffer){shapestreams.CODEC_DATA.hex()}"
        return f"filesrc location={path} blocksize={size} ! queue ! {caps}"
    if chain == "repack":
        return f"filesrc location={path} blocksize={size} ! queue ! {BYTES},alignment=au"
    return f"filesrc location={path}"


def floor(chains, sides):
    """What each chain needs for three pictures: start-up."""
    path = os.path.join(FOLDER, "floor.bin")
    with open(path, "wb") as file:
        file.write(shapestreams.HEAD + shapestreams.TAIL)
    return {
        (chain, side): min(
            cpu(f"{source(path, 4096, 'bytes', chain)} ! {CHAINS[chain][side].replace('OTHER', 'avc')}")
            for _ in range(5))
        for chain in chains for side in sides
    }


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
    floors = floor(chains, sides)
    worse = []
    print("| shape | element | ours ns/byte: n, 2n, 4n | growth | stock ns/byte: n, 2n, 4n | growth |")
    print("|---|---|--:|--:|--:|--:|")
    for name, kind, make in shapestreams.SHAPES:
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
                    pipeline = f"{source(path, size, kind, chain)} ! {CHAINS[chain][side]}"
                    pipeline = pipeline.replace("OTHER", "byte-stream" if kind == "avc" else "avc")
                    cost = cpu(pipeline)
                    costs.append(None if cost is None else max(cost - floors[chain, side], 0.001))
                if None in costs:
                    cells += [f"over {PATIENCE} s", ""]
                    if side == 0:
                        worse.append(f"{name}, {chain}: over {PATIENCE} s")
                    continue
                growth = costs[2] / costs[1]
                per_byte = ", ".join(f"{cost / size * 1e9:.1f}" for cost, (_, size) in zip(costs, files))
                cells += [per_byte, f"{growth:.1f}"]
                if side == 0 and costs[2] > TELLING and growth > GROWTH:
                    cells[-1] = f"**{growth:.1f}**"
                    worse.append(f"{name}, {chain}: ×{growth:.1f} to {costs[2]:.2f} s")
            print(f"| {name} | {chain} | {' | '.join(cells)} |", flush=True)
    for path, _ in files:
        os.remove(path)
    if worse:
        print("\nFaster than their input grow:\n" + "\n".join(worse))
        sys.exit(1)


if __name__ == "__main__":
    main()
