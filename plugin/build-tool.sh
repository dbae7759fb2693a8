#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Builds .build/tool/h26x: release, the Swift runtime linked in, stripped; and leaves beside it the plugin that it loads,
# h26x-codec, which decodes in a process of its own, and its manual pages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export SWIFT_DETERMINISTIC_HASHING=1 # See plugin/build.sh.

plugin/dependencies.sh --tool

# The plugin and the program, at once: each is a chain of modules of which one is compiled at a time, in one process, so
# that either alone leaves a processor idle. What the plugin's build prints comes after the program's.
log=$(mktemp)
set -m # A process group of its own, which an interrupt ends too.
plugin/build.sh < /dev/null > "$log" 2>&1 &
plugin=$!
set +m
trap 'kill -- "-$plugin" 2> /dev/null || true; rm -f "$log"' EXIT

# A scratch folder of its own: the flags differ from a plain `swift build -c release`. lld, as for the plugin: gold warns
# of mktemp, which Foundation has and the program does not call.
swift build -c release --product h26x --scratch-path .build/release-tool -debug-info-format none \
  --static-swift-stdlib -Xswiftc -use-ld=lld \
  -Xlinker --gc-sections -Xlinker -z -Xlinker relro
status=0
wait "$plugin" || status=$?
cat "$log"
((status == 0)) || exit "$status"
mkdir -p .build/tool
strip --strip-unneeded -o .build/tool/.new .build/release-tool/release/h26x
mv -f .build/tool/.new .build/tool/h26x
for file in h26x-codec libgstswifth26x.so; do
  cp -f ".build/plugin/$file" .build/tool/.new
  mv -f .build/tool/.new ".build/tool/$file"
done
plugin/man.sh
ls -l .build/tool/h26x
