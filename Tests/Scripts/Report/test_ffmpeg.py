# SPDX-License-Identifier: MPL-2.0
"""Compares the document with ffprobe and FFmpeg's trace_headers on the same files; skipped where FFmpeg is missing."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

root = pathlib.Path(__file__).resolve().parents[3]
program = os.environ.get("H26X", str(root / ".build/tool/h26x"))
vectors = pathlib.Path(os.environ.get("CONFORMANCE_VECTORS", root.parent / "shared/vectors"))
media = root / "Tests/Media"
ELEMENT = re.compile(r"^\[trace_headers[^]]*\] (\d+) +([\w\[\]]+) +([01]+) = (-?\d+)$")


def run(*arguments):
    done = subprocess.run([str(each) for each in arguments], capture_output=True, timeout=300)
    return done.stdout, done.stderr.decode(errors="replace")


def document(path, *options):
    return [json.loads(line) for line in run(program, "inspect", "--json", *options, path)[0].splitlines()]


def traced(path):
    """NAL units as trace_headers reads them: elements as (bit, name, value)."""
    text = run("ffmpeg", "-hide_banner", "-nostats", "-i", path, "-map", "0:v:0", "-c", "copy", "-bsf:v", "trace_headers", "-f", "null", "-")[1]
    units, isInPackets = [], False
    for line in text.splitlines():
        isInPackets = isInPackets or "] Packet:" in line
        found = ELEMENT.match(line)
        if not found or not isInPackets:
            continue
        bit, name, value = int(found[1]), re.sub(r"\[\d+\]", "", found[2]), int(found[4])
        if bit == 0 and name == "forbidden_zero_bit":
            units.append([])
        if units:
            units[-1].append((bit, name, value))
    return units


# FFmpeg's names of elements that differ from the Recommendation's.
NAMES = {"gaps_in_frame_num_allowed_flag": "gaps_in_frame_num_value_allowed_flag", "matrix_coefficients": "matrix_coeffs"}
# Alignment bits; constraint flags of H.265 that one side reads one by one and the other as reserved; payloads
# that FFmpeg does not read.
LEFT_OUT = re.compile(r"rbsp_.*|.*alignment_.*|bit_equal_to_.*|general_(reserved|max|intra|one_picture|lower|inbld).*|payload_byte|uuid_iso_iec_11578|itu_t_t35.*|data_byte")


def plain(name, codec):
    name = re.sub(r"\[\d+\]", "", name)
    return name if codec == "h264" and name == "matrix_coefficients" else NAMES.get(name, name)


@unittest.skipUnless(shutil.which("ffmpeg") and shutil.which("ffprobe"), "no FFmpeg")
class FFmpegTests(unittest.TestCase):
    def files(self, *suffixes):
        found = sorted(path for path in media.iterdir() if path.suffix in suffixes)
        more = sorted(path for path in vectors.glob("h26[45]/*") if path.suffix.lower() in suffixes)
        return found + (more if "ALL_VECTORS" in os.environ else more[::9])

    def test_syntax_elements_are_those_of_trace_headers(self):
        # A slice length beyond its sample, from which on FFmpeg skips all; a picture and SEI before their SPS,
        # which FFmpeg reads with the SPS that comes later.
        unlike = {"androidx_sample_with_invalid_nalu.mp4", "membrane_input-idr-sps-pps-non-idr.h264", "cros_test-25fps.h264"}
        count = collections.Counter()
        for path in self.files(".h264", ".264", ".jsv", ".avc", ".h265", ".hevc", ".mp4"):
            if path.name in unlike:
                continue
            items = document(path, "--fields")
            codec = items[0]["codec"]
            ours = [unit for item in items if item["kind"] == "accessUnit" for unit in item["nalUnits"]]
            differences, place = [], 0
            for unit in traced(path):
                kind = next(value for _, name, value in unit if name == "nal_unit_type")
                while place < len(ours) and ours[place]["type"] != kind:
                    place += 1
                if place == len(ours):
                    differences.append(f"a NAL unit of type {kind} that is not listed")
                    break
                fields = ours[place].get("fields", [])
                place += 1
                wanted = {bit: (plain(name, codec), value) for bit, name, value in unit if not LEFT_OUT.fullmatch(name)}
                have = {field[2]: (plain(field[0], codec), field[1]) for field in fields if not LEFT_OUT.fullmatch(field[0])}
                count[codec] += len(wanted)
                differences += [f"{ours[place - 1]['name']} at {ours[place - 1]['offset']}, bit {bit}: {have.get(bit)}, FFmpeg {value}"
                                for bit, value in wanted.items() if have.get(bit) != value]
                differences += [f"{ours[place - 1]['name']} at {ours[place - 1]['offset']}, bit {bit}: {value}, FFmpeg nothing"
                                for bit, value in have.items() if bit not in wanted]
            with self.subTest(path.name):
                self.assertEqual(differences[:10], [])
        self.assertGreater(min(count["h264"], count["h265"]), 1000)
        print(f"{count['h264']} elements of H.264, {count['h265']} of H.265", end=" ", flush=True)

    def test_samples_are_those_of_ffprobe(self):
        for path in self.files(".mp4", ".mov"):
            packets = json.loads(run("ffprobe", "-v", "error", "-select_streams", "v:0", "-show_packets", "-of", "json", path)[0])["packets"]
            units = [item for item in document(path) if item["kind"] == "accessUnit"]
            with self.subTest(path.name):
                self.assertEqual([unit["size"] for unit in units], [int(packet["size"]) for packet in packets])
                self.assertEqual([unit["offset"] for unit in units], [int(packet["pos"]) for packet in packets])
                self.assertEqual([unit["sync"] for unit in units], ["K" in packet["flags"] for packet in packets])
                # The edit list shifts all of ffprobe's times by the same amount.
                for name in ("pts", "dts"):
                    moved = {unit[name] - packet[name] for unit, packet in zip(units, packets)}
                    self.assertEqual(len(moved), 1, f"{name}: {sorted(moved)[:5]}")

    def test_times_of_pes_packets_are_those_of_ffprobe(self):
        for path in self.files(".ts"):
            packets = json.loads(run("ffprobe", "-v", "error", "-select_streams", "v:0", "-show_packets", "-of", "json", path)[0])["packets"]
            items = document(path)
            units = [item for item in items if item["kind"] == "accessUnit"]
            with self.subTest(path.name):
                self.assertEqual(len(units), len(packets))
                # Nanoseconds from the first PCR on, ticks of 90 kHz in the file.
                for name in ("pts", "dts"):
                    moved = {round(unit[name] * 90_000 / items[0]["timescale"]) - packet[name] for unit, packet in zip(units, packets)
                             if name in unit and name in packet}
                    self.assertEqual(len(moved), 1, f"{name}: {sorted(moved)[:5]}")
                self.assertTrue(any("dts" in unit for unit in units))


if __name__ == "__main__":
    unittest.main()
