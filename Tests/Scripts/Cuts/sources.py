# SPDX-License-Identifier: MPL-2.0
"""Streams whose pictures carry their number as a bar code, made with FFmpeg, libx264 and libx265."""

import dataclasses
import pathlib
import subprocess

WIDTH, HEIGHT, RATE = 160, 96, 25
# Pictures of a source.
COUNT = 160
# Ten bars of 16 samples, black or white: the number in binary, the lowest bit on the left, then its inverse parity.
BAR, BITS = WIDTH // 10, 9
# In the middle of the bars.
ROW = HEIGHT // 6


def run(*arguments, **options):
    return subprocess.run([str(argument) for argument in arguments], check=True, capture_output=True, **options).stdout


def picture(number):
    """A picture in 4:2:0: a bar code above a texture that moves."""
    value = number | (bin(number).count("1") + 1) % 2 << BITS
    bars = b"".join(bytes([210 if value >> bit & 1 else 45]) * BAR for bit in range(10))
    texture = bytes(64 + (x * 7 ^ x >> 2) % 97 for x in range(WIDTH + HEIGHT * 2 + 3 * 512))
    rows = [bars] * (HEIGHT // 3)
    rows += [texture[y * 2 + number * 3:][:WIDTH] for y in range(HEIGHT - HEIGHT // 3)]
    return b"".join(rows) + bytes([100 + number % 56]) * (WIDTH * HEIGHT // 4) + bytes([128]) * (WIDTH * HEIGHT // 4)


def number(luma, depth):
    """The number in a picture's luma; None if its bar code cannot be read."""
    return bar_code(luma[ROW * WIDTH:][:WIDTH], depth)


def bar_code(row, depth):
    """The number in a row of samples; None if it cannot be read."""
    value = 0
    for bit in range(10):
        bar = row[bit * BAR + 4:(bit + 1) * BAR - 4]
        value |= (sum(bar) > 2 ** (depth - 1) * len(bar)) << bit
    found = value & (1 << BITS) - 1
    return found if value >> BITS == (bin(found).count("1") + 1) % 2 else None


def raw(path, count):
    """Writes the pictures as raw video."""
    if not path.exists():
        path.write_bytes(b"".join(map(picture, range(count))))
    return path


@dataclasses.dataclass
class Source:
    name: str
    codec: str
    options: str
    pixel_format: str = "yuv420p"
    # An expression of FFmpeg for the time of picture N in 1/25 s; None for a fixed rate.
    times: str = None
    # Whether numbers come from a bar code; else pictures are known by their place.
    has_bars: bool = True
    path: pathlib.Path = None

    def make(self, folder, count=COUNT):
        """Encodes the pictures into an MP4 file."""
        self.path = folder / f"{self.name}.mp4"
        if self.path.exists():
            return self
        encoder, parameters = ("libx265", "-x265-params") if self.codec == "h265" else ("libx264", "-x264-params")
        options = self.options + ":log-level=error" if self.codec == "h265" else self.options
        filters = ["-vf", f"setpts={self.times}", "-vsync", "passthrough"] if self.times else []
        run("ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{WIDTH}x{HEIGHT}",
            "-r", RATE, "-i", raw(folder / f"{count}.yuv", count), *filters, "-pix_fmt", self.pixel_format,
            "-c:v", encoder, "-preset", "medium", "-threads", 1, parameters, options, "-tag:v",
            "hvc1" if self.codec == "h265" else "avc1", "-video_track_timescale", 12800, self.path)
        return self

    def packed(self, container):
        """The same stream in another container: mp4, mov, mkv, ts or raw."""
        if not self.has_bars:
            return self.path
        path = self.path.with_suffix(self.suffix if container == "raw" else f".{container}")
        if not path.exists():
            run("ffmpeg", "-v", "error", "-y", "-i", self.path, "-map", "0:v:0", "-c", "copy", path)
        return path

    @property
    def suffix(self):
        return f".{self.codec}"


X264 = "threads=1:lookahead-threads=1:slices=1:scenecut=0:crf=20:level=31"
X265 = "pools=none:frame-threads=1:slices=1:scenecut=0:crf=20:info=0:level-idc=31"

# Of the table: IDR pictures and open GOPs, with an entry every 40 pictures, of one source every 20.
TABLE = [
    Source("cavlc-idr", "h264", f"{X264}:cabac=0:bframes=2:keyint=40:min-keyint=40:open-gop=0"),
    Source("cavlc-open", "h264", f"{X264}:cabac=0:bframes=2:keyint=40:min-keyint=40:open-gop=1"),
    Source("cabac-idr", "h264", f"{X264}:bframes=3:b-pyramid=normal:keyint=40:min-keyint=40:open-gop=0"),
    Source("cabac-open", "h264", f"{X264}:bframes=3:b-pyramid=normal:keyint=40:min-keyint=40:open-gop=1"),
    Source("h265-idr", "h265", f"{X265}:bframes=3:keyint=20:min-keyint=20:open-gop=0"),
    Source("h265-open", "h265", f"{X265}:bframes=3:keyint=40:min-keyint=40:open-gop=1"),
]

# Of random cuts.
UNEVEN = "N+floor(N/3)+2*floor(N/7)"
RANDOM = TABLE + [
    Source("ipp-cavlc", "h264", f"{X264}:cabac=0:bframes=0:ref=3:keyint=17:min-keyint=17:open-gop=0"),
    Source("ipp-cabac", "h264", f"{X264}:bframes=0:ref=1:keyint=25:min-keyint=25:open-gop=0"),
    Source("ibp", "h264", f"{X264}:bframes=1:b-adapt=0:ref=2:keyint=23:min-keyint=23:open-gop=0"),
    Source("weighted", "h264", f"{X264}:bframes=2:weightp=2:weightb=1:ref=4:keyint=30:min-keyint=30:open-gop=0"),
    Source("ten-bit", "h264", f"{X264}:bframes=3:b-pyramid=strict:keyint=25:min-keyint=25:open-gop=0",
           "yuv420p10le"),
    Source("four-two-two", "h264", f"{X264}:bframes=2:cabac=0:keyint=25:min-keyint=25:open-gop=0", "yuv422p"),
    Source("vfr", "h264", f"{X264}:bframes=2:keyint=25:min-keyint=25:open-gop=0", times=UNEVEN),
    Source("h265-ipp", "h265", f"{X265}:bframes=0:keyint=25:min-keyint=25:open-gop=0"),
    Source("h265-rasl", "h265", f"{X265}:bframes=4:b-pyramid=1:keyint=16:min-keyint=16:open-gop=1"),
    Source("h265-radl", "h265", f"{X265}:bframes=3:radl=2:keyint=30:min-keyint=30:open-gop=0"),
    Source("h265-ten-bit", "h265", f"{X265}:bframes=3:keyint=25:min-keyint=25:open-gop=1", "yuv420p10le"),
    Source("h265-422", "h265", f"{X265}:bframes=2:keyint=25:min-keyint=25:open-gop=0", "yuv422p10le"),
    Source("h265-vfr", "h265", f"{X265}:bframes=3:keyint=25:min-keyint=25:open-gop=1", times=UNEVEN),
]

# Vectors with pictures of fields (PAFF) and of macroblock pairs (MBAFF), without a bar code.
VECTORS = ["h264/HPCAFL_BRCM_C.264", "h264/HPCVFL_BRCM_A.264", "h264/cros_test-25fps-interlaced.h264",
           "h264/freh11.264", "h264/HCAMFF1_HHI.264", "h264/HPCAMAPALQ_BRCM_B.264"]


def vectors(folder):
    """The vectors that are there."""
    found = []
    for name in VECTORS:
        path = folder / name
        if path.exists():
            found.append(Source(path.stem, "h264", "", has_bars=False, path=path))
    return found


def random_ranges(generator, coded, count):
    """One to five ranges. Half of their ends are near entries."""
    entries = [picture.number for picture in coded or [] if picture.entry] or [0]

    def place():
        if generator.random() < 0.5:
            return max(0, min(count, generator.choice(entries) + generator.randint(-3, 3)))
        return generator.randint(0, count)

    ranges = []
    for _ in range(generator.choice([1, 1, 2, 3, 5])):
        while True:
            start, end = sorted((place(), place()))
            if start < end:
                break
        ranges.append((start, end))
    return ranges


# Of joins: twelve of a codec, of 4:2:0 with eight bits.
JOINED_VECTORS = {
    "h264": ["h264/HPCAFL_BRCM_C.264", "h264/HCAMFF1_HHI.264", "h264/freh11.264", "h264/CI1_FT_B.264",
             "h264/MIDR_MW_D.264", "h264/test_cif_P_CABAC_slice.264"],
    "h265": ["h265/cros_test-25fps.h265", "h265/g2b_amp_mincu16_176x144.h265", "h265/g2b_bframes3_128x128.h265",
             "h265/g2b_signhide_scaling_320x240.h265", "h265/g2b_wpp_ctu16.h265",
             "h265/membrane_input-300-98x58-conformance-window.h265"],
}


def joined(codec, folder, vectors):
    """Streams of different encoders: six that are made, and the vectors that are there."""
    found = [source for source in RANDOM if source.codec == codec and source.pixel_format == "yuv420p"][:6]
    for name in JOINED_VECTORS[codec]:
        if (vectors / name).exists():
            found.append(Source(pathlib.Path(name).stem, codec, "", has_bars=False, path=vectors / name))
    return [source if source.path else source.make(folder, 60) for source in found]
