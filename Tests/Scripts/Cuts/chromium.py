#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MPL-2.0
"""Cuts H.264 at random with h26x, plays the results in Chromium without a window, and reads which pictures it shows.

  chromium.py

  --count N       results; default: 100
  --seed N        default: 1
  --only WORD     only sources whose name contains it
  --keep FOLDER   sources and results stay here; default: a temporary folder

  H26X=.build/tool/h26x   the program

The pictures carry their number. Each result is played to its end: all pictures must be decoded and shown. A picture
that the script was too slow to read is awaited in another run. Sources that Chromium does not play are left out. A line
for each failure, with its command; the exit status is 1 then.
"""

import collections
import random
import shlex
import sys

import pictures
import program
import sources
from pictures import numbers_and_times, spans
from program import H26X, ROOT, last_line, tool

sys.path.append(str(ROOT / "Tests/Scripts/Report"))
from browser import Browser, Failure  # noqa: E402

PACKINGS, TARGETS = ["mp4", "mkv", "ts", "raw"], ["mp4", "mov"]
# A picture is read when it is announced. Chromium may have shown so many, at most, since then.
LATEST = 12
# How often a file is played, until each picture was read.
TRIALS = 5

PAGE = """<!doctype html><meta charset="utf-8">
<input id="file" type="file"><video id="video" muted></video><canvas id="canvas" width="WIDTH" height="1"></canvas>
<script>
const video = document.getElementById("video");
const pen = document.getElementById("canvas").getContext("2d", { willReadFrequently: true });

function happens(name) {
  return new Promise((resolve, reject) => {
    video.addEventListener(name, resolve, { once: true });
    video.addEventListener("error", () => reject(new Error(video.error.message)), { once: true });
  });
}

/** The row of the picture that has the bar code; red is luma. */
function row() {
  pen.drawImage(video, 0, -ROW);
  return [...pen.getImageData(0, 0, WIDTH, 1).data.filter((_, place) => place % 4 == 0)];
}

async function play() {
  const shown = [];
  let callback;
  const take = (_, { mediaTime }) => {
    shown.push([mediaTime, row()]);
    callback = video.requestVideoFrameCallback(take);
  };
  callback = video.requestVideoFrameCallback(take);
  URL.revokeObjectURL(video.src);
  video.src = URL.createObjectURL(document.getElementById("file").files[0]);
  // The first picture is announced before.
  await happens("loadeddata");
  const end = happens("ended");
  // A file of one picture ends before it plays.
  video.play().catch(() => {});
  await end;
  video.cancelVideoFrameCallback(callback);
  return { duration: video.duration, decoded: video.getVideoPlaybackQuality().totalVideoFrames, shown };
}
</script>
"""


class Player:
    def __init__(self, browser, folder):
        path = folder / "player.html"
        path.write_text(PAGE.replace("WIDTH", str(sources.WIDTH)).replace("ROW", str(sources.ROW)))
        self.page = browser.page(path.as_uri())

    def defects(self, path, numbers, times):
        """How Chromium does not show these pictures. The last time is the end."""
        seen = set()
        for _ in range(TRIALS):
            try:
                self.page.files("#file", path)
                played = self.page.value("play()")
            except Failure as failure:
                return [str(failure).splitlines()[0]]
            if played["decoded"] != len(numbers):
                return [f"{played['decoded']} pictures decoded instead of {len(numbers)}"]
            # The last picture of a source may have any duration.
            if not times[-2] - 0.0011 < played["duration"] < times[-1] + 0.0011:
                return [f"{played['duration']:.4f} s instead of {times[-1]:.4f} s"]
            for time, row in played["shown"]:
                number = sources.bar_code(row, 8)
                first = min(range(len(numbers)), key=lambda place: abs(times[place] - time))
                place = next((place for place in range(first, len(numbers))[:LATEST] if numbers[place] == number), None)
                if place is None or abs(times[first] - time) > 0.0011:
                    return [f"picture {number} shown at {time:.4f} s"]
                seen.add(place)
            if len(seen) == len(numbers):
                return []
        return [f"not seen: {spans([place for place in range(len(numbers)) if place not in seen])}"]


def timed(own, ranges):
    """The numbers of the pictures of ranges, when each is shown, and the end."""
    numbers, times = numbers_and_times(own, ranges)
    ends = [own[number].time for number in range(len(own))] + [own[-1].time + own[-1].duration]
    return numbers, times + [sum(ends[end] - ends[start] for start, end in ranges)]


def main():
    parser = program.parser(__doc__)
    parser.add_argument("--count", type=int, default=100, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    generator, totals = random.Random(options.seed), collections.Counter()
    with program.folder(options) as folder:
        browser = Browser()
        try:
            player, played = Player(browser, folder), []
            for source in sources.RANDOM:
                if source.codec != "h264" or options.only not in source.name:
                    continue
                own = pictures.read(source.make(folder).path)
                defects = player.defects(source.path, *timed(own, [(0, len(own))]))
                if defects:
                    print(f"{source.name} is left out: {'; '.join(defects)}", flush=True)
                else:
                    played.append((source, own, pictures.structure(source)))
            for number in range(options.count if played else 0):
                source, own, coded = generator.choice(played)
                packing, target = generator.choice(PACKINGS), generator.choice(TARGETS)
                if packing == "raw" and source.times:
                    packing = "mp4"
                ranges = sources.random_ranges(generator, coded, len(own))
                output = folder / f"chromium-{number}.{target}"
                command = [H26X, "cut", source.packed(packing), "-o", output, "--force", "--mode", "exact"]
                for start, end in ranges:
                    command += ["--range", f"#{start}-#{end}"]
                run = tool(*command)
                if "because" in run.stderr:
                    totals["not exact"] += 1
                    continue
                totals["results"] += 1
                defects = [last_line(run.stderr)] if run.returncode else player.defects(output, *timed(own, ranges))
                if defects:
                    totals["failed"] += 1
                    print(f"{source.name}: {'; '.join(defects)}: {shlex.join(map(str, command))}", flush=True)
                else:
                    output.unlink()
        finally:
            browser.close()
    print(", ".join(f"{count} {name}" for name, count in totals.items()))
    sys.exit(1 if totals["failed"] or not totals["results"] else 0)


if __name__ == "__main__":
    main()
