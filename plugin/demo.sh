#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Decodes a file with the plugin in .build/plugin, and shows the commands, ready to copy.
#
#   plugin/demo.sh         a clip: compares the checksum of its pictures with libavcodec's, and writes a picture
#   plugin/demo.sh FILE    your file: writes its first picture
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

show() {
  line=$1
  printf '\n$ %s\n' "$line"
  bash -o pipefail -c "$line"
}

export GST_PLUGIN_PATH="$PWD/.build/plugin"
echo "export GST_PLUGIN_PATH=$GST_PLUGIN_PATH"
if [[ -n ${1:-} ]]; then
  export GST_PLUGIN_FEATURE_RANK=swifth264dec:MAX,swifth265dec:MAX
  echo "export GST_PLUGIN_FEATURE_RANK=$GST_PLUGIN_FEATURE_RANK"
  show "gst-launch-1.0 -q filesrc location=$(printf %q "$(realpath -- "$1")") ! decodebin ! videoconvert ! pngenc snapshot=true ! filesink location=.build/demo.png"
else
  clip=Tests/Media/clip.h264
  show "gst-launch-1.0 -q filesrc location=$clip ! swifth264parse ! swifth264dec ! fdsink | md5sum"
  echo "$(sed -n 's/  clip.h264$//p' Tests/Media/checksums.md5)  from libavcodec"
  bash -c "$line" | cmp -s - <(sed -n 's/clip.h264$/-/p' Tests/Media/checksums.md5) || { echo "$0: they differ" >&2; exit 1; }
  show "gst-launch-1.0 -q filesrc location=$clip ! swifth264parse ! swifth264dec ! videoconvert ! pngenc snapshot=true ! filesink location=.build/demo.png"
fi
echo "See .build/demo.png"
