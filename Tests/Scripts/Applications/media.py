# SPDX-License-Identifier: MPL-2.0
"""The media of the applications, made by ffmpeg. Each picture has its number drawn into it, for pages to read."""
import json
import os
import subprocess

RATE = 25
# The number's bits are squares in the upper left corner, in tenths of the width; the lowest bit is the leftmost.
BITS = 9
PRESETS = {
    "h264": ["-c:v", "libx264", "-preset", "veryfast", "-threads", "1"],
    "h265": ["-c:v", "libx265", "-preset", "ultrafast", "-tag:v", "hvc1"],
}


def _numbered(width, height, seconds):
    side = width // 10
    boxes = [f"drawbox=x=0:y=0:w={side * BITS}:h={side}:color=black:t=fill"]
    boxes += [
        f"drawbox=x={side * bit}:y=0:w={side}:h={side}:color=white:t=fill:enable='mod(floor(n/{1 << bit}),2)'"
        for bit in range(BITS)
    ]
    return f"testsrc2=s={width}x{height}:r={RATE}:d={seconds}," + ",".join(boxes)


def _encoder(codec, bframes, group, closed):
    if codec == "h264":
        parameters = f"keyint={group}:min-keyint={group}:scenecut=0:bframes={bframes}:b-adapt=0:open-gop={int(not closed)}"
        return [*PRESETS[codec], "-x264-params", parameters]
    parameters = (f"keyint={group}:min-keyint={group}:scenecut=0:bframes={bframes}:b-adapt=0:open-gop={int(not closed)}"
                  ":pools=1:frame-threads=1:log-level=error")
    return [*PRESETS[codec], "-x265-params", parameters]


class Media:
    """A folder of media: for each codec MP4, Matroska, MPEG-TS, a byte stream, fragments for media sources."""

    def __init__(self, folder):
        self.folder = folder
        for codec in PRESETS:
            self._encode(codec, "mp4", 320, 180, 4)
            self._encode(codec, "open.mp4", 320, 180, 4, closed=False)
            # Groups of a second, in fragments of one group.
            fragmented = ["-movflags", "+frag_keyframe+empty_moov+default_base_moof"]
            self._encode(codec, "small.mp4", 320, 180, 8, options=fragmented)
            self._encode(codec, "large.mp4", 480, 270, 8, options=fragmented)
            for ending in ("mkv", "ts", codec):
                self._run(["-i", self.path(codec, "mp4"), "-c", "copy", self.path(codec, ending)])
            sound = ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=4"]
            self._run(["-i", self.path(codec, "mp4"), *sound, "-c:v", "copy", "-c:a", "aac", "-strict", "experimental",
                       self.path(codec, "sound.mp4")])
            self._list_samples(codec)

    def path(self, codec, name):
        """`clip-h264.mp4` of codec h264 and name mp4; the byte stream has the name of its codec."""
        return os.path.join(self.folder, f"clip-{codec}.{name}")

    def _list_samples(self, codec):
        """samples-CODEC.json: the configuration record, and where each sample is, in the MP4 and in the byte stream."""
        packets = {}
        for name in ("mp4", codec):
            run = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "packet=pos,size,pts_time,flags", "-of", "json",
                                  self.path(codec, name)], check=True, capture_output=True)
            packets[name] = json.loads(run.stdout)["packets"]
        with open(self.path(codec, "mp4"), "rb") as file:
            data = file.read()
        box = data.index(b"avcC" if codec == "h264" else b"hvcC")
        size = int.from_bytes(data[box - 4:box], "big")
        samples, at = [], 0
        for sample, piece in zip(packets["mp4"], packets[codec], strict=True):
            samples.append({"time": float(sample["pts_time"]), "key": "K" in sample["flags"], "at": int(sample["pos"]),
                            "size": int(sample["size"]), "byteStreamAt": at, "byteStreamSize": int(piece["size"])})
            at += int(piece["size"])
        with open(os.path.join(self.folder, f"samples-{codec}.json"), "w") as file:
            json.dump({"description": list(data[box + 4:box - 4 + size]), "samples": samples}, file)

    def _encode(self, codec, name, width, height, seconds, closed=True, options=()):
        self._run(["-f", "lavfi", "-i", _numbered(width, height, seconds), "-pix_fmt", "yuv420p",
                   *_encoder(codec, bframes=2, group=RATE, closed=closed), *options, self.path(codec, name)])

    def _run(self, options):
        subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-y", *options], check=True)
