#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Makes the manual pages of .build/tool/h26x, one for the program and one for each of its commands, out of what --help
# says, in .build/tool/man1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program=$PWD/.build/tool/h26x
version=$(sed -n 's/.*text: StaticString = "\(.*\)"/\1/p' Sources/H26x/ReleaseVersion.swift)
manual=.build/tool/man1
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
rm -rf "$manual"
mkdir -p "$manual"

page() { # NAME COMMAND...
  local name=$1
  shift
  # In the words that help2man looks for.
  printf '#!/bin/sh\n%s "$@" | sed "s/^OVERVIEW: //; s/^USAGE:/Usage:/; s/^\\([A-Z]\\)\\([A-Z]*\\):\$/\\1\\L\\2:/"\n' "$*" \
    > "$commands/$name"
  chmod +x "$commands/$name"
  help2man --no-info --no-discard-stderr --version-string "$version" --source "gst-swift-h26x $version" \
    --name "$("$commands/$name" --help | sed '/^$/q' | paste -s -d ' ')" "$commands/$name" |
    gzip -9 -n > "$manual/$name.1.gz"
}
page h26x "$program"
for command in $("$program" --help | sed -n '/^SUBCOMMANDS:/,/^$/s/^  \([a-z]\+\) .*/\1/p'); do
  page "h26x-$command" "$program" "$command"
done
