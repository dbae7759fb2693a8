#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MPL-2.0
"""Compares the memory of an exact cut with that of a copy, for pictures of 1920x1080 in H.264 and H.265.

  memory.py [FILE ...]    default: a file of each codec, which FFmpeg makes

  --keep FOLDER   sources and results stay here; default: a temporary folder

  H26X=.build/tool/h26x   the program

A cut encodes pictures at both ends of a range in the middle of the file. It may need as much memory as `h26x repack`
and 40 pictures. The exit status is 1 if it needs more.
"""

import os
import pathlib
import subprocess
import sys

import pictures
import program
import sources
from program import H26X

PICTURES, SECONDS, GROUP = 40, 12, 50


def source(folder, codec):
    """A moving test pattern with IDR pictures every two seconds."""
    path = folder / f"{codec}.mp4"
    if not path.exists():
        encoder, tag = ("libx265", "hvc1") if codec == "h265" else ("libx264", "avc1")
        parameters = f"keyint={GROUP}:min-keyint={GROUP}:scenecut=0:open-gop=0:bframes=3"
        sources.run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=1920x1080:rate=25",
                    "-t", SECONDS, "-pix_fmt", "yuv420p", "-c:v", encoder, "-preset", "ultrafast",
                    f"-{encoder[3:]}-params", parameters + (":log-level=error" if codec == "h265" else ""),
                    "-tag:v", tag, path)
    return path


def peak(*command):
    """The largest memory of a program, in bytes, and its errors."""
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise ValueError(program.last_line(errors))
    return usage.ru_maxrss * 1024, errors


def main():
    parser = program.parser(__doc__)
    parser.add_argument("file", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    fails = False
    with program.folder(options) as folder:
        for path in options.file or [source(folder, codec) for codec in ("h264", "h265")]:
            width, height, depth = pictures.layout(path)
            duration = float(sources.run("ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0",
                                         path))
            output = folder / f"cut-{path.stem}.mp4"
            copied, _ = peak(H26X, "repack", path, "-o", output, "--force")
            # Neither end is at an IDR picture of a file that was made here.
            span = f"{duration * 0.3:.3f}-{duration * 0.3 + 5.3:.3f}"
            cut, said = peak(H26X, "cut", path, "-o", output, "--force", "--mode", "exact", "--range", span)
            # With 4:2:0; other formats may have more.
            limit = copied + PICTURES * width * height * 3 // 2 * (1 if depth == 8 else 2)
            fails = fails or cut > limit
            print(f"{path.name}: repack {copied / 1e6:.0f} MB, cut {cut / 1e6:.0f} MB of {limit / 1e6:.0f}, "
                  f"{program.encoded_count(said)} pictures encoded", flush=True)
    sys.exit(1 if fails else 0)


if __name__ == "__main__":
    main()
