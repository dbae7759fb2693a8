# SPDX-License-Identifier: MPL-2.0
"""The calls of the program: every source into every container, and a table of options."""

import dataclasses
import shlex

# The suffixes of the containers.
TARGETS = ("h264", "mp4", "mov", "mkv", "ts", "flv")


@dataclasses.dataclass(frozen=True)
class Case:
    """A call of the program."""

    source: str
    # A suffix of the output; without one, nothing is written.
    target: str = ""
    options: str = ""
    command: str = "repack"
    # Standard input is a pipe (|) or a file (<); empty for a source that is named.
    reads: str = ""
    writes_pipe: bool = False
    # There is a file of the output's name.
    is_there: bool = False

    @property
    def arguments(self):
        output = "-" if self.writes_pipe else f"out.{self.target}"
        words = [self.command, "-" if self.reads else self.source.split("/")[-1]]
        words += ["-o", output] if self.target else []
        words += ["--format", "annexb" if self.target == "h264" else self.target] if self.writes_pipe else []
        return words + shlex.split(self.options)

    @property
    def key(self):
        """The call as a line of a shell, which names it in records."""
        words = self.arguments
        words[1] = "-" if self.reads else self.source
        line = " ".join(words) + " | cat" * self.writes_pipe
        line = {"|": f"cat {self.source} | {line}", "<": f"{line} < {self.source}", "": line}[self.reads]
        return f"touch out.{self.target}; {line}" if self.is_there else line


def is_byte_stream(name):
    return name.endswith((".h264", ".h265", ".264", ".265", ".hevc", ".avc", ".jsv"))


H264 = "clip.h264 clip.mp4 clip.mkv clip.ts clip.flv"
CLIPS = H264 + " clip.h265 clip-h265.mp4 clip-h265.mkv clip-h265.ts"
SOUND = "sound-aac.mp4 sound-aac.mov sound-aac.mkv sound-aac.ts sound-aac.flv sound-opus.mkv"
SPAN = "--start 0.8 --end 1.6"
HIDDEN = "--start 1 --end 1.6 --cut hidden"

# Sources, containers and options, of which all combinations are run. In front of the sources, | or < means that
# standard input is a pipe or the file. A | behind the containers means that the output goes into a pipe.
REPACK = [
    # Cuts.
    (CLIPS, "h264 mp4 mkv ts", [SPAN]),
    (CLIPS, "mp4", [HIDDEN]),
    (H264, "mp4 flv", ["--start 1.26"]),
    ("clip.h264 clip.mkv clip.ts", "mov mkv", ["--end 0.4", "--end 0.01", "--end 2.5"]),
    (SOUND, "mp4 mkv ts", [SPAN]),
    (SOUND, "mp4", ["--end 1.2", HIDDEN]),
    (SOUND, "mov flv", ["--start 1.26"]),
    ("everything.mkv everything.mp4 everything-h265.mkv subtitles.mkv gaps.mkv", "mp4 mkv ts", [SPAN]),
    ("everything.mkv everything.mp4 everything-h265.mp4", "mp4 mov", [HIDDEN]),
    ("cut-sound.mp4 hidden-sound.mp4 early-sound.mkv", "mp4 mkv ts", ["--start 0.5 --end 1"]),
    ("timecode.mov everything.mov", "mov mp4", ["--start 1", "--end 1"]),
    ("open-gop.h264 open-gop.h265", "h264 mp4 mkv ts", ["--start 0.96 --end 1.4", "--start 0.48 --end 1.4"]),
    ("open-gop.mkv open-gop.mp4 open-gop.ts open-gop-h265.mkv open-gop-h265.mp4 open-gop-h265.ts", "mp4 mkv ts",
     ["--start 0.48 --end 1.4"]),
    ("open-gop.mkv open-gop.mp4 open-gop-h265.mkv open-gop-h265.ts", "mp4", [
        "--start 1", "--start 1.1 --end 1.5 --cut hidden"]),
    ("fields.h264 fields.mp4 fields.mov fields.mkv fields.ts", "h264 mp4 mkv", [
        "--start 0.18 --end 0.48", "--start 0.34 --end 0.68"]),
    ("fields.h264 fields.mp4 fields.mkv fields.ts", "mp4", ["--end 0.02", "--start 0.34 --end 0.68 --cut hidden"]),
    ("interlaced.mp4 interlaced.ts interlaced.flv interlaced-h265.mp4 interlaced-h265.ts interlaced.h264"
     " interlaced.h265", "mp4 mkv ts", ["--start 0.5 --end 0.9"]),
    ("intra-refresh.mp4 intra-refresh.h264 no-recovery-points.h264 late-start.h264 no-idr.h264", "mp4 mkv", [
        "--start 1"]),
    ("edited-front.mp4 edited-middle.mp4 edited-pause-front.mp4 edited-inside.mp4 edited-keyframe-h265.mp4"
     " both-edited.mp4", "mp4 mkv h264", ["--start 0.1 --end 0.3"]),
    ("edited-front.mp4 edited-middle.mp4 edited-inside.mp4 both-edited.mp4", "mp4", [
        "--start 0.16", "--start 0.1 --end 0.3 --cut hidden"]),
    ("edited-parts.mp4 edited-parts-pause.mp4 edited-twice.mp4", "mp4 mkv", [
        "--start 0.6 --end 0.7 --cut keyframe", "--start 0.1 --end 0.2", "--start 0.2 --end 0.7"]),
    ("uneven.mkv uneven.mp4 uneven.ts uneven.flv slow.mkv", "mp4 mkv", ["--start 1.5 --end 4", "--start 5"]),
    ("uneven.mkv uneven.mp4 uneven.flv slow.mkv", "mp4", ["--start 1.5 --end 4 --cut hidden"]),
    ("fragments.mp4 fragments-short.mp4 fragments-h265.mp4 later-fragments.mp4 live.mkv front.mp4", "mp4 mkv h264", [
        "--start 0.9 --end 1.7"]),
    ("wrapped.ts wrapped-early.ts joined.ts joined-back.ts sound-first.ts sound-late.ts sound-first.mp4 thinned.ts"
     " first-time.ts repeated-time.ts", "mp4 mkv ts", ["--start 1 --end 2.2"]),
    ("wrapped.ts joined.ts sound-first.ts", "mp4", ["--start 1 --end 2.2 --cut hidden"]),
    ("negative.flv below-zero.mp4 uneven-samples.mp4 sound-late.flv clip.mpg clip.m2ts cut.mkv cut.ts", "mp4 mkv", [
        "--start 1 --end 1.8"]),
    ("changing.h264 changing.h265 changing.ts changing.mp4 changing.mkv changing-other.mp4 in-band.mp4 in-band.mkv",
     "mp4 mkv ts", ["--start 1 --end 2"]),
    ("changing.h264 changing.ts changing.mp4 changing-other.mp4", "mp4 mkv", ["--start 2.6", "--end 2.5"]),
    # Far from the beginning.
    ("long.mp4 long.mkv long-av.mkv long.ts long-live.mkv fragments-long.mp4 sound-far.mp4", "mp4 mkv", [
        "--start 45 --end 47", "--start 0:58.05"]),
    ("long.mp4 long-av.mkv long.ts", "mp4", ["--start 45.3 --end 47 --cut hidden"]),
    ("long.mp4 long-av.mkv", "h264 ts", ["--start 45 --end 47", "--start 30 --end 30.5 --drop sei"]),
    ("long-hev1.mp4", "mp4 mkv ts", ["--start 25 --end 27", "--start 25 --end 27 --drop aud"]),
    ("long.mp4", "mp4", ["--start 2", "--start 11", "--start 16 --end 16.1", "--start 70"]),
    # Fewer NAL units, and fewer streams.
    ("clip.h264 clip.mp4 clip-h265.mkv filled-little.h264 ended.h265", "h264 mp4 ts", [
        "--drop sei", "--drop aud+filler+end-of-sequence"]),
    ("clip.flv below-zero.mp4 timecode.flv edited-middle.mp4 fields.mp4 everything.mkv", "mp4 mov mkv", [
        "--drop sei --no-audio"]),
    ("filled.ts FRExt1_Panasonic.avc FRExt4_Panasonic.avc", "mp4 ts", ["--drop filler+sei --framerate 25"]),
    ("clip.mkv clip.h265 sound-aac.ts", "mp4 ts", ["--drop aud+sei --start 1 --end 2"]),
    ("sound-aac.mp4 sound-aac.ts sound-opus.mkv everything.mkv several.ts large.mkv", "mp4 ts flv", ["--no-audio"]),
    ("several.mkv several.mp4 several.ts videos.mkv videos.mp4", "mp4 mkv", ["--streams 0,2", "--language ger"]),
    ("videos.mkv videos.mp4", "mp4 mkv", ["--streams 1,3", "--streams 1", "--language FRE"]),
    ("programs.ts", "mp4 ts h264", ["--program 7", "--program 1", "--program 7 --start 1 --end 2"]),
    ("everything.mkv everything.mp4", "mp4 mkv", ["--language eng", "--streams 0,3", "--streams 0 --start 1"]),
    # Frame rates.
    ("untimed.h264 fields.h264 no-rate.h264 wide.h264", "h264 mp4 mkv ts flv", ["--framerate 30000/1001"]),
    ("untimed.h264 no-rate.h264", "mp4 h264", ["--framerate 25 --end 0.06", "--start 0.1"]),
    ("no-rate.ts thinned-no-rate.ts thinned-gap.ts", "mp4 mkv", ["--framerate 25", "--framerate 50 --start 0.1"]),
    # Pipes.
    ("| " + CLIPS, "h264 mp4 mkv", [""]),
    ("| sound-aac.mp4 sound-aac.mkv sound-aac.ts sound-aac.flv sound-opus.mkv several.ts everything.mkv everything.mp4"
     " fragments.mp4 live.mkv", "mp4 mkv ts", [""]),
    ("| edited-middle.mp4 edited-parts.mp4 fields.ts fields.h264 open-gop.mkv wrapped.ts joined.ts sound-first.ts"
     " clip.mpg changing.h264 changing.ts thinned.ts uneven.mkv slow.mkv long.mkv cut.ts programs.ts latm.ts large.mkv",
     "mp4 mkv", [""]),
    ("| clip.h264 clip.mp4 clip.mkv clip.ts sound-aac.mkv sound-aac.ts long.mp4 long.mkv fragments-long.mp4",
     "mp4 mkv", ["--start 0.84 --end 1.2"]),
    ("| clip.mp4 sound-aac.mkv", "mp4", [HIDDEN, "--drop sei --no-audio", "--start 1.5 --cut keyframe"]),
    ("< " + H264, "mp4 mkv", ["", SPAN]),
    (CLIPS, "h264 mp4 mkv ts flv |", [""]),
    (SOUND + " several.mkv several.ts everything.mkv everything.mp4 everything.mov timecode.mov flac-first.mkv"
     " edited-middle.mp4 edited-parts.mp4 fields.mp4 fields.h264 open-gop.mkv open-gop-h265.mp4 hdr10.mp4 spatial.mp4"
     " turned.mp4 uneven.mkv slow.mkv intra-refresh.mp4 damaged.mp4", "mp4 mkv |", [""]),
    ("changing.h264 changing.mp4 changing.ts gaps.mkv sound-late.ts long.mkv large.mkv", "mov mkv ts flv |", [""]),
    ("clip.mp4 sound-aac.mkv long.mp4", "mp4 mkv ts |", ["--start 1.26 --end 2", "--no-audio"]),
    ("clip.mp4", "mp4 |", ["--start 1 --cut hidden"]),
    ("| clip.h264 clip.mp4 clip.mkv clip.ts clip.flv everything.mkv", "h264 mp4 mkv ts |", [""]),
    # Mistakes.
    ("clip.mp4 clip.ts", "mp4", [
        "--start 2 --end 1", "--end 0", "--start soon", "--cut hidden", "--start 1 --cut exact", "--start 2.48",
        "--start 999999999", "--drop nothing", "--streams 9", "--program 3", "--language swe", "--framerate 0"]),
    ("clip.mp4", "mkv h264", ["--start 1 --cut hidden"]),
    ("clip.h264", "mp4", ["--streams 0", "--program 1"]),
    ("clip.mp4", "avi", [""]),
    ("missing.mp4", "mkv", [""]),
]

# Edits of the headers. {NAME} is another source.
EDIT = [
    (CLIPS, "h264 mp4 mkv", ["--colour bt2020-pq --range full --level 5.1"]),
    ("clip.h264 clip.mkv clip.flv clip-h265.mp4 sound-aac.ts everything.mkv", "mp4 mov", [
        "--sample-aspect 4:3 --crop 2,2,2,2", "--remove-colour --keep-sei none"]),
    ("clip.h264 clip.mp4 no-rate.h264 wide.h265", "mp4 ts h264", ["--frame-rate 30 --level 4"]),
    ("clip.h264 clip-h265.mkv fields.mp4", "mp4 mkv", ["--latency auto --level auto", "--latency 0"]),
    ("clip.mp4 clip.h265 open-gop.mkv", "mp4 h264", ["--aud insert", "--aud remove", "--insert-sei 144=03e80190"]),
    ("hdr10.mp4 hdr10.mkv", "mp4 mkv", ["--remove-sei 137,144"]),
    ("aperture.mp4 spatial.mp4 androidx_water_180_mvhevc_5frames.mov", "mov mkv", [
        "--crop 2,2,2,2", "--remove-layers"]),
    ("changing.h265 changing.ts in-band.mp4 edited-middle.mp4 edited-parts.mp4 interlaced.ts", "mp4 mkv ts", [
        "--sample-aspect 64:45 --colour bt709"]),
    ("clip.mp4 clip.h265 clip-h265.ts", "mp4 h264", ["--insert-sei-from {_sei.jsonl}"]),
    ("| clip.h264 clip.mkv sound-aac.ts", "mp4 mkv", ["--colour bt709 --range full"]),
    ("clip.h264 sound-aac.mkv", "mp4 mkv ts |", ["--colour bt709 --range full"]),
    ("clip.h264 clip.mp4 clip.ts encrypted.mp4", "", ["--dry-run --transfer 18 --keep-sei none --sample-aspect 4:3"]),
    ("clip.h264 clip.mp4", "mp4", ["--matrix 0", "--tier high", "--level 1", "", "--colour nonsense"]),
    ("clip.h264", "h265", ["--colour bt2020-pq"]),
]


def combinations(command, table, names):
    # Vectors are named without their folder.
    full = {name.split("/")[-1]: name for name in names}
    for sources, targets, options in table:
        reads = sources[0] if sources[0] in "|<" else ""
        for source in sources.strip("|< ").split():
            for target in targets.strip("| ").split() or [""]:
                for text in options:
                    yield Case(full.get(source, source), target, text, command, reads, targets.endswith("|"))


def all_cases(names):
    """The calls, each once."""
    cases = []
    for name in names:
        # Without the option, streams that lack a frame rate are refused.
        rate = "--framerate 25" if is_byte_stream(name) else ""
        cases += [Case(name, target, rate) for target in TARGETS]
        if rate:
            cases.append(Case(name, "mp4"))
    cases += combinations("repack", REPACK, names)
    cases += combinations("edit", EDIT, names)
    for options in ("", "--force"):
        cases += [Case("clip.mp4", target, options, is_there=True) for target in ("h264", "mp4", "mkv")]
    cases.append(Case("text.mp4", "mp4", "--force", is_there=True))
    return list(dict.fromkeys(cases))
