#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MPL-2.0
"""Compares the files that two builds of h26x write with repack and edit, and what they print about them.

  compare.py BEFORE AFTER            runs two programs
  compare.py --record FILE PROGRAM   writes the results of a program, a line for each run
  compare.py FILE PROGRAM            compares a program with such a record

  --only WORD   only runs whose line contains this, such as "clip.mp4 -o out.ts"
  --list        prints the runs, and runs nothing

  JOBS=2                runs at the same time
  CONFORMANCE_VECTORS   the folder of vectors, else ../shared/vectors

The files are the clips of Tests/Media, the conformance vectors, and files that sources.py makes of them with FFmpeg.
Each is written into each container; cases.py also has a table of options, pipes and edits. Every exit status, text and
output byte must be the same, and no other file may be left. With two programs, ffprobe describes outputs that differ.
The exit status is 1 if there is a difference. A line of a record has the run, its exit status, the digests of its texts
and of its output, and the texts.
"""

import argparse
import concurrent.futures
import dataclasses
import difflib
import hashlib
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import cases
import sources

JOBS = int(os.environ.get("JOBS", "2"))
PATIENCE_SECONDS = 120
# The most lines of a difference that are printed.
LINES = 12
# A source that does not exist.
MISSING = "missing.mp4"


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16] if data else "-"


@dataclasses.dataclass
class Result:
    status: str
    text: str
    file: str
    # The output, if it is still there.
    path: pathlib.Path = None

    def line(self, key):
        return "\t".join((key, self.status, digest(self.text.encode()), self.file, json.dumps(self.text)))

    @classmethod
    def read(cls, line):
        key, status, _, file, text = line.rstrip("\n").split("\t")
        return key, cls(status, json.loads(text), file)


class Program:
    """A build of h26x."""

    def __init__(self, path, folder):
        self.path = pathlib.Path(path).resolve()
        self.folder = folder
        self.numbers = itertools.count()
        folder.mkdir()
        beside = (self.path.parent / "libgstswifth26x.so").exists()
        self.environment = os.environ | {
            "LC_ALL": "C", "GST_REGISTRY": str(folder / "registry"), "TMPDIR": str(folder),
            "GST_PLUGIN_PATH": str(self.path.parent) if beside
            else os.environ.get("GST_PLUGIN_PATH", str(sources.ROOT / ".build" / "plugin"))}
        # The first run writes GStreamer's registry.
        first = self.call(["repack", str(sources.MEDIA / "clip.h264"), "-o", str(folder / "first.mp4")])
        if first.returncode:
            sys.exit(f"{path} copies nothing: {first.stderr.decode(errors='replace').strip()}")

    def call(self, arguments):
        """Runs the program with complete paths."""
        return subprocess.run([str(self.path), *arguments], env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, case, made):
        """Runs a case in a folder of its own, which the caller removes."""
        folder = self.folder / str(next(self.numbers))
        folder.mkdir()
        arguments = case.arguments
        output = folder / f"out.{case.target}"
        linked = {output.name}

        def link(name, source):
            (folder / name).symlink_to(source)
            linked.add(name)

        source = made.path(case.source) if case.source != MISSING else folder / "nothing"
        if not case.reads:
            link(arguments[1], source)
        for place, word in enumerate(arguments):
            if word.startswith("{"):
                arguments[place] = word[1:-1]
                link(word[1:-1], made.path(word[1:-1]))
        if case.is_there:
            output.write_bytes(b"precious")
        status, printed, said = self.wait(arguments, folder, case, source)
        if case.writes_pipe:
            output.write_bytes(printed)
            printed = b""
        text = (printed + said).decode(errors="replace")
        left = sorted({path.name for path in folder.iterdir()} - linked)
        text += "".join(f"left: {name}\n" for name in left)
        return Result(status, self.plain(text, folder), digest(output.read_bytes() if output.exists() else b""), output)

    def wait(self, arguments, folder, case, source):
        """Runs the program. Returns its exit status, its standard output and its standard error."""
        cat, stream = None, subprocess.DEVNULL
        if case.reads == "|":
            cat = subprocess.Popen(["cat", str(source)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            stream = cat.stdout
        elif case.reads:
            stream = open(source, "rb")
        process = subprocess.Popen([str(self.path), *arguments], cwd=folder, env=self.environment, stdin=stream,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if case.reads:
            stream.close()
        try:
            printed, said = process.communicate(timeout=PATIENCE_SECONDS)
            status = str(process.returncode)
        except subprocess.TimeoutExpired:
            process.kill()
            printed, said = process.communicate()
            status = "hang"
        if cat:
            # It may have more than the program reads.
            cat.kill()
            cat.wait()
        return status, printed, said

    def plain(self, text, folder):
        """The text without paths, addresses, and numbers of processes."""
        text = text.replace(f"{folder}/", "").replace(str(self.path), "h26x")
        text = re.sub(r"\.h26x-\d+-\d+\.part", ".h26x-N.part", text)
        text = re.sub(r"0x[0-9a-f]{6,}", "0xN", text)
        # GLib's warnings, with the number of the process and the time.
        text = re.sub(r"\(([\w-]+):\d+\): (.*) \*\*: [\d:.]+:", r"(\1): \2 **:", text)
        return text


# Comparing.


# Fields of ffprobe that say nothing about the contents.
UNSEEN = ("filename", "pos", "creation_time")


def described(path):
    """A line for each packet, and for each field of other sections that ffprobe prints."""
    command = ["ffprobe", "-v", "error", "-of", "json", "-show_data_hash", "md5", "-show_format", "-show_programs",
               "-show_streams", "-show_chapters", "-show_packets", str(path)]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        document = json.loads(result.stdout)
    except json.JSONDecodeError:
        return result.stderr.decode(errors="replace").splitlines()

    def text(item):
        if isinstance(item, dict):
            return " ".join(f"{key}={text(value)}" for key, value in item.items() if key not in UNSEEN)
        return "[" + ", ".join(map(text, item)) + "]" if isinstance(item, list) else str(item)

    lines = [f"packet: {text(packet)}" for packet in document.pop("packets", [])]
    for section, items in document.items():
        for number, item in enumerate(items if isinstance(items, list) else [items]):
            lines += [f"{section} {number}: {key}={text(value)}" for key, value in item.items() if key not in UNSEEN]
    return lines


def difference(before, after):
    """The first lines that differ."""
    lines = [line for line in difflib.unified_diff(before, after, n=0, lineterm="")
             if not line.startswith(("---", "+++", "@@"))]
    return [f"    {line}" for line in lines[:LINES]] + ["    …"] * (len(lines) > LINES)


def first_byte(before, after):
    """Where files begin to differ."""
    one, two = before.read_bytes(), after.read_bytes()
    place = next((index for index, (a, b) in enumerate(zip(one, two)) if a != b), min(len(one), len(two)))
    return f"    from byte {place:,} on, of {len(one):,} and {len(two):,} bytes"


def compare(before, after):
    """What differs between two results: words, and lines that show it."""
    words, lines = [], []
    if before.status != after.status:
        words.append(f"status {after.status}, was {before.status}")
    if before.text != after.text:
        words.append("other texts")
        lines += difference(before.text.splitlines(), after.text.splitlines())
    if before.file != after.file:
        words.append("no output" if after.file == "-" else "an output" if before.file == "-" else "another output")
        if before.path and "-" not in (before.file, after.file):
            shown = difference(described(before.path), described(after.path))
            lines += [first_byte(before.path, after.path)] + (shown or ["    ffprobe shows no difference"])
    return words, lines


class Comparison:
    """All runs, and what is found."""

    def __init__(self, only):
        self.only = only
        self.runs = self.differences = 0
        self.skipped = {}

    def cases(self):
        return [case for case in cases.all_cases(sources.Sources.names()) if self.only in case.key]

    def each(self, programs, made, take):
        """Runs all cases with each program, some at a time, and hands over the results in order."""
        def run(case):
            try:
                return case, [program.run(case, made) for program in programs]
            except sources.Missing as error:
                return case, error

        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            for case, results in pool.map(run, self.cases()):
                if isinstance(results, sources.Missing):
                    self.skipped.setdefault(case.source, str(results))
                    continue
                self.runs += 1
                take(case, *results)
                for result in results:
                    shutil.rmtree(result.path.parent)

    def report(self, name, words, lines=()):
        self.differences += 1
        print(f"{name}: {', '.join(words)}", *lines, sep="\n", flush=True)

    def between(self, programs, made):
        def take(case, before, after):
            words, lines = compare(before, after)
            if words:
                self.report(case.key, words, lines)

        self.each(programs, made, take)

    def record(self, path, program, made):
        lines = []
        self.each([program], made, lambda case, result: lines.append(result.line(case.key)))
        lines += [f"{SOURCE}{name}\t\t\t{found}\t\"\"" for name, found in sorted(made.digests.items())]
        pathlib.Path(path).write_text("".join(line + "\n" for line in lines))

    def with_record(self, path, program, made):
        with open(path, encoding="utf-8") as file:
            known = dict(map(Result.read, file))
        seen = set()

        def take(case, result):
            seen.add(case.key)
            before = known.get(case.key)
            words, lines = compare(before, result) if before else (["not in the record"], [])
            if words:
                self.report(case.key, words, lines)

        self.each([program], made, take)
        for name, found in sorted(made.digests.items()):
            before = known.get(SOURCE + name)
            if before and before.file != found:
                self.report(SOURCE + name, ["made with other bytes than for the record: its copies differ, too"])
        for key in known:
            if key not in seen and not key.startswith(SOURCE) and self.only in key:
                self.report(key, ["in the record, and not run"])


SOURCE = "source "


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--record")
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    comparison = Comparison(options.only)
    if options.list:
        print(*(case.key for case in comparison.cases()), sep="\n")
        return 0
    if len(options.programs) != (1 if options.record else 2):
        parser.print_usage(sys.stderr)
        return 2
    begin = time.monotonic()
    has_record = not options.record and not os.access(options.programs[0], os.X_OK)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        paths = options.programs[1:] if has_record else options.programs
        programs = [Program(path, root / str(number)) for number, path in enumerate(paths)]
        (root / "sources").mkdir()
        made = sources.Sources(root / "sources", programs[0].call)
        if options.record:
            comparison.record(options.record, programs[0], made)
        elif has_record:
            comparison.with_record(options.programs[0], programs[0], made)
        else:
            comparison.between(programs, made)
    for name, reason in comparison.skipped.items():
        print(f"skipped: {name}: {reason}")
    print(f"{comparison.runs} runs of {len(made.digests)} files, {comparison.differences} differences, "
          f"{time.monotonic() - begin:.0f} s")
    return 1 if comparison.differences else 0


if __name__ == "__main__":
    sys.exit(main())
