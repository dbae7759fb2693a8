#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Installs the Debian or Ubuntu packages that building, testing and trying the plugin need, and only the missing ones.
#
#   plugin/dependencies.sh            everything: build, tests, demo
#   plugin/dependencies.sh --build    only for the build
#   plugin/dependencies.sh --element  for the build, and for trying an element in a pipeline
#   plugin/dependencies.sh --bench    everything, and the programs that the benchmark compares with
#   plugin/dependencies.sh --valgrind everything, and valgrind
#   plugin/dependencies.sh --tool     for the build, and for the program's manual pages
#   plugin/dependencies.sh --deb      as --tool, and for Debian packages
#   plugin/dependencies.sh --inspector only for the inspector page
#   plugin/dependencies.sh --page     everything, the browser that the pages are tested in, and FFmpeg
#   plugin/dependencies.sh --applications everything, and the applications that the plugin is tested in, if available
set -euo pipefail

build=(
  pkg-config binutils
  libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev # headers of GStreamer's core, base and video libraries
  libavcodec-dev                                       # the codec behind swifth264dec
)
tool=(libavformat-dev) # containers of the program; loaded at run time
run=(
  gstreamer1.0-tools         # gst-launch-1.0, gst-inspect-1.0
  gstreamer1.0-plugins-base  # videotestsrc, videoconvert, typefind
  gstreamer1.0-plugins-good  # qtdemux, matroskademux, flvdemux, RTP, pngenc
  gstreamer1.0-plugins-bad   # tsdemux, videocodectestsink, and the stock parser to compare with
  gstreamer1.0-plugins-ugly  # x264enc, for test streams
  gstreamer1.0-libav         # the stock decoder to compare with
  parallel                   # pipelines/many
  libva-dev xvfb             # a driver and a display for the tests of hardware decoding
  python3-gi gir1.2-gstreamer-1.0 # the Python program of docs/embedding.md
)
bench=(ffmpeg python3)
applications=(
  ffmpeg python3-gi gir1.2-gst-plugins-base-1.0
  gir1.2-webkit2-4.1 gir1.2-webkit-6.0 bubblewrap xdg-dbus-proxy # WebKitGTK of GTK 3 and 4, and its sandbox
  gir1.2-ges-1.0 gir1.2-gst-rtsp-server-1.0 totem
  python3-opencv python3-pyqt5.qtmultimedia libqt5multimedia5-plugins python3-pyqt6.qtmultimedia
)

case "${1:-}" in
  "") wanted=("${build[@]}" "${tool[@]}" "${run[@]}") ;;
  --build) wanted=("${build[@]}") ;;
  --element) wanted=("${build[@]}" gstreamer1.0-{tools,plugins-base,plugins-good}) ;;
  --inspector) wanted=(python3) ;;
  --bench) wanted=("${build[@]}" "${tool[@]}" "${run[@]}" "${bench[@]}") ;;
  --tool) wanted=("${build[@]}" "${tool[@]}" help2man) ;;
  --deb) wanted=("${build[@]}" "${tool[@]}" help2man dpkg-dev) ;;
  --valgrind) wanted=("${build[@]}" "${tool[@]}" "${run[@]}" valgrind) ;;
  --page) wanted=("${build[@]}" "${tool[@]}" "${run[@]}" python3 chromium ffmpeg) ;;
  --applications) wanted=("${build[@]}" "${tool[@]}" "${run[@]}" "${applications[@]}") ;;
  -h | --help) sed -n '3,14s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) echo "$0: unknown option $1; see --help" >&2; exit 2 ;;
esac

if ! command -v swift > /dev/null; then
  echo "$0: no Swift toolchain found. Install Swift 6.3 or newer from https://www.swift.org/install/linux/" >&2
  exit 1
fi

if ! command -v dpkg-query > /dev/null; then
  echo "$0: not a Debian or Ubuntu system; install the equivalents of: ${wanted[*]}" >&2
  exit 0 # The build itself reports what is missing.
fi

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

sudo=()
if ((EUID != 0)); then
  command -v sudo > /dev/null || {
    echo "$0: not root and no sudo; as root, run: apt-get install ${missing[*]}" >&2
    exit 1
  }
  sudo=(sudo)
fi
echo "Installing ${missing[*]}"
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q
if [[ ${1:-} == --applications ]]; then
  for index in "${!missing[@]}"; do
    apt-cache show "${missing[index]}" &> /dev/null && continue
    echo "$0: this system has no ${missing[index]}; its tests are skipped"
    unset "missing[index]"
  done
  ((${#missing[@]})) || exit 0
fi
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
