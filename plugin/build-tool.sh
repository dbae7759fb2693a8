#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Builds .build/tool/h26x: release, the Swift runtime linked in, stripped; and leaves beside it the plugin that it loads
# and its manual pages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

plugin/dependencies.sh --tool
plugin/build.sh

# A scratch folder of its own: the flags differ from a plain `swift build -c release`.
swift build -c release --product h26x --scratch-path .build/release-tool --static-swift-stdlib \
  -Xlinker --gc-sections -Xlinker -z -Xlinker relro
mkdir -p .build/tool
strip --strip-unneeded -o .build/tool/.new .build/release-tool/release/h26x
mv -f .build/tool/.new .build/tool/h26x
cp -f .build/plugin/libgstswifth26x.so .build/tool/.new
mv -f .build/tool/.new .build/tool/libgstswifth26x.so
plugin/man.sh
ls -l .build/tool/h26x
