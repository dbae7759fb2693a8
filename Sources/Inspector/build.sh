#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Builds .build/inspector/inspector.html: the report page with H26x, Slices and StreamReport, which are compiled to WebAssembly
# as Embedded Swift. One file that needs no network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

plugin/dependencies.sh --inspector
tools=$(dirname "$(readlink -f "$(command -v swiftc)")")
out=.build/inspector
rm -rf "$out/sources"
mkdir -p "$out/sources"

# All sources become one module, so that all generics are specialised; imports of one another are removed.
cp -r Sources/H26x Sources/Slices Sources/StreamReport "$out/sources/"
find "$out/sources" -name '*.swift' -exec sed -i -E 's/^(public |package |internal )?import (H26x|Slices|Glibc)$//' {} +
mapfile -t sources < <(find "$out/sources" -name '*.swift')

swiftc -target wasm32-unknown-none-wasm -wmo -parse-as-library -O -swift-version 6 -package-name inspector \
  -enable-experimental-feature Embedded -enable-experimental-feature Extern -enable-experimental-feature Lifetimes \
  -module-name H26x -c "${sources[@]}" Sources/Inspector/Export.swift -o "$out/h26x.o"
"$tools/clang" -target wasm32-unknown-none-wasm -O2 -nostdlib -ffreestanding -fno-builtin -mbulk-memory \
  -c Sources/Inspector/libc.c -o "$out/libc.o"
"$tools/wasm-ld" --no-entry --gc-sections --strip-all -z stack-size=1048576 --stack-first \
  -o "$out/h26x.wasm" "$out/h26x.o" "$out/libc.o"

python3 Sources/Inspector/page.py "$out/h26x.wasm" "$out/inspector.html"
ls -l "$out/inspector.html"
