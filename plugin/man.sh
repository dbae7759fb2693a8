#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Makes .build/tool/man1: the manual pages of the program h26x, one for it and one for each of its subcommands, from the
# output of --help.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program=$PWD/.build/tool/h26x
version=$(sed -n 's/.*text: StaticString = "\(.*\)"/\1/p' Sources/H26x/ReleaseVersion.swift)
manual=$PWD/.build/tool/man1
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
rm -rf "$manual"
mkdir -p "$manual"

page() { # NAME COMMAND...
  local name=$1
  shift
  # help2man expects other headings than swift-argument-parser writes.
  printf '#!/usr/bin/env bash\n%s"$@" | sed "s/^OVERVIEW: //; s/^USAGE:/Usage:/; s/^\\([A-Z]\\)\\([A-Z]*\\):\$/\\1\\L\\2:/"\n' "$(printf '%q ' "$@")" \
    > "$commands/$name"
  chmod +x "$commands/$name"
  # The path of the script must not reach help2man, which does not quote it.
  cd "$commands"
  [[ -n $("./$name" --help) ]] || { echo "$0: no help from: $*" >&2; exit 1; }
  help2man --no-info --no-discard-stderr --version-string "$version" --source "gst-swift-h26x $version" \
    --name "$("./$name" --help | sed '/^$/q' | paste -s -d ' ')" "./$name" |
    gzip -9 -n > "$manual/$name.1.gz"
}
page h26x "$program"
for command in $("$program" --help | sed -n '/^SUBCOMMANDS:/,/^$/s/^  \([a-z]\+\) .*/\1/p'); do
  page "h26x-$command" "$program" "$command"
done
