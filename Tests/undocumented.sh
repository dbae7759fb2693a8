#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Lists the public declarations of the libraries that have no documentation, and fails where there is one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

found=$(git ls-files -z 'Sources/H26x/*.swift' 'Sources/VideoDecoding/*.swift' 'Sources/GStreamer/*.swift' \
  'Sources/StreamReport/*.swift' | xargs -0 awk '
  FNR == 1 { documented = 0 }
  /^ *\/\/\// { documented = 1; next }
  # An attribute on a line of its own stands between the two.
  /^ *@/ && !/(public|open) / { next }
  # What overrides has the documentation of what it overrides.
  /^ *(@[^ ]+ )*(nonisolated(\(unsafe\))? )?(public|open) / && !/public import|extension | override / {
    if (!documented) printf "%s:%d: %s\n", FILENAME, FNR, $0
  }
  { documented = 0 }')
[[ -z $found ]] || { printf '%s\n' "$found"; exit 1; }
