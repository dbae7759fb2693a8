#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Creates .build/tool/man1: manual pages of the program h26x and of each subcommand, from the
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

# Arguments before options, as in --help, and the lines of examples as they are.
arranged='{ line[NR] = $0 } END {
  for (i = 1; i <= NR; i++) if (line[i] ~ /^\.SS "Arguments:"/) first = i
  last = first
  if (first) while (last < NR && line[last + 1] !~ /^\.S[HS]/) last++
  for (i = 1; i <= NR; i++) {
    if (first && line[i] == ".SH OPTIONS") {
      put(".SH ARGUMENTS")
      for (j = first + 1; j <= last; j++) put(line[j])
    }
    if (!first || i < first || i > last) put(line[i])
  }
}
function put(text) {
  if (filled && text ~ /^\./) { print ".fi"; filled = 0 }
  print text
  if (text == ".IP") { print ".nf"; filled = 1 }
}'

page() { # NAME COMMAND...
  local name=$1
  shift
  # help2man expects different headings from swift-argument-parser's, and unbroken lines of examples.
  printf '#!/usr/bin/env bash\nCOLUMNS=500 %s"$@" | sed "s/^OVERVIEW: //; s/^USAGE:/Usage:/; s/^\\([A-Z]\\)\\([A-Z]*\\):\$/\\1\\L\\2:/"\n' "$(printf '%q ' "$@")" \
    > "$commands/$name"
  chmod +x "$commands/$name"
  # The path of the script must not reach help2man, which does not quote it.
  cd "$commands"
  [[ -n $("./$name" --help) ]] || { echo "$0: no help from: $*" >&2; exit 1; }
  help2man --no-info --no-discard-stderr --version-string "$version" --source "gst-swift-h26x $version" \
    --name "$("./$name" --help | sed '/^$/q' | paste -s -d ' ')" "./$name" |
    awk "$arranged" | gzip -9 -n > "$manual/$name.1.gz"
}
page h26x "$program"
for command in $("$program" --help | sed -n '/^SUBCOMMANDS:/,/^$/s/^  \([a-z]\+\) .*/\1/p'); do
  page "h26x-$command" "$program" "$command"
done
