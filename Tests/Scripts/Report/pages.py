# SPDX-License-Identifier: MPL-2.0
"""A browser, a folder and the program, for the tests of both pages."""
import atexit
import functools
import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import streams
from browser import Browser

root = pathlib.Path(__file__).resolve().parents[3]
program = os.environ.get("H26X", str(root / ".build/tool/h26x"))
vectors = pathlib.Path(os.environ.get("CONFORMANCE_VECTORS", root.parent / "shared/vectors"))
holder = tempfile.TemporaryDirectory(prefix="h26x-page-")
folder = pathlib.Path(holder.name)

# The number of the chosen access unit, a variable of the page.
CHOSEN = "view.chosen"


@functools.cache
def browser():
    made = Browser()
    atexit.register(made.close)
    return made


def run(*arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, timeout=120)
    if done.returncode not in (0, 2):
        raise AssertionError(f"h26x {arguments}: {done.stderr.decode()}")
    return done.stdout


def document(path):
    return [json.loads(line) for line in run("inspect", "--json", path).splitlines()]


def of_kind(items, kind):
    return [item for item in items if item["kind"] == kind]


class PageCase(unittest.TestCase):
    def open(self, url, **how):
        page = browser().page(url, **how)
        self.addCleanup(page.close)
        self.addCleanup(lambda: self.assertEqual(page.complaints(), []))
        return page

    def report(self, source, deep=False, **how):
        """The report of a clip, or of bytes; with statistics of blocks if it is deep."""
        if isinstance(source, bytes):
            path = folder / f"{hashlib.sha256(source).hexdigest()[:8]}.{'mp4' if source[4:8] == b'ftyp' else 'h264'}"
            path = path.with_suffix(".h265") if source[4:5] == b"\x40" else path
            path.write_bytes(source)
        else:
            path = streams.media / source
        page = folder / f"{path.name}{'-deep' if deep else ''}.html"
        if not page.exists():
            run("report", *(["--deep"] if deep else []), path, "-o", page)
        return self.open(page.as_uri(), **how), path

    def facts(self, page):
        """The overview: values by name."""
        return dict(zip(page.texts("#overview dt"), page.texts("#overview dd")))

    def rows(self, page):
        """The texts of the visible rows of the list: number, type and so on."""
        return page.value("[...document.querySelectorAll('.row')].map((row) => [...row.children].map((each) => each.textContent))")
