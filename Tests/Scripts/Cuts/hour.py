#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MPL-2.0
"""Cuts a hundred random ranges of an hour into one MP4 file with h26x, and reads where its sound is.

  hour.py

  --ranges N      default: 100
  --seconds N     of the source; default: 3600
  --seed N        of the ranges; default: 1
  --keep FOLDER   source and result stay here; default: a temporary folder

  H26X=.build/tool/h26x   the program

The sound is noise, so no two packets are equal. Each packet of the result must be one of its range. At each seam, sound
must begin within half a packet of the range's first picture, and its packets must be within half a packet of their
places beside the pictures. Between packets are no holes, and none overlap. The sound ends within half a packet of the
last picture. Pictures have the times of the source. A line for each failure; the exit status is 1 then.
"""

import dataclasses
import random
import re
import shlex
import sys

import program
import sources
from program import H26X, encoded_count, last_line, tool

# 30000/1001 pictures a second, of 1001 ticks each.
TICKS, STEP = 30_000, 1001
# Of sound: samples a second and in a packet.
RATE, PACKET = 48_000, 1024
GROUP_SECONDS, LONGEST_SECONDS = 2, 20
PATIENCE_SECONDS = 600


def source(folder, seconds):
    """An hour of a test pattern and noise."""
    path = folder / f"hour-{seconds}.mp4"
    if not path.exists():
        group = round(GROUP_SECONDS * TICKS / STEP)
        sources.run(
            "ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=size=160x90:rate={TICKS}/{STEP}",
            "-f", "lavfi", "-i", f"anoisesrc=sample_rate={RATE}:amplitude=0.3:seed=1", "-t", seconds, "-c:v", "libx264",
            "-preset", "ultrafast", "-bf", 2, "-g", group, "-keyint_min", group, "-sc_threshold", 0,
            "-pix_fmt", "yuv420p", "-video_track_timescale", TICKS, "-c:a", "aac", "-b:a", "32k", "-ac", 1, path)
    return path


@dataclasses.dataclass
class Packet:
    # In ticks of pictures or samples.
    time: int
    duration: int
    digest: str


def packets(path, stream):
    """The packets of a stream in the order of presentation."""
    text = sources.run("ffprobe", "-v", "error", "-select_streams", stream, "-show_data_hash", "md5", "-show_entries",
                       "packet=pts,duration,data_hash", "-of", "csv=p=0", path).decode()
    found = []
    # A packet with side data has its hash in a line of its own.
    for time, duration, digest in re.findall(r"^(-?\d+),(\d+),\s*,?MD5:(\w+)", text, re.MULTILINE):
        found.append(Packet(int(time), int(duration), digest))
    return sorted(found, key=lambda packet: packet.time)


def random_ranges(generator, count, picture_count):
    """Ranges of pictures, of one to twenty seconds."""
    lengths = [generator.randint(TICKS // STEP, LONGEST_SECONDS * TICKS // STEP) for _ in range(count)]
    return [(start, start + length)
            for length in lengths for start in [generator.randint(0, picture_count - length)]]


def picture_defects(own, found, ranges):
    """How the pictures are not those of the ranges, and when each range begins in the file, and the end, in ticks."""
    starts, expected = [0], []
    for first, end in ranges:
        shift = starts[-1] - own[first].time
        expected += [picture.time + shift for picture in own[first:end]]
        starts.append(expected[-1] + own[end - 1].duration)
    defects = []
    if len(found) != len(expected):
        defects.append(f"{len(found)} pictures instead of {len(expected)}")
    wrong = [place for place, (picture, time) in enumerate(zip(found, expected)) if picture.time != time]
    if wrong:
        place = wrong[0]
        defects.append(f"{len(wrong)} pictures have other times: the first is {place}, at {found[place].time} ticks "
                       f"instead of {expected[place]}")
    return defects, starts


def sound_defects(own, found, ranges, pictures, starts):
    """How the sound is not that of the ranges."""
    numbers = {packet.digest: number for number, packet in enumerate(own)}
    if len(numbers) != len(own):
        return ["packets of the source are equal"]
    defects, runs = [], []
    for place, packet in enumerate(found):
        number = numbers.get(packet.digest)
        if number is None:
            return [f"packet {place} of the sound is not one of the source"]
        if place and packet.time != found[place - 1].time + PACKET:
            defects.append(f"packet {place} of the sound begins at {packet.time}, the one before it ends at "
                           f"{found[place - 1].time + PACKET}")
        if not runs or number != numbers[found[place - 1].digest] + 1:
            runs.append([])
        runs[-1].append((packet, own[number]))
    if len(runs) != len(ranges):
        return defects + [f"{len(runs)} runs of sound instead of {len(ranges)}"]
    farthest = 0
    for number, (run, (first, end)) in enumerate(zip(runs, ranges)):
        begin = starts[number] * RATE / TICKS
        distance = run[0][0].time - begin
        # A decoder begins a packet earlier with the first range, and an edit hides that.
        if not (-2 * PACKET <= distance <= PACKET / 2 if number == 0 else abs(distance) <= PACKET / 2):
            defects.append(f"sound of range {number} begins {distance / RATE * 1000:.1f} ms behind its first picture")
        for packet, original in run:
            place = begin + original.time - pictures[first].time * RATE / TICKS
            farthest = max(farthest, abs(packet.time - place))
            if abs(packet.time - place) > PACKET / 2:
                defects.append(f"sound of range {number} is {(packet.time - place) / RATE * 1000:.1f} ms too late")
                break
    distance = found[-1].time + PACKET - starts[-1] * RATE / TICKS
    if abs(distance) > PACKET / 2:
        defects.append(f"sound ends {distance / RATE * 1000:.1f} ms behind the last picture")
    print(f"{len(found)} packets of sound, at most {farthest / RATE * 1000:.2f} ms from their places, "
          f"of {PACKET / 2 / RATE * 1000:.2f} ms allowed")
    return defects


def main():
    parser = program.parser(__doc__)
    parser.add_argument("--ranges", type=int, default=100, metavar="N")
    parser.add_argument("--seconds", type=int, default=3600, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with program.folder(options) as folder:
        path, output = source(folder, options.seconds), folder / "ranges.mp4"
        pictures = packets(path, "v:0")
        ranges = random_ranges(random.Random(options.seed), options.ranges, len(pictures))
        command = [H26X, "cut", path, "-o", output, "--force", "--mode", "exact"]
        for start, end in ranges:
            command += ["--range", f"#{start}-#{end}"]
        run = tool(*command, patience=PATIENCE_SECONDS)
        if run.returncode or "because" in run.stderr:
            sys.exit(f"{last_line(run.stderr)}: {shlex.join(map(str, command))}")
        defects, starts = picture_defects(pictures, packets(output, "v:0"), ranges)
        defects += sound_defects(packets(path, "a:0"), packets(output, "a:0"), ranges, pictures, starts)
        decoded = tool("ffmpeg", "-v", "error", "-i", output, "-f", "null", "-", patience=PATIENCE_SECONDS)
        if decoded.returncode or decoded.stderr:
            defects.append(f"FFmpeg: {last_line(decoded.stderr)}")
        for defect in defects:
            print(defect)
        if defects:
            print(shlex.join(map(str, command)))
        print(f"{len(ranges)} ranges, {starts[-1] / TICKS:.0f} s, {encoded_count(run.stderr)} pictures encoded, "
              f"{len(defects)} defects")
    sys.exit(1 if defects else 0)


if __name__ == "__main__":
    main()
