#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Makes the small streams of this folder that show one trait each: random access points other than IDR pictures, and
# fields. The pictures are FFmpeg's test pattern, the streams x264's. Another version of x264 makes other bytes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

encode() { # name, x264 parameters, seconds, size, further options
  ffmpeg -y -v error -f lavfi -i "testsrc2=size=${4:-96x64}:rate=25:duration=${3:-4}" -pix_fmt yuv420p -threads 1 \
    -c:v libx264 -x264-params "$2:threads=1:crf=30" ${5:-} -f h264 "$1"
}

# One IDR picture, then open GOPs that begin with an I picture with a recovery point, with leading B-frames.
encode open-gop.h264 "open-gop=1:keyint=12:min-keyint=12:scenecut=0:bframes=3:b-pyramid=normal:ref=3"
# One IDR picture, then recovery points with a number of frames until the gradual refresh is complete.
encode intra-refresh.h264 "intra-refresh=1:keyint=10:scenecut=0:bframes=0:ref=1"

# Rows that need no padding, and rows of macroblocks that are cropped.
encode wide.h264 "keyint=10:scenecut=0:bframes=2:ref=2" 1 128x70

# Frames of two fields in macroblock pairs (MBAFF), the bottom one first.
encode interlaced.h264 "bff=1:keyint=10:scenecut=0:bframes=2:ref=2" 1

# Slices of 200 bytes at most, which a NAL unit length of one byte holds. x264's own SEI is longer.
encode small-slices.h264 "slice-max-size=200:keyint=10:scenecut=0:bframes=2:ref=2" 2 96x64 "-bsf:v filter_units=remove_types=6"
