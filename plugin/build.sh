#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Builds .build/plugin: libgstswifth26x.so, and beside it h26x-codec, the program that decodes in a process of its own.
# Release, the Swift runtime linked in, stripped. The plugin exports nothing but its entry points. The folder can be
# GST_PLUGIN_PATH: GStreamer looks at files that end in .so only.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# SwiftPM passes the enabled traits to the compiler in the order of a set, which changes from run to run: all would be
# compiled again.
export SWIFT_DETERMINISTIC_HASHING=1

plugin/dependencies.sh --build

# Links libstdc++ statically where its archive is installed. The Swift runtime needs little of it: loading the shared
# library would cost a megabyte of memory, and the application may have it in another version. The linker searches this
# folder first.
mkdir -p .build/static
archive=$(clang++ -print-file-name=libstdc++.a 2> /dev/null || true)
if [[ -f $archive ]]; then ln -sf "$archive" .build/static/libstdc++.a; else rm -f .build/static/libstdc++.a; fi

# Packed relative relocations (DT_RELR), where the machine's loader supports them (glibc 2.36 and newer): half a megabyte
# less to read and to keep in memory.
short=()
if printf '%s\n' 'glibc 2.36' "$(getconf GNU_LIBC_VERSION 2> /dev/null)" | sort -CV; then
  short=(-Xlinker -z -Xlinker pack-relative-relocs)
fi

# A copy of the Swift runtime from which the linker can drop what the plugin does not use.
lean=$(plugin/lean-runtime.sh)
runtime=()
[[ -n $lean ]] && runtime=(-Xswiftc -resource-dir -Xswiftc "$lean")

# lld, because gold leaves local symbols in the dynamic table in spite of the version script.
# A scratch folder of its own: the flags differ from a plain `swift build -c release`, and SwiftPM rebuilds all when
# they change.
# Exclusivity is checked at run time, as in debug builds: unchecked, an element that is re-entered while it changes its
# state silently loses a write.
# -function-sections lets the linker drop unused functions (a third of a megabyte). --icf=all merges functions of
# identical code, which is safe because no code compares their addresses.
# --defsym drops the table of Unicode character names (half a megabyte): its only reader, used by
# Unicode.Scalar.Properties.name, becomes the runtime's fatal error for a deleted method.
# -disable-incremental-llvm-codegen: otherwise the compiler keeps old objects of the same code that lack the sections.
# -disable-implicit-string-processing-module-import keeps out a regular expression engine of a megabyte.
# ELEMENTS_ONLY excludes what the elements do not use: see Package.swift.
flags=(
  -c release --scratch-path .build/release-plugin -debug-info-format none
  -Xswiftc -Xfrontend -Xswiftc -disable-implicit-string-processing-module-import
  -Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen
  -Xswiftc -static-stdlib "${runtime[@]}"
  -Xswiftc -use-ld=lld -Xlinker -L"$PWD/.build/static" -Xlinker --gc-sections -Xlinker --icf=all
  -Xlinker --defsym=_swift_stdlib_getScalarName=swift_deletedMethodError "${short[@]}"
)
export ELEMENTS_ONLY=1
swift build "${flags[@]}" --product gstswifth26x -Xlinker --version-script="$PWD/plugin/exports.map"
# What both are made of is compiled once. The same list of exports, though none of them is in it: with a static runtime
# the compiler exports everything, so that nothing could be dropped.
swift build "${flags[@]}" --product h26x-codec -Xlinker --version-script="$PWD/plugin/exports.map" \
  -Xlinker --undefined-version

mkdir -p .build/plugin
# Renamed into place, so that a process which has the old file mapped keeps it whole. The program first: the plugin
# refuses an older one.
for file in h26x-codec libgstswifth26x.so; do
  strip --strip-unneeded -o .build/plugin/.new ".build/release-plugin/release/$file"
  mv -f .build/plugin/.new ".build/plugin/$file"
done
ls -l .build/plugin/*
