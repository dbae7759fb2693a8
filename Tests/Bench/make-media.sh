#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Makes the benchmark's media, once, in .build/bench.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
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

# Repeating an Annex B stream that begins with an IDR picture is a stream again.
repeat() { # TIMES FILE OUTPUT
  local i
  for ((i = 0; i < $1; i++)); do cat "$2"; done > "$3"
}

# HD, pictures of 900 kB: noise that hardly compresses, one slice, CABAC; ten times about 22 MB.
hd_part() {
  gst-launch-1.0 -q videotestsrc pattern=snow num-buffers=24 ! video/x-raw,format=I420,width=1920,height=1080 \
    ! x264enc speed-preset=superfast pass=quant quantizer=26 key-int-max=12 bframes=0 threads=2 \
      sliced-threads=false option-string="cabac=1:slices=1" \
    ! video/x-h264,profile=main,stream-format=byte-stream ! filesink "location=$1"
}
once hd-part.h264 hd_part
once hd.h264 repeat $((220000000 / $(stat -c %s hd-part.h264) + 1)) hd-part.h264

# Television: HD in motion at 20 Mbit/s, about 90 kB a picture, B pictures among them, a keyframe every two seconds.
television_part() {
  gst-launch-1.0 -q videotestsrc pattern=zone-plate kx2=20 ky2=16 kt=11 num-buffers=100 \
    ! video/x-raw,format=I420,width=1920,height=1080,framerate=25/1 \
    ! x264enc speed-preset=superfast bitrate=20000 vbv-buf-capacity=500 key-int-max=50 bframes=2 b-adapt=false threads=2 \
      sliced-threads=false option-string="nal-hrd=cbr:force-cfr=1:cabac=1:slices=1:filler=0" \
    ! video/x-h264,profile=high,stream-format=byte-stream ! filesink "location=$1"
}
once television-part.h264 television_part
once television.h264 repeat $((220000000 / $(stat -c %s television-part.h264) + 1)) television-part.h264
television_mp4() {
  ffmpeg -v error -nostdin -y -r 25 -i television.h264 -c copy "$1"
}
once television.mp4 television_mp4

# SD, 153,600 small pictures of four slices each: enough that start-up is little of it.
slices_part() {
  gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=1200 ! video/x-raw,format=I420,width=352,height=288 \
    ! x264enc speed-preset=veryfast bitrate=800 key-int-max=48 bframes=2 threads=1 option-string="slices=4" \
    ! video/x-h264,profile=main,stream-format=byte-stream ! filesink "location=$1"
}
once slices-part.h264 slices_part
once slices.h264 repeat 128 slices-part.h264

# To decode: five seconds of HD in motion with B pictures, at a broadcaster's rate; and one second of SD, most of which
# is start-up.
decode_hd() {
  gst-launch-1.0 -q videotestsrc pattern=zone-plate kx2=12 ky2=8 kt=9 num-buffers=150 \
    ! video/x-raw,format=I420,width=1920,height=1080,framerate=30/1 \
    ! x264enc speed-preset=medium bitrate=8000 key-int-max=60 bframes=3 threads=2 \
    ! video/x-h264,profile=high,stream-format=byte-stream ! filesink "location=$1"
}
once decode-hd.h264 decode_hd
decode_sd() {
  gst-launch-1.0 -q videotestsrc pattern=zone-plate kx2=12 ky2=8 kt=9 num-buffers=30 \
    ! video/x-raw,format=I420,width=640,height=480,framerate=30/1 \
    ! x264enc speed-preset=medium bitrate=1000 key-int-max=30 bframes=3 threads=2 \
    ! video/x-h264,profile=high,stream-format=byte-stream ! filesink "location=$1"
}
once decode-sd.h264 decode_sd

# The same of H.265: HD at 20 Mbit/s, and small pictures of four slices.
television_part_h265() {
  ffmpeg -v error -nostdin -y -f lavfi -i "testsrc2=size=1920x1080:rate=25:duration=2,noise=alls=12:allf=t" \
    -pix_fmt yuv420p -c:v libx265 -preset ultrafast \
    -x265-params "bitrate=20000:keyint=50:min-keyint=50:scenecut=0:bframes=2:open-gop=0:log-level=none:info=0" -f hevc "$1"
}
once television-part.h265 television_part_h265
once television.h265 repeat $((220000000 / $(stat -c %s television-part.h265) + 1)) television-part.h265
slices_part_h265() {
  ffmpeg -v error -nostdin -y -f lavfi -i "testsrc2=size=352x288:rate=25:duration=48" -pix_fmt yuv420p \
    -c:v libx265 -preset ultrafast \
    -x265-params "bitrate=800:keyint=50:scenecut=0:bframes=2:open-gop=0:slices=4:log-level=none:info=0" -f hevc "$1"
}
once slices-part.h265 slices_part_h265
once slices.h265 repeat 24 slices-part.h265
