#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Builds the files to install, in release mode, stripped, with the Swift runtime linked in:
#
#   plugin/build.sh          .build/plugin: libgstswifth26x.so, and h26x-codec, the process for isolated decoding
#   plugin/build.sh --tool   also .build/tool: the program h26x, copies of these two, and the manual pages
#
# .build/plugin can be GST_PLUGIN_PATH: GStreamer looks at files that end in .so only. The plugin exports nothing but its
# entry points.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# SwiftPM passes the enabled traits to the compiler in the order of a set, which changes from run to run: all would be
# compiled again.
export SWIFT_DETERMINISTIC_HASHING=1
# Selects the targets in Package.swift.
export SHIPPED=plugin
[[ ${1:-} != --tool ]] || SHIPPED=tool

case $SHIPPED in
  plugin) plugin/dependencies.sh --build ;;
  tool) plugin/dependencies.sh --tool ;;
esac

# Links libstdc++ statically if its archive is installed. The Swift runtime needs little of it: loading the shared library
# would cost a megabyte of memory, and the application may have it in another version. The linker searches this folder
# first.
mkdir -p .build/static
archive=$(clang++ -print-file-name=libstdc++.a 2> /dev/null || true)
if [[ -f $archive ]]; then ln -sf "$archive" .build/static/libstdc++.a; else rm -f .build/static/libstdc++.a; fi

# Packed relative relocations (DT_RELR), if the machine's loader supports them (glibc 2.36 and newer): half a megabyte less
# to read and to keep in memory.
short=()
if printf '%s\n' 'glibc 2.36' "$(getconf GNU_LIBC_VERSION 2> /dev/null)" | sort -CV; then
  short=(-Xlinker -z -Xlinker pack-relative-relocs)
fi

# All products share a scratch folder and flags, so each module is compiled once. The reasons for the flags:
#
# - lld: gold leaves local symbols in the dynamic table in spite of the version script.
# - -function-sections, -internalize-at-link: the linker can drop unused functions, also public ones: a megabyte.
# - --icf=all: functions of identical code are merged. This is safe because no code compares their addresses.
# - -num-threads: two processors generate the code of a module.
# - -disable-implicit-string-processing-module-import: a regular expression engine of a megabyte stays out.
swift build -c release --scratch-path .build/shipped -debug-info-format none \
  -Xswiftc -Xfrontend -Xswiftc -disable-implicit-string-processing-module-import \
  -Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -Xfrontend -Xswiftc -internalize-at-link \
  -Xswiftc -num-threads -Xswiftc 2 \
  -Xswiftc -static-stdlib -Xswiftc -use-ld=lld -Xlinker -L"$PWD/.build/static" -Xlinker --gc-sections -Xlinker --icf=all \
  -Xlinker -z -Xlinker relro "${short[@]}"

# Renames the file into place, so a process that has mapped the old file keeps it whole.
place() { # FILE FOLDER
  mkdir -p "$2"
  strip --strip-unneeded -o "$2/.new" ".build/shipped/release/$1"
  mv -f "$2/.new" "$2/$1"
}
# The program first: the plugin refuses an older one.
for file in h26x-codec libgstswifth26x.so; do place "$file" .build/plugin; done
if [[ $SHIPPED == tool ]]; then
  for file in h26x h26x-codec libgstswifth26x.so; do place "$file" .build/tool; done
  plugin/man.sh
fi
