#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Builds .build/docs, a static site with the documentation of the Swift libraries. A warning, such as a broken link,
# fails the build.
#
#   plugin/docs.sh               look at it with: python3 -m http.server --directory .build/docs
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

plugin/dependencies.sh --build

# Package.swift adds swift-docc-plugin only for this.
export DOCUMENTATION=1
rm -rf .build/docs
mkdir -p .build/docs
for module in H26x StreamReport VideoDecoding GStreamer; do
  swift package --allow-writing-to-directory "$PWD/.build/docs" generate-documentation --target "$module" \
    --output-path "$PWD/.build/docs/$module" --transform-for-static-hosting --hosting-base-path "$module" \
    --warnings-as-errors
done
cat > .build/docs/index.html << 'END'
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>gst-swift-h26x</title>
<h1>gst-swift-h26x: the Swift libraries</h1>
<ul>
<li><a href="H26x/documentation/h26x/">H26x</a>: bitstreams of H.264 and H.265
<li><a href="VideoDecoding/documentation/videodecoding/">VideoDecoding</a>: a decompression session
<li><a href="GStreamer/documentation/gstreamer/">GStreamer</a>: elements and applications
<li><a href="StreamReport/documentation/streamreport/">StreamReport</a>: what is in a stream
</ul>
</html>
END
echo "$PWD/.build/docs/index.html"
