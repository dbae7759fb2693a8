#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MPL-2.0
"""Cuts streams whose pictures carry their number, with h26x and with other tools, and reads which pictures come out.

  run.py                the table: 18 cuts with each installed tool
  run.py --random N     N random cuts of one to five ranges with h26x; a line for each failure, with its command

  --seed N        of the random cuts; default 1
  --only WORD     only random cuts whose source or target contains it
  --keep FOLDER   sources and results stay here; default: a temporary folder

  H26X=.build/tool/h26x   the program
  CONFORMANCE_VECTORS     the folder of vectors, else ../shared/vectors

A cut of the table is exact if the file has the requested pictures in order, nothing else, and their times begin with 0
and have the steps of the source. FFmpeg decodes all files.

A random cut must also copy pictures bit by bit, encode the fewest pictures by pictures.py, and encode them well, or use
the level's bit rate. `h26x check` must find nothing that it does not find in the source. The exit status is 1 if a
random cut fails.
"""

import collections
import json
import random
import shlex
import shutil
import subprocess
import sys

import pictures
import program
import sources
from pictures import numbers_and_times, spans
from program import H26X, VECTORS, encoded_count, last_line, tool

RANGES = [(55, 132), (55, 133), (93, 126)]
TARGETS = ["mp4", "mov", "mkv", "ts", "raw"]
# Of encoded pictures, and the result in dB, of luma.
QUALITY, LEAST_PSNR = 8, 45
# Of the level's bit rate, if the result is below that.
LEAST_RATE = 0.9


class Pictures:
    """The pictures of sources, each read once."""

    def __init__(self):
        self.known = {}

    def of(self, source):
        if source.name not in self.known:
            found = pictures.read(source.path, source.has_bars)
            self.known[source.name] = found if source.has_bars else pictures.evenly(found)
        return self.known[source.name]


def time_defect(found, times, begins_at_zero):
    """How the times of pictures differ, as text; None if they do not."""
    # Matroska has milliseconds.
    shift = 0 if begins_at_zero else found[0].time
    for place, (picture, time) in enumerate(zip(found, times)):
        if abs(picture.time - shift - time) > 0.00101:
            return f"picture {place} at {picture.time - shift:.4f} s, expected {time:.4f}"
    return None


# The table.


def commands(source, start, end, folder, times):
    """A command for each installed tool, and its output."""
    begin, finish = times[start], times[end]
    found = {"h26x cut": ([H26X, "cut", source.path, "-o", folder / "h26x.mp4", "--range", f"#{start}-#{end}"],
                          folder / "h26x.mp4")}
    for suffix in ["mp4", "mkv"]:
        output = folder / f"ffmpeg.{suffix}"
        found[f"ffmpeg -c copy, {suffix}"] = (
            ["ffmpeg", "-v", "error", "-y", "-ss", f"{begin:.6f}", "-i", source.path, "-t", f"{finish - begin:.6f}",
             "-map", "0:v:0", "-c", "copy", output], output)
    if shutil.which("mkvmerge"):
        output = folder / "mkvmerge.mkv"
        found["mkvmerge"] = (["mkvmerge", "-q", "-o", output, "--split", f"parts:{begin:.6f}s-{finish:.6f}s",
                              source.path], output)
    if shutil.which("smartcut"):
        output = folder / "smartcut.mp4"
        found["smartcut"] = (["smartcut", source.path, output, "--keep", f"{begin:.6f},{finish:.6f}"], output)
    return found


def table(folder):
    exact, encoded = collections.Counter(), collections.Counter()
    print("source\trange\ttool\tresult")
    for source in sources.TABLE:
        source.make(folder)
        own = pictures.read(source.path)
        for start, end in RANGES:
            work = folder / "table"
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            starts = [picture.time for picture in own] + [own[-1].time + own[-1].duration]
            for name, (command, output) in commands(source, start, end, work, starts).items():
                run = tool(*command)
                defect = cut_defect(own, output, start, end) if run.returncode == 0 else last_line(run.stderr)
                exact[name] += defect is None
                text = defect or "exact"
                if name == "h26x cut":
                    encoded[source.name] += encoded_count(run.stderr)
                    text += f", {encoded_count(run.stderr)} encoded" + (", hidden" if "because" in run.stderr else "")
                print(f"{source.name}\t#{start}-#{end}\t{name}\t{text}", flush=True)
    print()
    for name, count in exact.items():
        print(f"{name}: {count} of {len(sources.TABLE) * len(RANGES)} exact")
    print("encoded by h26x: " + ", ".join(f"{name} {count}" for name, count in encoded.items()))


def cut_defect(own, output, start, end):
    """How a cut is not exact, as text; None if it is."""
    try:
        found = pictures.read(output, is_strict=False)
    except (ValueError, StopIteration, subprocess.SubprocessError) as error:
        return str(error)
    numbers, times = numbers_and_times(own, [(start, end)])
    shown = [picture.number for picture in found]
    if shown != numbers:
        return f"{spans(shown)} instead of {spans(numbers)}"
    return time_defect(found, times, begins_at_zero=True)


# Random cuts.


def rate_share(path, places, seconds):
    """The bit rate of pictures, by their places in the order of presentation, as a share of the level's."""
    lines = [json.loads(line) for line in tool(H26X, "inspect", "--json", path).stdout.splitlines()]
    units = [line for line in lines if line["kind"] == "accessUnit"]
    units.sort(key=lambda unit: (unit["sequence"], unit["poc"]))
    limit = next(line["format"]["maximumBitRate"] for line in lines if "maximumBitRate" in line.get("format", {}))
    return 8 * sum(units[place]["size"] for place in places) / seconds / limit


def rules(path):
    run = tool(H26X, "check", "--json", path)
    found = (json.loads(line) for line in run.stdout.splitlines())
    return {line["rule"]: f'{line["found"]} at access unit {line["accessUnit"]}' for line in found
            if line.get("kind") == "finding"}


class RandomCuts:
    def __init__(self, folder, seed, only):
        self.folder, self.only = folder, only
        self.generator = random.Random(seed)
        self.pictures = Pictures()
        self.totals = collections.Counter()
        self.structures, self.rules = {}, {}
        self.sources = [source.make(folder) for source in sources.RANDOM] + sources.vectors(VECTORS)

    def run(self, count):
        for number in range(count):
            source, target = self.generator.choice(self.sources), self.generator.choice(TARGETS)
            packing = self.generator.choice(["mp4", "mkv", "ts", "raw"])
            state = self.generator.getrandbits(64)
            if self.only and self.only not in f"{source.name} {target} {packing}":
                continue
            self.cut(number, source, packing, target, random.Random(state))
        print(", ".join(f"{count} {name}" for name, count in sorted(self.totals.items())))
        return self.totals["failed"] == 0

    def cut(self, number, source, packing, target, generator):
        if packing == "raw" and source.times:
            packing = "mp4"
        if source.name not in self.structures:
            self.structures[source.name] = pictures.structure(source) if source.has_bars else None
        coded, own = self.structures[source.name], self.pictures.of(source)
        ranges = sources.random_ranges(generator, coded, len(own))
        suffix = source.suffix.lstrip(".") if target == "raw" else target
        output = self.folder / f"{number}.{suffix}"
        command = [H26X, "cut", source.packed(packing), "-o", output, "--force", "--quality", QUALITY]
        if not source.has_bars:
            # Vectors may have none. It is the one that FFmpeg assumes.
            command += ["--framerate", "25"]
        for start, end in ranges:
            command += ["--range", f"#{start}-#{end}"]
        run = tool(*command)
        self.totals["cuts"] += 1
        # A reason for another mode.
        if "because" in run.stderr:
            self.totals["not exact by design"] += 1
            output.unlink(missing_ok=True)
            return
        defects = [last_line(run.stderr)] if run.returncode else self.defects(
            source, own, coded, packing, target, ranges, output, encoded_count(run.stderr))
        if defects:
            self.totals["failed"] += 1
            print(f"{source.name}: {'; '.join(defects)}: {shlex.join(map(str, command))}", flush=True)
        else:
            output.unlink()

    def defects(self, source, own, coded, packing, target, ranges, output, encoded):
        """How a cut is not right."""
        numbers, times = numbers_and_times(own, ranges)
        try:
            edits = pictures.edits(output) if target in ("mp4", "mov") else None
            found = pictures.read(output, source.has_bars, edits=edits)
        except (ValueError, StopIteration, subprocess.SubprocessError) as error:
            return [str(error)]
        if len(found) != len(numbers):
            return [f"{len(found)} pictures instead of {len(numbers)}"]
        result = []
        if source.has_bars and [picture.number for picture in found] != numbers:
            result.append(f"{spans([picture.number for picture in found])} instead of {spans(numbers)}")
        changed = [place for place, picture in enumerate(found) if picture.digest != own[numbers[place]].digest]
        if len(changed) > encoded:
            result.append(f"{len(changed)} pictures changed, {encoded} encoded: {spans([numbers[i] for i in changed])}")
        depth = pictures.layout(output)[2]
        quality = min((pictures.psnr(found[place].luma, own[numbers[place]].luma, depth) for place in changed), default=99)
        if quality < LEAST_PSNR:
            duration = sum(own[numbers[place]].duration for place in changed)
            share = rate_share(output, changed, duration)
            if share < LEAST_RATE:
                result.append(f"{quality:.1f} dB at {share:.0%} of the level's bit rate")
        if coded:
            least = sum(pictures.fewest_encoded(coded, start, end) for start, end in pictures.joined(ranges))
            if encoded != least:
                result.append(f"{encoded} pictures encoded instead of {least}")
        else:
            self.totals["without a minimum"] += 1
        if target != "raw":
            defect = time_defect(found, times, begins_at_zero=target != "ts")
            if defect:
                result.append(defect)
        key = source.packed(packing)
        if key not in self.rules:
            self.rules[key] = rules(key)
        new = {rule: text for rule, text in rules(output).items() if rule not in self.rules[key]}
        return result + [f"check: {rule}: {text}" for rule, text in new.items()]


def main():
    parser = program.parser(__doc__)
    parser.add_argument("--random", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only")
    options = parser.parse_args()
    with program.folder(options) as folder:
        if not options.random:
            table(folder)
        elif not RandomCuts(folder, options.seed, options.only).run(options.random):
            sys.exit(1)


if __name__ == "__main__":
    main()
