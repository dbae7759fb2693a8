#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Builds the examples and runs each, as their README shows. The streams that are edited do not signal their colours.
#
#   Examples/run.sh      a minute, most of it the libraries
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

fail() {
  echo "$0: $*" >&2
  exit 1
}
out=$PWD/.build/run
rm -rf "$out"
mkdir -p "$out"
SWIFT_DETERMINISTIC_HASHING=1 swift build # See plugin/build.sh.
run=.build/debug

"$run/frames-to-png" ../Tests/Media/clip.mp4 "$out" 3 | tee "$out/log"
[[ $(wc -l < "$out/log") == 3 ]] || fail 'frames-to-png: not three pictures'
for number in 0 1 2; do
  # Another program decodes the picture.
  gst-launch-1.0 -q filesrc location="$out/frame-$number.png" ! pngdec ! videoconvert ! \
    video/x-raw,format=RGBA,width=320,height=180 ! filesink location="$out/$number.rgba" || fail "frame-$number.png is no PNG"
  [[ $(stat -c %s "$out/$number.rgba") == $((320 * 180 * 4)) ]] || fail "frame-$number.png has another size"
done
! cmp -s "$out/0.rgba" "$out/1.rgba" || fail 'frames-to-png: the same picture twice'

for codec in h264 h265; do
  "$run/edit-stream" "../Tests/Media/wide.$codec" "$out/edited.$codec" > "$out/changes.$codec"
  ! cmp -s "../Tests/Media/wide.$codec" "$out/edited.$codec" || fail "edit-stream: nothing changed in $codec"
  "$run/edit-stream" "$out/edited.$codec" "$out/again.$codec" > /dev/null
  cmp "$out/edited.$codec" "$out/again.$codec" || fail "edit-stream: a second edit of $codec changes something"
done

"$run/player" ../Tests/Media/clip.mp4 1 fakesink > "$out/player"
grep -q '^from 1' "$out/player" && grep -qx end "$out/player" || fail "player: $(cat "$out/player")"

"$run/lines" README.md > "$out/lines"
[[ $(wc -l < "$out/lines") == $(wc -l < README.md) ]] || fail 'lines: not as many as the file has'
[[ $(sed -n 3p "$out/lines") == '0.2 seconds '* ]] || fail "lines: $(sed -n 3p "$out/lines")"
"$run/runs" > "$out/runs"
[[ $(grep -c 'the same$' "$out/runs") == 10 ]] || fail "runs: $(cat "$out/runs")"
"$run/pictures" 8 > "$out/pictures"
[[ $(wc -l < "$out/pictures") == 4 && $(tail -n 1 "$out/pictures") == '@%'*' 0.6 seconds' ]] || fail "pictures: $(cat "$out/pictures")"
"$run/sounds" > "$out/sounds"
grep -q '^16000 bytes as .*, the same$' "$out/sounds" && [[ $(wc -l < "$out/sounds") == 11 ]] || fail "sounds: $(cat "$out/sounds")"
"$run/media" ../Tests/Media/clip.mkv /there/is/none > "$out/media"
grep -q 'width: 320, height: 180' "$out/media" && grep -q 'none: ' "$out/media" || fail "media: $(cat "$out/media")"
"$run/media" > "$out/devices"
[[ $(grep -c 'Source' "$out/devices") == 2 ]] || fail "media: $(cat "$out/devices")"
echo 'The examples work.'
