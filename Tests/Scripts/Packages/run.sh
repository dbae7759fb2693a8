#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Installs, upgrades and removes the packages of .build/deb in a fresh Debian root, and runs the plugin and the program.
#
#   Tests/Scripts/Packages/run.sh [SUITE]     the release that the packages were built on: bookworm, trixie …; needs root
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

suite=${1:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
root=$PWD/.build/roots/$suite
fail() {
  echo "$0: $*" >&2
  exit 1
}

for package in debootstrap lintian; do
  dpkg-query -W -f '${db:Status-Status}\n' "$package" 2> /dev/null | grep -qx installed ||
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$package"
done
packages=(.build/deb/*.deb)
[[ -f ${packages[0]} ]] || fail "nothing packed yet; run 'make deb' first"
lintian --allow-root --fail-on error "${packages[@]}"

if [[ ! -e $root/packages ]]; then
  rm -rf "$root"
  debootstrap --variant=minbase "$suite" "$root"
fi
rm -rf "$root/packages"
mkdir "$root/packages"
cp "${packages[@]}" "$root/packages/"
cp Tests/Media/clip.h264 "$root/packages/"
# The same packages with a higher version, for the upgrade.
for package in "${packages[@]}"; do
  dpkg-deb -R "$package" "$root/packages/next"
  sed -i -E 's/^Version: (.*)/Version: \1+next/; s/\(= ([^)]*)\)/(= \1+next)/' "$root/packages/next/DEBIAN/control"
  mkdir -p "$root/packages/upgrade"
  dpkg-deb --root-owner-group --build "$root/packages/next" "$root/packages/upgrade/" > /dev/null
  rm -rf "$root/packages/next"
done
in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
try() {
  in_root gst-inspect-1.0 swifth264dec > /dev/null || fail "$1: no swifth264dec"
  in_root gst-launch-1.0 -q filesrc location=/packages/clip.h264 ! swifth264parse ! swifth264dec ! fakesink ||
    fail "$1: the clip does not decode"
  in_root h26x info /packages/clip.h264 | grep -q 'Annex B byte stream' || fail "$1: h26x info"
  in_root /usr/libexec/gst-swift-h26x/h26x-codec --version > /dev/null || fail "$1: no h26x-codec"
  local file
  for file in h26x gstreamer1.0-swifth26x; do
    python3 -c 'import json, sys; json.load(sys.stdin)["packages"][0]["packageVerificationCode"]' \
      < "$root/usr/share/doc/$file/$file.spdx.json" || fail "$1: $file has no list of what is in it"
  done
  for file in man/man1/h26x.1.gz man/man1/h26x-info.1.gz bash-completion/completions/h26x \
    zsh/vendor-completions/_h26x fish/vendor_completions.d/h26x.fish; do
    [[ -s $root/usr/share/$file ]] || fail "$1: no /usr/share/$file"
  done
}

cp /etc/resolv.conf "$root/etc/" 2> /dev/null || true
# Swift programs read their arguments from /proc.
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT
in_root apt-get update -q
in_root apt-get install -q -y --no-install-recommends gstreamer1.0-tools
before=$(in_root find /usr /etc -not -path '*/__pycache__*' | sort)
in_root sh -c 'apt-get install -q -y --no-install-recommends /packages/*.deb'
try installed
in_root sh -c 'apt-get install -q -y --no-install-recommends /packages/upgrade/*.deb'
try upgraded
in_root apt-get purge -q -y gstreamer1.0-swifth26x h26x
in_root apt-get autoremove -q -y --purge
left=$(comm -13 <(echo "$before") <(in_root find /usr /etc -not -path '*/__pycache__*' | sort) | grep -i 'h26x' || true)
[[ -z $left ]] || fail "left behind: $left"
echo "The packages install, upgrade and go without a trace on $suite."
