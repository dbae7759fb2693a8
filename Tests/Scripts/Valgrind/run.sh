#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Runs a pipeline of each element under valgrind's memcheck, with the plugin as plugin/build.sh makes it. Fails on what
# is definitely leaked, on invalid reads and writes, and on conditions that depend on uninitialised memory.
#
#   Tests/Scripts/Valgrind/run.sh [CLIP]     default: Tests/Media/clip.h264 and clip.h265; a minute
#
# Each pipeline's report is left in .build/valgrind.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

plugin/dependencies.sh --valgrind
plugin/build.sh

# The same library before it is stripped, so that the reports have names and lines.
work=$PWD/.build/valgrind
rm -rf "$work"
mkdir -p "$work/plugin"
ln -s ../../shipped/release/libgstswifth26x.so "$work/plugin/"

# All memory comes from malloc, which memcheck watches, and GLib clears stale pointers in its lists.
export G_SLICE=always-malloc G_DEBUG=gc-friendly
# The registry is made beforehand: the scanner would read every plugin of the system under valgrind.
export GST_PLUGIN_PATH=$work/plugin GST_REGISTRY=$work/registry.bin GST_REGISTRY_FORK=no
gst-inspect-1.0 swifth264dec > /dev/null

suppressions=(--suppressions=Tests/Scripts/Valgrind/loader.supp)
# GLib's suppressions for memory that it keeps until the process ends.
glib=$(pkg-config --variable=prefix glib-2.0)/share/glib-2.0/valgrind/glib.supp
[[ -f $glib ]] && suppressions+=("--suppressions=$glib")

failed=0
check() { # NAME UNDEFINED CHAIN
  local name=$1 status=0
  local -a chain
  read -ra chain <<< "$3"
  valgrind --tool=memcheck --undef-value-errors="$2" --error-exitcode=99 --num-callers=40 --log-file="$work/$name.log" \
    --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite "${suppressions[@]}" \
    gst-launch-1.0 -q filesrc location="$clip" ! "${chain[@]}" || status=$?
  printf '%-18s %s\n' "$name" "$(sed -n 's/.*ERROR SUMMARY: //p' "$work/$name.log")"
  if ((status)); then
    echo "$0: $name ended with status $status; see .build/valgrind/$name.log" >&2
    failed=1
  fi
}

# Undefined values of the decoders' pipelines are ignored, because optimized Swift compares a whole word if it needs a
# part. The tag of an optional action is the upper half of a word, which every case sets. The lower half belongs to the
# payload, which a small case does not set. The comparison is with a number whose lower half is all ones, so the result
# is the same for any payload. memcheck cannot detect that.
check_codec() { # CODEC CLIP LENGTH_PREFIXED_FORMAT
  local codec=$1 clip=$2 media=video/x-$1
  local parse=swift${codec}parse repack=swift${codec}repack decode=swift${codec}dec
  check "$codec-parse" yes "$parse ! fakesink"
  check "$codec-parse-nal" yes "$parse ! $media,stream-format=byte-stream,alignment=nal ! fakesink"
  check "$codec-repack" yes \
    "$parse ! $repack ! $media,stream-format=$3 ! $repack ! $media,stream-format=byte-stream ! fakesink"
  check "$codec-dec" no "$parse ! $decode max-threads=1 ! fakesink"
  check "$codec-dec-threads" no "$parse ! $decode max-threads=3 ! video/x-raw,format=NV12 ! fakesink"
}
case ${1-} in
*.h265 | *.265 | *.hevc) check_codec h265 "$1" hvc1 ;;
?*) check_codec h264 "$1" avc ;;
*)
  check_codec h264 Tests/Media/clip.h264 avc
  check_codec h265 Tests/Media/clip.h265 hvc1
  ;;
esac
exit $failed
