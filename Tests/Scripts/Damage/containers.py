#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Damages container files and has the program read and copy them.

  containers.py [FILE...]     default: the small MP4, MKV, TS and FLV files of Tests/Media and of the vectors

  H26X=PATH       the program; default: a debug build of it with the address sanitizer, which this script makes
  MINUTES=1       how long
  FIRST_SEED=0    the first seed; a seed decides file, damage and command
  JOBS=2          how many run at once

A run is a finding when the program ends by a signal, with a report of the sanitizer, in a trap, with an exit status
other than 0, 1 and 2, in an error without a message, or not within 60 seconds of processor time and 2 GiB. The file and
the command of a finding are left in .build/damage, and the exit status is 1.
"""

import concurrent.futures
import glob
import os
import random
import resource
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
VECTORS = os.environ.get("CONFORMANCE_VECTORS", os.path.join(ROOT, "..", "shared", "vectors"))
MINUTES = float(os.environ.get("MINUTES", "1"))
FIRST_SEED = int(os.environ.get("FIRST_SEED", "0"))
JOBS = int(os.environ.get("JOBS", "2"))
FINDINGS = os.path.join(ROOT, ".build", "damage")
SANITIZER_STATUS = 77

SUFFIXES = (".mp4", ".mov", ".mkv", ".ts", ".m2ts", ".flv", ".avi")
COMMANDS = (
    "info {file}",
    "info --json {file}",
    "check {file}",
    "inspect {file}",
    "hash {file}",
    "hash --each --start 1 {file}",
    "repack {file} -o out.mp4",
    "repack {file} -o out.mov",
    "repack {file} -o out.mkv",
    "repack {file} -o out.ts",
    "repack {file} -o out.flv",
    "repack {file} -o out.mkv --start 1 --end 2",
    "repack {file} -o out.mp4 --start 1 --cut hidden",
    "repack - -o out.mp4 < {file}",
    "repack {file} -o - --format mkv > out.mkv",
)
BOXES = b"moov trak mdia minf stbl edts udta meta ilst moof traf mvex".split()


def boxes(data, begin=0, end=None, depth=0):
    """The (begin, end) of each box of an MP4, the outer ones before the inner ones."""
    end = len(data) if end is None else end
    while begin + 8 <= end and depth < 12:
        size = int.from_bytes(data[begin : begin + 4], "big")
        if size < 8 or begin + size > end:
            return
        yield begin, begin + size
        if data[begin + 4 : begin + 8] in BOXES:
            yield from boxes(data, begin + 8, begin + size, depth + 1)
        begin += size


def place(rng, data, width=1):
    """A place in the file, more often near its beginning or end, where containers have their headers."""
    last = max(0, len(data) - width)
    near = min(last, 4096)
    return rng.choice((rng.randint(0, near), rng.randint(last - near, last), rng.randint(0, last)))


def flip(rng, data):
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        data[place(rng, data)] ^= 1 << rng.randrange(8)


def extreme(rng, data):
    for _ in range(rng.choice((1, 1, 2, 4))):
        width = rng.choice((1, 2, 4, 8))
        value = rng.choice((0, 1, 2, (1 << 8 * width) - 1, 1 << 8 * width - 1, (1 << 8 * width - 1) - 1, len(data)))
        at = place(rng, data, width)
        data[at : at + width] = (value % (1 << 8 * width)).to_bytes(width, "big")


def cut(rng, data):
    del data[place(rng, data) :]


def remove(rng, data):
    at = place(rng, data)
    del data[at : at + rng.choice((1, 3, 8, 188, 5000))]


def repeat(rng, data):
    at, length = place(rng, data), rng.choice((1, 4, 16, 188, 5000))
    data[at:at] = data[at : at + length] * rng.choice((1, 2, 50))


def box(rng, data):
    """A box of an MP4 that is missing, there twice, of another type, or of another size."""
    found = list(boxes(data))
    if not found:
        return extreme(rng, data)
    begin, end = rng.choice(found)
    kind = rng.randrange(5)
    if kind == 0:
        del data[begin:end]
    elif kind == 1 and end - begin < 1 << 16:
        data[begin:begin] = data[begin:end]
    elif kind == 2:
        other = rng.choice(found)[0]
        data[begin + 4 : begin + 8] = data[other + 4 : other + 8]
    elif kind == 3:
        size = rng.choice((0, 1, 7, 8, 9, end - begin - 1, end - begin + 1, 1 << 31, (1 << 32) - 1))
        data[begin : begin + 4] = (size % (1 << 32)).to_bytes(4, "big")
    else:
        width = rng.choice((1, 2, 4, 8))
        at = rng.randint(min(begin + 8, end - 1), end - 1)
        value = rng.choice((0, 1, (1 << 8 * width) - 1, 1 << 8 * width - 1, (1 << 8 * width - 1) - 1))
        data[at : at + width] = value.to_bytes(width, "big")


def damaged(rng, file):
    with open(file, "rb") as source:
        data = bytearray(source.read())
    kinds = (flip, extreme, extreme, cut, remove, repeat) + ((box, box, box) if file.endswith(("mp4", "mov")) else ())
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if data:
            rng.choice(kinds)(rng, data)
    return bytes(data)


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(program, files, seed):
    """The finding of a seed, or None."""
    rng = random.Random(seed)
    source = rng.choice(files)
    command = rng.choice(COMMANDS)
    data = damaged(rng, source)
    name = "in" + os.path.splitext(source)[1]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
        environment = dict(
            os.environ, ASAN_OPTIONS=f"detect_leaks=0:exitcode={SANITIZER_STATUS}:hard_rss_limit_mb=2048",
            SWIFT_BACKTRACE="enable=no")
        line = f"{shlex.quote(program)} {command.format(file=name)}"
        try:
            done = subprocess.run(
                ["sh", "-c", f"exec {line}"], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit, timeout=600)
        except subprocess.TimeoutExpired:
            done, fault = None, "had not ended after 600 s"
        if done is not None:
            said = done.stderr.decode(errors="replace")
            if done.returncode < 0:
                fault = f"ended by signal {-done.returncode}"
            elif done.returncode not in (0, 1, 2):
                fault = f"status {done.returncode}"
            elif "Fatal error" in said or "Sanitizer" in said or "CRITICAL" in said:
                fault = "a report"
            elif done.returncode and not said.strip() and "check" not in command:
                fault = f"status {done.returncode} without a message"
            else:
                return None
            fault += "\n" + said[-3000:]
    os.makedirs(FINDINGS, exist_ok=True)
    kept = os.path.join(FINDINGS, f"{seed}-{name}")
    with open(kept, "wb") as file:
        file.write(data)
    return f"seed {seed}: {os.path.basename(source)}: h26x {command.format(file=kept)}: {fault}"


def main():
    program = os.environ.get("H26X")
    if not program:
        options = ["--sanitize=address", "--scratch-path", ".build/address"]
        subprocess.run(["plugin/build.sh"], cwd=ROOT, check=True)
        subprocess.run(["swift", "build", *options, "--product", "h26x"], cwd=ROOT, check=True)
        program = os.path.join(ROOT, ".build/address/debug/h26x")
        os.environ.setdefault("GST_PLUGIN_PATH", os.path.join(ROOT, ".build/plugin"))
    files = sys.argv[1:] or sorted(
        file for folder in (os.path.join(ROOT, "Tests", "Media"), VECTORS)
        for file in glob.glob(os.path.join(folder, "**", "*"), recursive=True)
        if file.endswith(SUFFIXES) and os.path.getsize(file) < 1 << 20)
    begin, seed, findings, runs = time.monotonic(), FIRST_SEED, [], 0
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        while time.monotonic() - begin < 60 * MINUTES:
            seeds = range(seed, seed + 16 * JOBS)
            for finding in pool.map(lambda number: run(program, files, number), seeds):
                runs += 1
                if finding:
                    findings.append(finding)
                    print(finding, flush=True)
            seed = seeds.stop
    print(f"{len(files)} files, {runs} runs from seed {FIRST_SEED} on, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
