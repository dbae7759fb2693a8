# SPDX-License-Identifier: MPL-2.0
"""The output of player.c."""
import re

PICTURE = re.compile(
    r"  (?P<time>\d+:\d\d:\d\d\.\d+) (?P<running>\S+) (?P<duration>\d+:\d\d:\d\d\.\d+) (?P<checksum>\w+)(?P<corrupted> corrupted)?$")


def nanoseconds(text):
    hours, minutes, seconds = text.split(":")
    return (int(hours) * 60 + int(minutes)) * 60 * 10**9 + int(seconds.replace(".", ""))


class Scenarios:
    """The lines, and of the first scenario, which plays the whole file, each picture's time and duration."""

    def __init__(self, lines):
        end = lines.index("issues")
        # Without B-frames, ours flags pictures that may refer to one; stock's decoders flag none.
        predicted = next(number for number, line in enumerate(lines) if line.startswith(" rate 8 "))
        self.lines = lines[:predicted] + [line.removesuffix(" corrupted") for line in lines[predicted:end]]
        # The number of each kind, and the place of the last.
        issues = (re.match(r"  (.+?): (\d+), (.+)", line) for line in lines[end + 1:])
        self.issues = {issue[1]: (int(issue[2]), issue[3]) for issue in issues}
        self.caps = [line for line in self.lines if line.startswith("  video/")]
        self.played = {}
        for line in self.lines[:self.lines.index("state changes")]:
            if picture := PICTURE.match(line):
                self.played[picture["checksum"]] = nanoseconds(picture["time"]), nanoseconds(picture["duration"])

    @property
    def intervals(self):
        """Of each picture the time since the first, and the duration; in the order of their output."""
        first = next(iter(self.played.values()))[0]
        return [(checksum, time - first, duration) for checksum, (time, duration) in self.played.items()]

    def is_known(self, line):
        """Whether a line is not a picture, or is an undamaged picture of the first scenario."""
        picture = PICTURE.match(line)
        return not picture or picture["checksum"] in self.played and not picture["corrupted"]

    def is_in_place(self, line):
        """Whether a line is not a picture, or has the time of the first scenario. A seek into a picture clips it."""
        if not (picture := PICTURE.match(line)):
            return True
        time, duration = self.played[picture["checksum"]]
        return time <= nanoseconds(picture["time"]) < time + duration
