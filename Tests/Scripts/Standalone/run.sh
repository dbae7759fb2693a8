#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Builds and runs a package that uses H26x alone, as on a machine without GStreamer, libavcodec and network. The build
# must fetch nothing, and print nothing but its own messages.
#
#   Tests/Scripts/Standalone/run.sh      half a minute
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

root=$PWD
work=.build/standalone
mkdir -p "$work/Sources/App"
cat > "$work/Package.swift" << END
// swift-tools-version:6.3
import PackageDescription

let package = Package(
  name: "App",
  dependencies: [.package(name: "gst-swift-h26x", path: "$root", traits: [])],
  targets: [.executableTarget(name: "App", dependencies: [.product(name: "H26x", package: "gst-swift-h26x")])]
)
END
cat > "$work/Sources/App/main.swift" << 'END'
import H26x

let stream: [UInt8] = [0, 0, 0, 1, 9, 16, 0, 0, 1, 9, 240]
var nalUnits = AnnexB.NALUnits(stream.span)
while let nalUnit = nalUnits.next() { print(H264.NALUnitType(headerByte: stream[nalUnit.range.lowerBound])) }
END

rm -rf "$work/.build/"{checkouts,repositories,workspace-state.json} "$work/Package.resolved"
# No pkg-config file is found, and no address of the network.
export PKG_CONFIG_LIBDIR=/nonexistent PKG_CONFIG_PATH= https_proxy=http://127.0.0.1:9 http_proxy=http://127.0.0.1:9
swift build --package-path "$work" 2>&1 | tee "$work/log"
if grep -iE 'warning|pkg-config|fetch|\bapt\b' "$work/log"; then
  echo "$0: a package that needs H26x alone was told of more" >&2
  exit 1
fi
[[ -z $(ls -A "$work/.build/checkouts") && ! -e $work/Package.resolved ]] || { echo "$0: something was fetched" >&2; exit 1; }
found=$("$work/.build/debug/App" | wc -l)
[[ $found == 2 ]] || { echo "$0: $found NAL units, and not 2" >&2; exit 1; }
echo "H26x alone needs nothing."
