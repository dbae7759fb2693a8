#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
# Checks the public declarations of the libraries by the compiler's symbol graph: they must be those listed beside this
# script, for review, and must have documentation. Needs a build, in the folder that SWIFTPM_BUILD_DIR names or in .build,
# with the options in BUILD_OPTIONS or for debugging; takes seconds.
#
#   Tests/Scripts/PublicSurface/run.py            compares
#   Tests/Scripts/PublicSurface/run.py --update   writes the lists
import difflib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
root = here.parents[2]
MODULES = ["H26x", "StreamReport", "VideoDecoding", "VideoFiles", "GStreamer", "GStreamerAudio", "GStreamerDiscovery", "HarnessSupport"]


def output(*command):
    return subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout


def symbols(module, folder):
    flags = shlex.split(output("pkg-config", "--cflags-only-I", "gstreamer-video-1.0", "gstreamer-check-1.0"))
    target = json.loads(output("swiftc", "-print-target-info"))["target"]["unversionedTriple"]
    options = shlex.split(os.environ.get("BUILD_OPTIONS", ""))
    build = output("swift", "build", *options, "--show-bin-path").strip()
    command = ["swift", "symbolgraph-extract", "-module-name", module, "-minimum-access-level", "public"]
    command += ["-skip-synthesized-members", "-I", f"{build}/Modules", "-target", target, "-output-dir", folder]
    headers = ["CGStreamer", "CGStreamerAudio", "CGStreamerDiscovery", "CAVCodec", "CLinux"]
    for header in [f"Sources/{name}" for name in headers] + ["Tests/CGStreamerCheck"]:
        command += ["-I", header]
    for flag in flags:
        command += ["-Xcc", flag]
    subprocess.run(command, cwd=root, check=True)
    # Extensions of another module's types are in separate files.
    for path in sorted(pathlib.Path(folder).glob(f"{module}*.symbols.json")):
        yield from json.loads(path.read_text())["symbols"]


def line(symbol):
    kind = symbol["kind"]["identifier"].removeprefix("swift.")
    return f"{'.'.join(symbol['pathComponents'])}  {kind}"


failed = False
for module in MODULES:
    with tempfile.TemporaryDirectory() as folder:
        # Members that the compiler synthesises have no location.
        found = [symbol for symbol in symbols(module, folder) if "location" in symbol]
    lines = [text + "\n" for text in sorted(line(symbol) for symbol in found)]
    listed = here / f"{module}.txt"
    if "--update" in sys.argv:
        listed.write_text("".join(lines))
    else:
        difference = list(difflib.unified_diff(
            listed.read_text().splitlines(True), lines, f"{module}, listed", f"{module}, built", n=0))
        sys.stdout.writelines(difference)
        failed = failed or bool(difference)
    for symbol in found:
        if "docComment" not in symbol:
            path = pathlib.Path(re.sub("^file://", "", symbol["location"]["uri"]))
            where = f"{path.relative_to(root)}:{symbol['location']['position']['line'] + 1}"
            print(f"{where}: {line(symbol)}: no documentation")
            failed = True
if failed:
    sys.exit(f"{sys.argv[0]}: see above; once it is meant and documented, run it with --update")
