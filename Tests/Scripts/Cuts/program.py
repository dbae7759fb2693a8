# SPDX-License-Identifier: MPL-2.0
"""The program under test, and the options that all scripts here have."""

import argparse
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
H26X = pathlib.Path(os.environ.get("H26X", ROOT / ".build/tool/h26x")).resolve()
VECTORS = pathlib.Path(os.environ.get("CONFORMANCE_VECTORS", ROOT.parent / "shared/vectors"))
PATIENCE_SECONDS = 120


def parser(description):
    """A parser with the options that all scripts have."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--keep", type=pathlib.Path, metavar="FOLDER")
    return made


@contextlib.contextmanager
def folder(options):
    """The folder of sources and results."""
    if not H26X.exists():
        sys.exit(f"{H26X} is missing: make tool, or set H26X")
    with tempfile.TemporaryDirectory() as temporary:
        found = options.keep or pathlib.Path(temporary)
        found.mkdir(parents=True, exist_ok=True)
        yield found


def tool(*command, patience=PATIENCE_SECONDS):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=patience)


def last_line(text):
    return (text.strip().splitlines() or ["no output"])[-1]


def encoded_count(text):
    return sum(int(count) for count in re.findall(r"(\d+) pictures? encoded", text))
