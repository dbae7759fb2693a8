#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Builds the plugin and h26x-codec of the last commit in two folders, and compares them byte by byte. Ten minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for folder in first another/of/another/length; do
  git clone --quiet . "$work/$folder"
  "$work/$folder/plugin/build.sh"
done
for file in libgstswifth26x.so h26x-codec; do
  cmp "$work/first/.build/plugin/$file" "$work/another/of/another/length/.build/plugin/$file"
  sha256sum "$work/first/.build/plugin/$file"
done
