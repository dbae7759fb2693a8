#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Builds .build/deb/*.deb for the Debian or Ubuntu release that it runs on:
#   gstreamer1.0-swifth26x   the plugin, and the program for isolated decoding
#   h26x                     the program, with its manual pages and completions
# and beside each what is in it, as a software bill of materials (SPDX), which the package has too.
#
#   plugin/deb.sh [--built]      --built: packs .build/plugin and .build/tool as they are
set -euo pipefail
# Everybody may read installed files, regardless of the caller's mask.
umask 022
cd "$(dirname "${BASH_SOURCE[0]}")/.."

plugin/dependencies.sh --deb
[[ ${1:-} == --built ]] || plugin/build.sh --tool

version=$(sed -n 's/.*text: StaticString = "\(.*\)"/\1/p' Sources/H26x/ReleaseVersion.swift)
date=$(sed -n "s/^## $version, \([0-9-]*\)$/\1/p" CHANGELOG.md)
[[ -n $version && -n $date ]] || { echo "$0: CHANGELOG.md has no '## $version, YEAR-MONTH-DAY'" >&2; exit 1; }
architecture=$(dpkg --print-architecture)
maintainer='The gst-swift-h26x authors <gst-swift-h26x@users.noreply.github.com>'

work=$PWD/.build/deb/work
rm -rf .build/deb
mkdir -p "$work/debian"

# The libraries that files need, as packages. dpkg-shlibdeps must run in a source package.
shared_libraries() { # FILE…
  printf 'Source: gst-swift-h26x\n\nPackage: any\nArchitecture: any\n' > "$work/debian/control"
  (cd "$work" && dpkg-shlibdeps -O -xany "$@" 2> /dev/null) | sed -n 's/^shlibs:Depends=//p'
}

# Adds changelog, copyright and control data, and builds the package.
pack() { # NAME SECTION DEPENDS RECOMMENDS DESCRIPTION
  local name=$1 root=$work/$1
  mkdir -p "$root/DEBIAN" "$root/usr/share/doc/$name"
  {
    printf '%s (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md of the source.\n\n' "$name" "$version"
    printf ' -- %s  %s\n' "$maintainer" "$(LC_ALL=C date -u -R -d "$date")"
  } | gzip -9 -n > "$root/usr/share/doc/$name/changelog.gz"
  cat > "$root/usr/share/doc/$name/copyright" << 'END'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: gst-swift-h26x
Source: https://github.com/gst-swift-h26x/gst-swift-h26x

Files: *
Copyright: 2026 The gst-swift-h26x authors
License: MPL-2.0

Files: swift-runtime
Copyright: Apple Inc. and the Swift project authors
License: Apache-2.0 with Runtime Library Exception
Comment: The Swift runtime is linked in.

License: MPL-2.0
 On Debian systems, the text is in /usr/share/common-licenses/MPL-2.0.

License: Apache-2.0 with Runtime Library Exception
 On Debian systems, the text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0. As an exception, if portions of this
 software are embedded into a binary by compiling it, they may be
 redistributed without complying with sections 4(a), 4(b) and 4(d).
END
  {
    printf 'Package: %s\nSource: gst-swift-h26x\nVersion: %s\nArchitecture: %s\n' "$name" "$version" "$architecture"
    printf 'Maintainer: %s\nSection: %s\nPriority: optional\n' "$maintainer" "$2"
    printf 'Installed-Size: %s\nDepends: %s\n' "$(du -ks "$root/usr" | cut -f 1)" "$3"
    [[ -z $4 ]] || printf 'Recommends: %s\n' "$4"
    printf 'Homepage: https://github.com/gst-swift-h26x/gst-swift-h26x\nDescription: %s\n' "$5"
  } > "$root/DEBIAN/control"
  plugin/sbom.sh "$name" "$version" "$date" "$root" "$3" > ".build/deb/${name}_${version}_$architecture.spdx.json"
  install -m 644 ".build/deb/${name}_${version}_$architecture.spdx.json" "$root/usr/share/doc/$name/$name.spdx.json"
  (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum > DEBIAN/md5sums)
  find "$root" -type d -exec chmod 755 {} +
  dpkg-deb --root-owner-group --build "$root" ".build/deb/${name}_${version}_$architecture.deb"
}

plugin=$(pkg-config --variable=pluginsdir gstreamer-1.0)/libgstswifth26x.so
install -D -m 644 .build/plugin/libgstswifth26x.so "$work/gstreamer1.0-swifth26x$plugin"
service=/usr/libexec/gst-swift-h26x/h26x-codec
install -D -m 755 .build/plugin/h26x-codec "$work/gstreamer1.0-swifth26x$service"
# The plugin loads libavcodec at run time, so dpkg-shlibdeps does not find it. The -extra package replaces it.
codec=$(dpkg -S "$(readlink -f "$(pkg-config --variable=libdir libavcodec)/libavcodec.so")" | cut -d : -f 1)
codec=${codec/-extra/}
pack gstreamer1.0-swifth26x libs \
  "$(shared_libraries "$work/gstreamer1.0-swifth26x"{"$plugin","$service"}), $codec | ${codec/avcodec/avcodec-extra}" '' \
  'H.264 and H.265 parser, repackager and decoder for GStreamer
 GStreamer elements that cut elementary streams into access units, change
 them between Annex B and length-prefixed form, and decode them to raw video.
 The decoder survives damaged data, changes of parameter sets and the loss of
 its codec.'

install -D -m 755 .build/tool/h26x "$work/h26x/usr/bin/h26x"
program=$work/h26x/usr/bin/h26x
install -D -m 644 -t "$work/h26x/usr/share/man/man1" .build/tool/man1/*.gz
completion() { # SHELL FILE
  mkdir -p "$(dirname "$work/h26x/usr/share/$2")"
  # Without the #! line, because shells read the file and do not execute it.
  "$program" --generate-completion-script "$1" | sed '1{/^#!/d}' > "$work/h26x/usr/share/$2"
}
completion bash bash-completion/completions/h26x
completion zsh zsh/vendor-completions/_h26x
completion fish fish/vendor_completions.d/h26x.fish
# Loaded at run time too.
format=$(dpkg -S "$(readlink -f "$(pkg-config --variable=libdir libavformat)/libavformat.so")" | cut -d : -f 1)
format=${format/-extra/}
pack h26x video \
  "gstreamer1.0-swifth26x (= $version), gstreamer1.0-plugins-base, gstreamer1.0-plugins-good, $format | ${format/avformat/avformat-extra}, $(shared_libraries "$program")" \
  'gstreamer1.0-plugins-bad' \
  'look into, decode, repackage and play H.264 and H.265
 A program for streams and files of H.264 and H.265: it lists what is in them,
 decodes them to raw video, changes their packaging, and compares pictures.'

rm -rf "$work"
ls -l .build/deb
