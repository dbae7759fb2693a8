#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Runs a pipeline of each element under valgrind's memcheck, with the plugin as plugin/build.sh makes it. Fails on what
# is definitely leaked, on invalid reads and writes, and on decisions made on memory that nobody has set.
#
#   Tests/Valgrind/run.sh [CLIP]     default: Tests/Media/clip.h264; half a minute
#
# Each pipeline's report is left in .build/valgrind.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

plugin/dependencies.sh --valgrind
plugin/build.sh

# The same library before it is stripped, so that the reports have names and lines.
work=$PWD/.build/valgrind
rm -rf "$work"
mkdir -p "$work/plugin"
ln -s ../../release-plugin/release/libgstswifth26x.so "$work/plugin/"

# Every allocation one of malloc's, which is what memcheck watches; and GLib's own lists without stale pointers in them.
export G_SLICE=always-malloc G_DEBUG=gc-friendly
# The registry is made beforehand: the scanner would read every plugin of the system under valgrind.
export GST_PLUGIN_PATH=$work/plugin GST_REGISTRY=$work/registry.bin GST_REGISTRY_FORK=no
gst-inspect-1.0 swifth264dec > /dev/null

suppressions=(--suppressions=Tests/Valgrind/loader.supp)
# GLib's own list of what it keeps for the life of the process.
glib=$(pkg-config --variable=prefix glib-2.0)/share/glib-2.0/valgrind/glib.supp
[[ -f $glib ]] && suppressions+=("--suppressions=$glib")

clip=${1:-Tests/Media/clip.h264}
failed=0
check() { # NAME CHAIN
  local name=$1 status=0
  local -a chain
  read -ra chain <<< "$2"
  # Undefined values are left out: optimised Swift compares a whole word of which it needs a part. Of an action of the
  # decoder, for one, the tag of the optional is the upper half of a word, which every case sets, and the lower half is
  # the payload's, which a small case leaves as it was; the comparison (with a number whose lower half is all ones) comes
  # out the same whatever is there. memcheck cannot know that.
  valgrind --tool=memcheck --undef-value-errors=no --error-exitcode=99 --num-callers=40 --log-file="$work/$name.log" \
    --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite "${suppressions[@]}" \
    gst-launch-1.0 -q filesrc location="$clip" ! "${chain[@]}" || status=$?
  printf '%-12s %s\n' "$name" "$(sed -n 's/.*ERROR SUMMARY: //p' "$work/$name.log")"
  if ((status)); then
    echo "$0: $name ended with status $status; see .build/valgrind/$name.log" >&2
    failed=1
  fi
}

check parse 'swifth264parse ! fakesink'
check parse-nal 'swifth264parse ! video/x-h264,stream-format=byte-stream,alignment=nal ! fakesink'
check repack 'swifth264parse ! swifth264repack ! video/x-h264,stream-format=avc ! swifth264repack ! video/x-h264,stream-format=byte-stream ! fakesink'
check dec 'swifth264parse ! swifth264dec max-threads=1 ! fakesink'
check dec-threads 'swifth264parse ! swifth264dec max-threads=3 ! video/x-raw,format=NV12 ! fakesink'
exit $failed
