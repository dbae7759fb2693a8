#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Makes the benchmark's media, once, in .build/bench: the same streams of both codecs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
mkdir -p .build/bench
cd .build/bench

# once FILE COMMAND...: runs COMMAND, which writes the file $part, unless FILE is already there.
once() {
  local file=$1 part=part.${1##*.}
  shift
  [[ -s $file ]] && return
  echo "Making .build/bench/$file"
  "$@" "$part"
  mv "$part" "$file"
}

# Repeats a byte stream, which must begin with an IDR picture, to about BYTES bytes.
repeat() { # BYTES FILE OUTPUT
  local i
  for ((i = 0; i * $(stat -c %s "$2") < $1; i++)); do cat "$2"; done > "$3"
}

# Pictures in motion, as an encoder's input on standard output.
pictures() { # PATTERN COUNT WIDTH HEIGHT RATE
  gst-launch-1.0 -q videotestsrc $1 num-buffers="$2" \
    ! "video/x-raw,format=I420,width=$3,height=$4,framerate=$5/1" ! y4menc ! fdsink
}
encode() { # CODEC OPTION... OUTPUT
  local codec=$1
  shift
  [[ $codec == h264 ]] && set -- -c:v libx264 "$@" || set -- -c:v libx265 -x265-params log-level=none "$@"
  ffmpeg -v error -nostdin -y -f yuv4mpegpipe -i - "$@"
}

# Television: HD in motion at 20 Mbit/s, about 90 kB a picture, B-frames among them, a keyframe every two seconds.
television() {
  pictures "pattern=zone-plate kx2=20 ky2=16 kt=11" 100 1920 1080 25 \
    | encode "$1" -preset superfast -b:v 20M -maxrate 20M -bufsize 10M -g 50 -bf 2 "$2"
}
# Small pictures of four slices.
slices() {
  local options=(-preset superfast -b:v 1280k -g 48 -bf 2)
  [[ $1 == h264 ]] && options+=(-slices 4) || options+=(-x265-params log-level=none:slices=4)
  pictures "pattern=zone-plate kx2=20 ky2=16 kt=11" 1200 352 288 25 | encode "$1" "${options[@]}" "$2"
}
# To decode: five seconds of HD in motion with B-frames at a broadcaster's rate.
decode_hd() {
  local codec=$1 output=$2
  shift 2
  pictures "pattern=zone-plate kx2=12 ky2=8 kt=9" 150 1920 1080 30 \
    | encode "$codec" -preset fast -b:v 8M -g 60 -bf 3 "$@" "$output"
}
# One second of SD, most of which is start-up.
decode_sd() {
  pictures "pattern=zone-plate kx2=12 ky2=8 kt=9" 30 640 480 30 | encode "$1" -preset fast -b:v 1M -g 30 -bf 3 "$2"
}
mp4() { # FILE OUTPUT
  local tag=avc1
  [[ $1 == *.h265 ]] && tag=hvc1
  ffmpeg -v error -nostdin -y -r 25 -i "$1" -c copy -tag:v "$tag" "$2"
}

copy() { # FILE OUTPUT
  ffmpeg -v error -nostdin -y -i "$1" -c copy "$2"
}

for codec in h264 h265; do
  once "television-part.$codec" television "$codec"
  once "television.$codec" repeat 220000000 "television-part.$codec"
  once "television-$codec.mp4" mp4 "television.$codec"
  once "television-$codec.mkv" copy "television-$codec.mp4"
  once "slices-part.$codec" slices "$codec"
  once "slices.$codec" repeat 120000000 "slices-part.$codec"
  once "decode-hd.$codec" decode_hd "$codec"
  once "decode-hd-$codec.mp4" mp4 "decode-hd.$codec"
  once "decode-sd.$codec" decode_sd "$codec"
  # 1,050 and 1,500 pictures.
  once "decode-long-hd.$codec" repeat "$((7 * $(stat -c %s "decode-hd.$codec")))" "decode-hd.$codec"
  once "decode-long-sd.$codec" repeat "$((50 * $(stat -c %s "decode-sd.$codec")))" "decode-sd.$codec"
done
ten_bits() { decode_hd h265 "$1" -pix_fmt yuv420p10le; }
once decode-hd-10.h265 ten_bits

# HD, pictures of 900 kB: noise that hardly compresses, one slice, CABAC.
noise() {
  pictures pattern=snow 24 1920 1080 25 | encode h264 -preset superfast -qp 26 -g 12 -bf 0 -slices 1 -coder cabac "$1"
}
once noise-part.h264 noise
once noise.h264 repeat 220000000 noise-part.h264
