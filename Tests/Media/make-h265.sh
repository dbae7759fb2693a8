#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Recreates the H.265 streams of this folder, and the checksums beside them. The pictures are FFmpeg's test pattern, the
# streams x265's, with a picture hash for each picture. Another version of x265 makes other bytes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

encode() { # file, x265 parameters, seconds, size, muxer
  ffmpeg -y -v error -f lavfi -i "testsrc2=size=${4:-96x64}:rate=25:duration=${3:-4}" -pix_fmt yuv420p -threads 1 \
    -c:v libx265 -x265-params "$2:scenecut=0:hash=1:info=0:log-level=none:pools=none:frame-threads=1" -tag:v hvc1 \
    -f "${5:-hevc}" "$1"
}

# Two and a half seconds: P, B and referenced B pictures, a CRA picture a second with leading
# pictures that need what was before. Encoded once, then the same access units raw and in containers.
encode clip-h265.mp4 "keyint=25:min-keyint=25:bframes=3:b-adapt=0:crf=32:ctu=32:colorprim=bt709:transfer=bt709:colormatrix=bt709:range=limited" \
  2.48 320x180 mp4
ffmpeg -y -v error -i clip-h265.mp4 -c copy -f hevc clip.h265
ffmpeg -y -v error -i clip-h265.mp4 -c copy clip-h265.mkv
ffmpeg -y -v error -i clip-h265.mp4 -c copy clip-h265.ts

# Many short open GOPs.
encode open-gop.h265 "keyint=12:min-keyint=12:bframes=3:b-adapt=0:ctu=16:crf=30" 2
# Each picture is a field.
encode interlaced.h265 "interlace=tff:keyint=10:min-keyint=10:bframes=2:ctu=16:crf=30" 1
# Rows that need no padding, and a conformance window.
encode wide.h265 "keyint=10:min-keyint=10:bframes=2:ctu=16:crf=30" 1 128x70
# Ten bits a sample.
ffmpeg -y -v error -f lavfi -i "testsrc2=size=96x64:rate=25:duration=1" -pix_fmt yuv420p10le -threads 1 \
  -c:v libx265 -x265-params "keyint=10:scenecut=0:bframes=2:ctu=16:crf=30:hash=1:info=0:log-level=none:pools=none:frame-threads=1" \
  -f hevc ten-bit.h265

# Three pictures in each sample format, monochrome too.
mkdir -p formats
for format in gray gray10le gray12le yuv422p yuv422p10le yuv422p12le yuv444p yuv444p10le yuv444p12le yuv420p12le gbrp10le; do
  ffmpeg -y -v error -f lavfi -i "testsrc2=size=64x48:rate=25:duration=0.12" -pix_fmt "$format" -threads 1 -c:v libx265 \
    -x265-params "bframes=1:crf=36:info=0:log-level=none:pools=none:frame-threads=1" -f hevc "formats/$format.h265"
done

# FFmpeg's own decoder: all frames in presentation order, planar, no padding.
for clip in clip.h265 clip-h265.mp4 clip-h265.mkv clip-h265.ts open-gop.h265 interlaced.h265 wide.h265 ten-bit.h265 \
  formats/*.h265; do
  sum=$(ffmpeg -v error -i "$clip" -map 0:v:0 -fps_mode passthrough -f rawvideo - | md5sum | cut -d' ' -f1)
  printf '%s  %s\n' "$sum" "$clip"
done > checksums-h265.md5
cat checksums-h265.md5
