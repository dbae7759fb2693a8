#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Builds .build/docs, one static site with the documentation of all Swift libraries. A warning, such as a broken link,
# fails the build.
#
#   plugin/docs.sh [BASE]        BASE: the path below which the site is served; by default none
#
#   BUILD_OPTIONS  options of swift build
#
# View it with: python3 -m http.server --directory .build/docs
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export SWIFT_DETERMINISTIC_HASHING=1 # See plugin/build.sh.

plugin/dependencies.sh --build

# Each library after those it refers to, and the folder of its articles.
modules=(H26x StreamReport GStreamer GStreamerAudio GStreamerDiscovery VideoDecoding VideoFiles HarnessSupport)
folder_of() { case $1 in HarnessSupport) echo Tests/HarnessSupport ;; *) echo "Sources/$1" ;; esac }

read -ra options <<< "${BUILD_OPTIONS:-}"
build=(swift build "${options[@]}")
for module in "${modules[@]}"; do "${build[@]}" --target "$module"; done
built=$("${build[@]}" --show-bin-path)/Modules
triple=$(swiftc -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p')
headers=()
for flag in $(pkg-config --cflags-only-I gstreamer-video-1.0 gstreamer-check-1.0); do headers+=(-Xcc "$flag"); done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
archives=()
for module in "${modules[@]}"; do
  mkdir "$work/$module"
  swift symbolgraph-extract -module-name "$module" -minimum-access-level public -skip-inherited-docs \
    -emit-extension-block-symbols -I "$built" -I Sources/CGStreamer -I Sources/CGStreamerAudio -I Sources/CGStreamerDiscovery -I Sources/CAVCodec -I Sources/CLinux -I Tests/CGStreamerCheck \
    "${headers[@]}" -target "$triple" -output-dir "$work/$module"
  docc convert "$(folder_of "$module")/$module.docc" --additional-symbol-graph-dir "$work/$module" \
    --output-dir "$work/$module.doccarchive" --hosting-base-path "${1:-}" --warnings-as-errors \
    --enable-experimental-external-link-support "${archives[@]/#/--dependency=}"
  archives+=("$work/$module.doccarchive")
done
rm -rf .build/docs
docc merge "${archives[@]}" --synthesized-landing-page-name gst-swift-h26x --output-path .build/docs
echo '<!doctype html><meta http-equiv="refresh" content="0; url=documentation/"><title>gst-swift-h26x</title>' \
  > .build/docs/index.html
echo "$PWD/.build/docs"
