#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Recreates the media of this folder, and the checksums beside them.
#
# The pictures come from videotestsrc, the streams from x264enc and stock muxers; nothing here was recorded or
# downloaded. Another version of x264 makes other bytes, so commit the clips and the checksums together.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# Two and a half seconds of moving bars with a ball. The stream has I, P, B and reference B pictures, four slices per
# picture with 3-byte start codes, and a random access point per second. It uses CABAC and the 8x8 transform, with
# colour description and frame rate in the VUI. Encoded once, then stored raw and in the containers of the pipelines.
gst-launch-1.0 -q \
  compositor name=mix background=black sink_1::alpha=0.55 \
  ! video/x-raw,format=I420,width=320,height=180,framerate=25/1,colorimetry=bt709 \
  ! x264enc bitrate=180 bframes=3 key-int-max=25 threads=1 option-string="b-pyramid=normal:ref=3:slices=4:b-adapt=0" \
  ! video/x-h264,profile=high,stream-format=byte-stream,alignment=au ! tee name=coded \
  videotestsrc num-buffers=62 pattern=smpte horizontal-speed=3 \
  ! video/x-raw,format=I420,width=320,height=180,framerate=25/1 ! mix.sink_0 \
  videotestsrc num-buffers=62 pattern=ball \
  ! video/x-raw,format=I420,width=320,height=180,framerate=25/1 ! mix.sink_1 \
  coded. ! queue ! filesink location=clip.h264 \
  coded. ! queue ! h264parse ! mp4mux ! filesink location=clip.mp4 \
  coded. ! queue ! h264parse ! matroskamux ! filesink location=clip.mkv \
  coded. ! queue ! h264parse ! mpegtsmux ! filesink location=clip.ts \
  coded. ! queue ! h264parse ! flvmux ! filesink location=clip.flv

# The reference: FFmpeg's own decoder, all frames in presentation order, planar, no padding.
for clip in clip.h264 clip.mp4 clip.mkv clip.ts clip.flv; do
  sum=$(ffmpeg -v error -i "$clip" -map 0:v:0 -fps_mode passthrough -pix_fmt yuv420p -f md5 -)
  printf '%s  %s\n' "${sum#MD5=}" "$clip"
done > checksums.md5
cat checksums.md5

# Text subtitles in three codecs beside a few pictures.
printf '1\n00:00:00,200 --> 00:00:01,200\none <i>word</i>\n\n2\n00:00:01,400 --> 00:00:02,200\ntwo\nlines\n\n' > subtitles.srt
ffmpeg -v error -y -fflags +bitexact -i clip.mp4 -i subtitles.srt -map 0 -map 1 -map 1 -map 1 -frames:v 12 -c:v copy \
  -c:s:0 srt -c:s:1 ass -c:s:2 webvtt -metadata:s:s:0 language=ger -metadata:s:s:1 language=eng \
  -metadata:s:s:2 language=fre subtitles.mkv
rm subtitles.srt

# Sound in LATM, with the configuration only in every twentieth frame.
ffmpeg -v error -y -fflags +bitexact -i clip-h265.mp4 -f lavfi -i sine=duration=1 -map 0 -map 1 -frames:v 12 -c:v copy \
  -c:a aac -b:a 24k -flags:a +bitexact -mpegts_flags latm latm.ts
