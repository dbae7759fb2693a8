#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Compiles H26x, Slices and StreamReport as Embedded Swift for 32-bit WebAssembly with the plain toolchain, and links
# them with the inspector's C library. Then runs the result, which splits a clip into access units and reports on it.
# This verifies that these modules need only the standard library, and that no 32-bit integer overflows.
#
#   Tests/Scripts/Embedded/run.sh        half a minute
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

work=$PWD/.build/embedded
mkdir -p "$work"

# The settings of Package.swift, and Embedded Swift. The unoptimized build checks most.
flags=(
  -target wasm32-unknown-none-wasm -wmo -parse-as-library -Onone -swift-version 6
  -enable-experimental-feature Embedded -enable-experimental-feature Extern -enable-experimental-feature Lifetimes
  -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature InternalImportsByDefault
  -enable-upcoming-feature ExistentialAny -strict-memory-safety -warnings-as-errors -package-name gst_swift_h26x
)
compile() { # MODULE FILE...
  local module=$1
  shift
  echo "Compiling $module for wasm32"
  swiftc "${flags[@]}" -I "$work" -module-name "$module" -emit-module -emit-module-path "$work/$module.swiftmodule" \
    -c "$@" -o "$work/$module.o"
}
sources() { find "Sources/$1" -name '*.swift' | sort; }

mapfile -t files < <(sources H26x)
compile H26x "${files[@]}"
mapfile -t files < <(sources Slices)
compile Slices "${files[@]}"
mapfile -t files < <(sources StreamReport)
compile StreamReport "${files[@]}"
compile Check Tests/Scripts/Embedded/Check.swift

for file in Tests/Scripts/Embedded/runtime Sources/Inspector/libc; do
  clang --target=wasm32-unknown-none-wasm -O2 -ffreestanding -fno-builtin -mbulk-memory -Wall -Werror \
    -c "$file.c" -o "$work/$(basename "$file").o"
done
resources=$(swiftc -print-target-info -target wasm32-unknown-none-wasm | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
# Without garbage collection, so that every call of a missing function, such as one of libm, fails here. Comparing
# strings, such as profile names, needs Unicode's tables.
wasm-ld --no-entry --no-gc-sections -z stack-size=1048576 -o "$work/check.wasm" \
  "$work"/{Check,StreamReport,Slices,H26x,runtime,libc}.o \
  "$resources/embedded/wasm32-unknown-none-wasm/libswiftUnicodeDataTables.a"

check() { # CLIP LINES
  local found
  found=$(wasmkit run "$work/check.wasm" < "$1")
  if [[ $found != "$2" ]]; then
    printf '%s: %s\n  expected  %s\n  found     %s\n' "$0" "$1" "$2" "$found" >&2
    exit 1
  fi
  echo "$1: $found"
}
check Tests/Media/clip.h264 'H.264: 60799 bytes, 62 access units, 317 NAL units, 3 random access points, 320 x 192
66 lines of JSON, 0 errors'
check Tests/Media/clip.h265 'H.265: 37566 bytes, 62 access units, 133 NAL units, 3 random access points, 320 x 184
67 lines of JSON, 0 errors'
