# SPDX-License-Identifier: MPL-2.0
"""Compares statistics with the counts that x264 and x265 print of their own pictures; skipped where FFmpeg is missing.

x265 counts units of a size, where statistics have areas: its columns are compared with the list of blocks. In its
columns of prediction units, 32 x 32 samples outside the picture count as inter: the width and height are multiples of 64.
"""
import collections
import csv
import pathlib
import re
import shutil
import tempfile
import unittest

from test_ffmpeg import document, root, run

PICTURES = 40
INTER = {"inter", "direct"}
HALVES = {"2NxN", "Nx2N"}
UNEVEN = {"2NxnU", "2NxnD", "nLx2N", "nRx2N"}
# A picture of x264's: number, QP, type, POC, macroblocks by kind, bytes.
FRAME = re.compile(r"frame= *\d+ QP=([\d.]+) NAL=\d Slice:(\w) Poc:(-?\d+) +I:(\d+) +P:(\d+) +SKIP:(\d+) +size=(\d+) bytes")
# Its totals by slice type.
TOTAL = re.compile(r"\] (mb [IPB]|ref P L0)\b(.*)")


def encode(encoder, options, path):
    """Encodes noise and shapes. Returns all that the encoder prints."""
    return run("ffmpeg", "-nostdin", "-hide_banner", "-v", "debug", "-y", "-f", "lavfi",
               "-i", "testsrc2=size=384x256:rate=25,noise=alls=6:all_seed=1", "-frames:v", PICTURES, "-pix_fmt", "yuv420p",
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

    def test_coding_units_are_those_of_x265(self):
        for options in ("qp=26", "crf=24:rect=1:amp=1:aq-mode=2", "bitrate=300:slices=2:ref=4", "crf=22:ctu=32:min-cu-size=16:rect=1", "crf=20:keyint=1"):
            with self.subTest(options):
                path, table = self.folder / "clip.h265", self.folder / "clip.csv"
                table.unlink(missing_ok=True)
                # Threads share x265's counters: some units get lost.
                encode("x265", f"{options}:csv={table}:csv-log-level=2:pools=1:frame-threads=1", path)
                # Totals follow the pictures.
                names, *rows = [[each.strip() for each in row] for row in csv.reader(table.read_text().splitlines())]
                rows = rows[:PICTURES]
                items = document(path, "--blocks", "--range", "0-")
                units = [item for item in items if item["kind"] == "accessUnit"]
                self.assertEqual((len(rows), len(units)), (PICTURES, PICTURES))
                counts = [collections.Counter() for _ in units]
                for item in items:
                    if item["kind"] == "block":
                        counts[item["accessUnit"]][item["size"], item["type"], item["partition"]] += 1
                # Names of the prediction units' columns occur before, too.
                middle = names.index("Avg Cr Level") + 1
                for unit, row, count in zip(units, rows, counts):
                    have = dict(zip(names[:middle], row))
                    # Without start codes and SEI.
                    bits = 8 * sum(each["size"] for each in unit["nalUnits"] if each["type"] not in (39, 40))
                    self.assertEqual((unit["type"], unit["poc"], bits), (have["Type"][0].upper(), int(have["POC"]), int(have["Bits"])))
                    self.assertAlmostEqual(unit["statistics"]["qp"]["average"], float(have["QP"]), delta=0.006)
                    self.check_units(count, have)
                    self.check_prediction(count, dict(zip(names[middle:], row[middle:])))

    def check_units(self, counts, columns):
        """Compares with shares of the coding units. Most skipped ones count as merged there."""
        sizes = sorted({int(size) for name in columns for size in re.findall(r"Skip (\d+)x", name)})
        for size in sizes:
            intra = sum(float(columns[f"Intra {size}x{size} {mode}"].rstrip("%")) for mode in ("DC", "Planar", "Ang"))
            self.check_share(counts, counts.total(), intra, size, {"intra"}, {"2Nx2N"})
            skipped = sum(float(columns[f"{kind} {size}x{size}"].rstrip("%")) for kind in ("Skip", "Merge"))
            self.check_share(counts, counts.total(), skipped, size, {"skip"}, {"2Nx2N"})
            for suffix, partitions in {"": {"2Nx2N"}, " (Rect)": HALVES, " (Amp)": UNEVEN}.items():
                share = columns.get(f"Inter {size}x{size}{suffix}", "0").rstrip("%")
                self.check_share(counts, counts.total(), float(share), size, INTER, partitions)
        self.check_share(counts, counts.total(), float(columns["4x4"].rstrip("%")), 8, {"intra"}, {"NxN"})

    def check_prediction(self, counts, columns):
        """Compares with shares of the coding units of a size, without those of 4 x 4 prediction."""
        for size in sorted({int(size) for name in columns for size in re.findall(r"AMP (\d+)", name)}):
            total = sum(count for (one, kind, partition), count in counts.items() if one == size and (kind, partition) != ("intra", "NxN"))
            if not total:
                continue
            half, share = size // 2, {name: float(text.rstrip("%")) for name, text in columns.items() if "%" in text}
            for name, kind in {"Intra": "intra", "Skip": "skip", "Inter": "inter", "Merge": "direct"}.items():
                self.check_share(counts, total, share[f"{name} {size}x{size}"], size, {kind}, {"2Nx2N"})
            self.check_share(counts, total, share[f"AMP {size}"], size, INTER, UNEVEN)
            for shape, partition in {f"{size}x{half}": "2NxN", f"{half}x{size}": "Nx2N"}.items():
                both = share[f"Inter {shape}"] + share[f"Merge {shape}"]
                self.check_share(counts, total, both, size, INTER, {partition})

    def check_share(self, counts, total, wanted, size, kinds, partitions):
        found = sum(count for (one, kind, partition), count in counts.items() if one == size and kind in kinds and partition in partitions)
        # Up to three columns with two decimals each.
        self.assertAlmostEqual(found * 100 / total, wanted, delta=0.016, msg=f"{size} {kinds} {partitions}: {counts}")


if __name__ == "__main__":
    unittest.main()
