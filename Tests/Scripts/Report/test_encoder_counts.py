# SPDX-License-Identifier: MPL-2.0
"""Compares statistics with the counts that x264 and x265 print of their own pictures; skipped where FFmpeg is missing."""
import collections
import csv
import pathlib
import re
import shutil
import tempfile
import unittest

from test_ffmpeg import document, root, run

PICTURES = 40
# A picture of x264's: number, QP, type, POC, macroblocks by kind, bytes.
FRAME = re.compile(r"frame= *\d+ QP=([\d.]+) NAL=\d Slice:(\w) Poc:(-?\d+) +I:(\d+) +P:(\d+) +SKIP:(\d+) +size=(\d+) bytes")
# Its totals by slice type.
TOTAL = re.compile(r"\] (mb [IPB]|ref P L0)\b(.*)")


def encode(encoder, options, path):
    """Encodes noise and shapes. Returns all that the encoder prints."""
    return run("ffmpeg", "-nostdin", "-hide_banner", "-v", "debug", "-y", "-f", "lavfi",
               "-i", "testsrc2=size=352x288:rate=25,noise=alls=6:all_seed=1", "-frames:v", PICTURES, "-pix_fmt", "yuv420p",
               "-c:v", f"lib{encoder}", f"-{encoder}-params", options, path)[1]


def percentages(text):
    return [float(each) for each in re.findall(r"([\d.]+)%", text)]


@unittest.skipUnless(shutil.which("ffmpeg"), "no FFmpeg")
class EncoderCountTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_macroblocks_are_those_of_x264(self):
        for options in ("qp=26", "crf=20:cabac=0:weightp=0", "crf=24:tff=1", "bitrate=300:slices=4:aq-mode=3", "qp=20:keyint=1", "crf=28:partitions=all:ref=4"):
            with self.subTest(options):
                path = self.folder / "clip.h264"
                printed = encode("x264", options, path)
                units = [item for item in document(path, "--statistics") if item["kind"] == "accessUnit"]
                frames = FRAME.findall(printed)
                self.assertEqual(len(frames), PICTURES)
                self.assertEqual(len(units), PICTURES)
                for unit, (qp, letter, poc, intra, inter, skipped, size) in zip(units, frames):
                    kinds = collections.Counter(unit["statistics"]["kinds"])
                    have = (unit["type"], unit["poc"], kinds["intra"], kinds["inter"] + kinds["direct"], kinds["skip"], unit["size"])
                    self.assertEqual(have, (letter, int(poc), int(intra) * 256, int(inter) * 256, int(skipped) * 256, int(size)))
                    self.assertAlmostEqual(unit["statistics"]["qp"]["average"], float(qp), delta=0.006)
                self.check_totals(units, dict(TOTAL.findall(printed)))

    def check_totals(self, units, printed):
        """Compares areas by the size of prediction and by reference index with the percentages that x264 prints."""
        for letter in sorted({unit["type"] for unit in units}):
            area, sums = 0, {}
            for unit in units:
                if unit["type"] != letter:
                    continue
                area += unit["statistics"]["area"]
                for member in ("kinds", "partitions", "intraSizes"):
                    sums.setdefault(member, collections.Counter()).update(unit["statistics"][member])
                sums.setdefault("references", collections.Counter()).update(dict(enumerate(unit["statistics"]["references"][0])))
            parts, intra, kinds = sums["partitions"], sums["intraSizes"], sums["kinds"]
            have = [intra["16"], intra["8"], intra["4"]]
            if letter == "P":
                have += [parts["16x16"], parts["16x8"] + parts["8x16"], parts["8x8"], parts["8x4"] + parts["4x8"], parts["4x4"], kinds["skip"]]
            elif letter == "B":
                have += [parts["16x16"], parts["16x8"] + parts["8x16"], parts["8x8"], kinds["direct"], kinds["skip"]]
            wanted = percentages(printed[f"mb {letter}"])
            for one, other in zip((each * 100 / area for each in have), wanted):
                self.assertAlmostEqual(one, other, delta=0.051, msg=f"{letter}: {have} of {area}, {wanted}")
            if letter == "P" and "ref P L0" in printed:
                references, wanted = sums["references"], percentages(printed["ref P L0"])
                for index, share in enumerate(wanted):
                    self.assertAlmostEqual(references[index] * 100 / references.total(), share, delta=0.051)


if __name__ == "__main__":
    unittest.main()
