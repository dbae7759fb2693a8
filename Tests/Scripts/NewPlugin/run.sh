#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Makes two plugins with plugin/new, builds them as their README says, and runs them in one process with each other
# and with this package's plugin, which must be built.
#
#   Tests/Scripts/NewPlugin/run.sh       two minutes
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

work=$PWD/.build/new-plugin
package=$work/package
mkdir -p "$work/scratch"
export GST_REGISTRY=$work/registry.bin GST_REGISTRY_FORK=no

# Both in the same folder, one after the other, so that this package's libraries are compiled once.
make_plugin() { # NAME
  rm -rf "$package"
  plugin/new "$1" "$package"
  ln -s "$work/scratch" "$package/.build"
  "$package/build.sh"
  mkdir -p "$work/$1"
  mv -f "$package/.build/plugin/libgst$1.so" "$work/$1/"
}
fail() {
  echo "$0: $*" >&2
  exit 1
}

make_plugin second
make_plugin first
# A base class that this package lacks, in another package.
cp Tests/GStreamerTests/Elements/Examples/OwnBaseClass.swift "$package/Tests/FirstTests/"
swift test --package-path "$package"

for name in first second; do
  library=$work/$name/libgst$name.so
  exported=$(nm -D --defined-only "$library" | awk '{ print $3 }')
  [[ $exported == "gst_plugin_${name}_get_desc" ]] || fail "$library exports $exported"
  ! ldd "$library" | grep -E 'libswift|not found' || fail "$library needs what a machine without Swift has not"
  GST_PLUGIN_PATH=$work/$name gst-inspect-1.0 "$name" > "$work/inspected" || fail "gst-inspect-1.0 $name"
  grep -q 'GstVideoFilter' "$work/inspected" || fail "$name is no video filter: $(cat "$work/inspected")"
done

export GST_PLUGIN_PATH=$work/first:$work/second:$PWD/.build/plugin
gst-launch-1.0 -q filesrc location=Tests/Media/clip.h264 ! swifth264parse ! swifth264dec ! first amount=5 ! \
  second amount=7 ! fakesink
# Black is 16.
gst-launch-1.0 -q videotestsrc pattern=black num-buffers=1 ! video/x-raw,format=GRAY8,width=4,height=1 ! \
  first amount=5 ! second amount=7 ! filesink location="$work/picture"
[[ $(od -An -tu1 "$work/picture") == '  28  28  28  28' ]] || fail "first and second made $(od -An -tu1 "$work/picture")"
# Names that GStreamer cannot use, and those of which the class would be Self, Any, Property, Locked.
for name in '' Upper two-words 1st self any property locked; do
  ! plugin/new "$name" "$work/refused" 2> /dev/null || fail "plugin/new took '$name'"
done
! plugin/new first "$package" 2> /dev/null || fail 'plugin/new wrote over a folder'
echo "Two new plugins and this package's work in one process."
