#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Builds Examples/.build/browser/access-units.html: H26x and Browser.swift, compiled to WebAssembly as Embedded Swift
# with the plain toolchain, in a page that needs no server.
#
#   Examples/Browser/build.sh      half a minute
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

out=Examples/.build/browser
mkdir -p "$out"
tools=$(dirname "$(readlink -f "$(command -v swiftc)")")
target=wasm32-unknown-none-wasm

compile() { # MODULE FILE...
  swiftc -target "$target" -wmo -parse-as-library -O -swift-version 6 -package-name "$1" \
    -enable-experimental-feature Embedded -enable-experimental-feature Extern -enable-experimental-feature Lifetimes \
    -I "$out" -module-name "$1" -emit-module -emit-module-path "$out/$1.swiftmodule" -c "${@:2}" -o "$out/$1.o"
}
mapfile -t sources < <(find Sources/H26x -name '*.swift' | sort)
compile H26x "${sources[@]}"
compile Browser Examples/Browser/Browser.swift
# The few functions of a C library that Swift's standard library calls.
"$tools/clang" -target "$target" -O2 -nostdlib -ffreestanding -fno-builtin -mbulk-memory \
  -c Sources/Inspector/libc.c -o "$out/libc.o"
resources=$(swiftc -print-target-info -target "$target" | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
"$tools/wasm-ld" --no-entry --gc-sections --strip-all -z stack-size=1048576 --stack-first -o "$out/h26x.wasm" \
  "$out"/{Browser,H26x,libc}.o "$resources/embedded/$target/libswiftUnicodeDataTables.a"

page=Examples/Browser/page.html
{
  sed '/^@WASM@$/,$d' "$page"
  base64 -w 0 "$out/h26x.wasm"
  sed '1,/^@WASM@$/d' "$page"
} > "$out/access-units.html"
ls -l "$out/access-units.html"
