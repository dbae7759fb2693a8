#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Builds .build/plugin/libgstswifth26x.so: release, the Swift runtime linked in, stripped,
# nothing exported but the plugin's entry points. That folder holds nothing else, so it can be GST_PLUGIN_PATH.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

plugin/dependencies.sh --build

# The Swift runtime needs little of the C++ library: linked in where it is there as an archive, that takes a megabyte
# and a library that the application may have in another version off the plugin. The linker takes what it finds first.
mkdir -p .build/static
archive=$(clang++ -print-file-name=libstdc++.a 2> /dev/null || true)
if [[ -f $archive ]]; then ln -sf "$archive" .build/static/libstdc++.a; else rm -f .build/static/libstdc++.a; fi

# Relative relocations in their short form, where the loader of the machine knows it (glibc 2.36 and newer): half a
# megabyte less to read and to keep in memory.
short=()
if printf '%s\n' 'glibc 2.36' "$(getconf GNU_LIBC_VERSION 2> /dev/null)" | sort -CV; then
  short=(-Xlinker -z -Xlinker pack-relative-relocs)
fi

# What the plugin does not use of the Swift runtime stays out.
lean=$(plugin/lean-runtime.sh)
runtime=()
[[ -n $lean ]] && runtime=(-Xswiftc -resource-dir -Xswiftc "$lean")

# lld, because gold leaves local symbols in the dynamic table in spite of the version script.
# A scratch folder of its own: the flags differ from a plain `swift build -c release`, and SwiftPM rebuilds all when
# they change.
# Accesses are checked for exclusivity at run time, as in the tests' builds: without, an element that is entered again
# while it changes its state loses a write in silence.
# Every function has a section of its own, so that the linker leaves out what nobody calls (a third of a megabyte);
# functions of the same code are one (icf): nobody compares their addresses.
# The names of Unicode's characters are half a megabyte: the one function that reads them, for
# Unicode.Scalar.Properties.name, is the runtime's own stop at a deleted method.
# Objects are always written anew: the compiler keeps an old one whose code is the same, sections or not.
# The module for string processing is imported unasked, and brings a regular expression engine of a megabyte along.
# Without what its elements do not use: see Package.swift.
ELEMENTS_ONLY=1 swift build -c release --product gstswifth26x --scratch-path .build/release-plugin \
  -Xswiftc -Xfrontend -Xswiftc -disable-implicit-string-processing-module-import \
  -Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen \
  -Xswiftc -static-stdlib "${runtime[@]}" \
  -Xswiftc -use-ld=lld -Xlinker -L"$PWD/.build/static" -Xlinker --version-script="$PWD/plugin/exports.map" \
  -Xlinker --gc-sections -Xlinker --icf=all \
  -Xlinker --defsym=_swift_stdlib_getScalarName=swift_deletedMethodError "${short[@]}"
mkdir -p .build/plugin
# In one step, so that a process which has the old file mapped keeps it whole.
strip --strip-unneeded -o .build/plugin/.new .build/release-plugin/release/libgstswifth26x.so
mv -f .build/plugin/.new .build/plugin/libgstswifth26x.so
ls -l .build/plugin/libgstswifth26x.so
