#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Creates two plugins with plugin/new and builds them with the commands of their README. Then runs both in one process
# with this package's plugin, which must be built.
#
#   Tests/Scripts/NewPlugin/run.sh       two minutes
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

work=$PWD/.build/new-plugin
package=$work/package
mkdir -p "$work/scratch"
export GST_REGISTRY=$work/registry.bin GST_REGISTRY_FORK=no

# Both in the same folder, one after the other, so that this package's libraries are compiled once.
make_plugin() { # NAME [OPTIONS]
  rm -rf "$package"
  plugin/new "${@:2}" "$1" "$package"
  ln -s "$work/scratch" "$package/.build"
  "$package/build.sh"
  mkdir -p "$work/$1"
  mv -f "$package/.build/plugin/libgst$1.so" "$work/$1/"
}
fail() {
  echo "$0: $*" >&2
  exit 1
}

described='Adds "light" & a \ backslash'
make_plugin second --description "$described" --license MIT --version 1.2.3 --author 'A. Tester <a@example.org>'
"$package/deb.sh" > "$work/deb.log" || fail "make deb: $(cat "$work/deb.log")"
packed=("$package"/.build/deb/*.deb)
[[ ${#packed[@]} == 1 ]] || fail "make deb made ${packed[*]}"
[[ $(dpkg-deb -f "${packed[0]}" Package Version Maintainer) == \
  $'Package: gstreamer1.0-second\nVersion: 1.2.3\nMaintainer: A. Tester <a@example.org>' ]] ||
  fail "the package is $(dpkg-deb -f "${packed[0]}")"
[[ $(dpkg-deb -f "${packed[0]}" Description | head -n 1) == "$described" ]] || fail 'the package has another description'
[[ $(dpkg-deb -f "${packed[0]}" Depends) == *libgstreamer* ]] || fail 'the package depends on no GStreamer'
[[ $(dpkg-deb -c "${packed[0]}") == */gstreamer-1.0/libgstsecond.so* ]] || fail 'the package has no plugin'
GST_PLUGIN_PATH=$work/second gst-inspect-1.0 --plugin "$work/second/libgstsecond.so" > "$work/inspected"
for expected in '1.2.3' 'MIT/X11' "$described"; do
  grep -qF "$expected" "$work/inspected" || fail "the plugin has no '$expected': $(cat "$work/inspected")"
done
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
# Names that GStreamer cannot use, and names whose class would be Self, Any, Property, Locked.
for name in '' Upper two-words 1st self any property locked; do
  ! plugin/new "$name" "$work/refused" 2> /dev/null || fail "plugin/new took '$name'"
done
for options in '--license GPL' '--version one' '--colour red' '--version'; do
  ! plugin/new $options third "$work/refused" 2> /dev/null || fail "plugin/new took '$options'"
done
! plugin/new first "$package" 2> /dev/null || fail 'plugin/new wrote over a folder'
echo "Two new plugins and this package's work in one process."
