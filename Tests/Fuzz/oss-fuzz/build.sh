#!/bin/bash -eu
# SPDX-License-Identifier: MPL-2.0
# Builds the subjects that need no plugin of GStreamer, with their seeds, into $OUT. OSS-Fuzz runs it in the folder of
# the repository, in the image that the Dockerfile makes. It runs anywhere:
#
#   OUT=/tmp/out Tests/Fuzz/oss-fuzz/build.sh [SUBJECT...]
cd "$(git rev-parse --show-toplevel)/Tests/Fuzz"

if (($# == 0)); then
  # The others decode: what libavcodec does is fuzzed where libavcodec is.
  set -- $(ls Subjects | grep -vE -- '(-element|-file|-stream|session|^codec-.*)$')
fi
# In a folder of its own: run.sh builds with other flags.
flags=(
  --scratch-path .build/oss-fuzz -c release
  -Xswiftc "-sanitize=fuzzer,${SANITIZER:-address}" -Xswiftc -use-ld=lld -Xswiftc -static-stdlib
)
binaries=$(swift build "${flags[@]}" --show-bin-path)
swift build "${flags[@]}" --product make-seeds
for subject in "$@"; do swift build "${flags[@]}" --product "$subject"; done

mkdir -p "$OUT"
seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
"$binaries/make-seeds" "$seeds" ../Media/*.h264 ../Media/*.h265
for subject in "$@"; do
  cp "$binaries/$subject" "$OUT/$subject"
  [[ ! -d FailCases/$subject ]] || { mkdir -p "$seeds/$subject" && cp FailCases/"$subject"/* "$seeds/$subject/"; }
  [[ ! -d $seeds/$subject ]] || (cd "$seeds/$subject" && python3 -m zipfile -c "$OUT/${subject}_seed_corpus.zip" ./*)
  printf '[libfuzzer]\nmax_len = 16384\ntimeout = 20\n' > "$OUT/$subject.options"
done
