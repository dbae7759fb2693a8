#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MPL-2.0
"""Joins any two of twelve streams of a codec with h26x, and reads whether all pictures come out.

  joins.py [h264|h265 ...]     default: both codecs

  --keep FOLDER   sources and results stay here; default: a temporary folder

  H26X=.build/tool/h26x   the program
  CONFORMANCE_VECTORS     the folder of vectors, else ../shared/vectors

The streams are of different encoders, sizes and containers. FFmpeg must decode the pictures of both, bit by bit, and
`h26x check` must find no error that it does not find in one of them. A line for each failure, with its command; the
exit status is 1 then.
"""

import collections
import json
import shlex
import sys

import program
import sources
from program import H26X, VECTORS, tool

PACKINGS, TARGETS = ["mp4", "mkv", "ts", "raw"], ["mp4", "raw", "mkv", "ts", "mov"]


def digests(path):
    """A checksum of each picture, without its time."""
    # FFmpeg would scale pictures to the size of the first one.
    text = sources.run("ffmpeg", "-v", "error", "-i", path, "-map", "0:v:0", "-vsync", "passthrough", "-autoscale", "0",
                       "-f", "framemd5", "-").decode()
    return [line.split(",")[-1].strip() for line in text.splitlines() if not line.startswith("#")]


def errors(path):
    """The rules of findings that are errors."""
    lines = [json.loads(line) for line in tool(H26X, "check", "--json", path).stdout.splitlines()]
    return {line["rule"] for line in lines if line.get("kind") == "finding" and line.get("severity") == "error"}


def join(number, one, other, folder, known):
    """How a join is not right, as text, and its command; None if it is."""
    target = TARGETS[number % len(TARGETS)]
    output = folder / f"joined.{one.codec if target == 'raw' else target}"
    inputs = [one.packed(PACKINGS[number % len(PACKINGS)]), other.packed(PACKINGS[number // 3 % len(PACKINGS)])]
    for path in inputs:
        if path not in known:
            known[path] = (digests(path), errors(path))
    command = [H26X, "join", *inputs, "-o", output, "--force", "--framerate", 25]
    run = tool(*command)
    if run.returncode:
        return program.last_line(run.stderr), command
    found, wanted = digests(output), known[inputs[0]][0] + known[inputs[1]][0]
    if found != wanted:
        places = [place for place, pair in enumerate(zip(found, wanted)) if pair[0] != pair[1]]
        return f"{len(found)} pictures of {len(wanted)}, {len(places)} others, from {places[:1]}", command
    new = errors(output) - known[inputs[0]][1] - known[inputs[1]][1]
    return (f"check: {', '.join(sorted(new))}", command) if new else None


def main():
    parser = program.parser(__doc__)
    parser.add_argument("codec", nargs="*")
    options = parser.parse_args()
    with program.folder(options) as folder:
        totals, known = collections.Counter(), {}
        for codec in options.codec or ["h264", "h265"]:
            streams = sources.joined(codec, folder, VECTORS)
            for number, (one, other) in enumerate((one, other) for one in streams for other in streams):
                defect = join(number, one, other, folder, known)
                totals[f"{codec} joins"] += 1
                if defect:
                    totals["failed"] += 1
                    print(f"{one.name} {other.name}: {defect[0]}: {shlex.join(map(str, defect[1]))}", flush=True)
        print(", ".join(f"{count} {name}" for name, count in totals.items()))
    sys.exit(1 if totals["failed"] else 0)


if __name__ == "__main__":
    main()
