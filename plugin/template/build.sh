#!/usr/bin/env bash
# Builds .build/plugin/libgstbrighten.so: release, the Swift runtime linked in, stripped, nothing exported but the entry
# point. It runs where GStreamer is, without a Swift toolchain.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# A scratch folder of its own, because the flags differ from those of `swift build`. The import that the first flag
# disables would link in a regular expression engine of a megabyte.
scratch=.build/release-plugin
swift build -c release --product gstbrighten --scratch-path "$scratch" \
  -Xswiftc -Xfrontend -Xswiftc -disable-implicit-string-processing-module-import -Xswiftc -static-stdlib \
  -Xswiftc -use-ld=lld -Xlinker --version-script="$PWD/exports.map" -Xlinker --gc-sections -Xlinker --icf=all
mkdir -p .build/plugin
strip --strip-unneeded -o .build/plugin/.new "$scratch/release/libgstbrighten.so"
mv -f .build/plugin/.new .build/plugin/libgstbrighten.so
ls -l .build/plugin/libgstbrighten.so
