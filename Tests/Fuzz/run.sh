#!/bin/sh
# SPDX-License-Identifier: MPL-2.0
# Fuzzes every subject of this package, two at a time, after replaying its fail cases.
#
#   Tests/Fuzz/run.sh [--replay] [SUBJECT...]
#
#   SECONDS=30      how long each subject is fuzzed
#   JOBS=2          how many run at a time
#   --replay        only the seeds and the fail cases, without fuzzing
#
# The corpus grows in .build/corpus; a finding is left in .build/findings, and the exit status is 1.
set -eu
cd "$(dirname "$0")"

usage() { sed -n '3,11s/^# \{0,1\}//p' "$0"; }

# Runs one subject; the script calls itself with it.
one() {
  subject=$1
  mkdir -p ".build/corpus/$subject"
  log=.build/logs/$subject.log
  cases=
  [ ! -d "FailCases/$subject" ] || cases="FailCases/$subject"
  if [ -n "$REPLAY" ]; then limit=-runs=0; else limit=-max_total_time=$LENGTH; fi
  leaks=1
  case $subject in
  *-element)
    # Swift stores pointers in the spare bits of enums, and GStreamer never frees types and threads: leaks of elements
    # are found by the tests of the elements.
    leaks=0
    export ASAN_OPTIONS=detect_leaks=0
    ;;
  *-file)
    leaks=0
    export ASAN_OPTIONS=detect_leaks=0
    # These subjects need filesrc, which is in a plugin of GStreamer.
    unset GST_PLUGIN_SYSTEM_PATH_1_0
    export GST_REGISTRY="$PWD/.build/registry-$subject.bin"
    ;;
  esac
  if "$BINARIES/$subject" "$limit" -max_len=16384 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
      "-detect_leaks=$leaks" \
      "-artifact_prefix=.build/findings/$subject-" ".build/corpus/$subject" $cases >"$log" 2>&1
  then
    printf '%-20s ok       %s runs, coverage %s\n' "$subject" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
      "$(sed -n 's/.*cov: \([0-9]*\).*/\1/p' "$log" | tail -n 1)"
  else
    printf '%-20s FINDING  %s\n' "$subject" "$(grep -m 1 -E 'Fatal error|ERROR:|CRITICAL|WARNING \*\*' "$log" || tail -n 1 "$log")"
    sed -n 's/.*Test unit written to /  /p' "$log"
    return 1
  fi
}

replay=
case ${1-} in
-h | --help) usage; exit 0 ;;
--replay) replay=1; shift ;;
--one) one "$2"; exit ;;
-*) usage >&2; exit 2 ;;
esac
# A shell may set SECONDS itself: the value of the environment counts.
seconds=${FUZZ_SECONDS:-${SECONDS:-30}}
case $seconds in '' | *[!0-9]*) seconds=30 ;; esac
jobs=${JOBS:-2}
[ $# -gt 0 ] || set -- $(ls Subjects)

# A fail case is replayed by the subject of its folder's name. One without subject would be skipped in silence.
for folder in FailCases/*; do
  [ -d "Subjects/${folder#FailCases/}" ] || { echo "$0: $folder: there is no such subject" >&2; exit 1; }
done

# lld, because the system's linker cannot separate the coverage sections. DEBUG has memory that processes share taken for a
# device's, of which there is none.
SWIFT_DETERMINISTIC_HASHING=1 swift build -c release -Xswiftc -sanitize=fuzzer,address -Xswiftc -use-ld=lld \
  -Xswiftc -DDEBUG
binaries=$(swift build -c release --show-bin-path)

vectors=${CONFORMANCE_VECTORS:-../../../shared/vectors}
seeds=$(find ../Media "$vectors/h264" "$vectors/h265" -type f -size -60k \
  \( -name '*.264' -o -name '*.h264' -o -name '*.avc' -o -name '*.jsv' -o -name '*.h265' -o -name '*.hevc' \) \
  2>/dev/null || true)
mkdir -p .build/corpus .build/findings .build/logs
[ -z "$seeds" ] || "$binaries/make-seeds" .build/corpus $seeds

# Swift's own crash handler reads memory that AddressSanitizer guards; libFuzzer's report is enough.
export SWIFT_BACKTRACE=enable=no
# The elements under test are linked statically; other plugins would only take time to load.
export GST_PLUGIN_SYSTEM_PATH_1_0= GST_REGISTRY="$PWD/.build/registry.bin"
export BINARIES="$binaries" LENGTH="$seconds" REPLAY="$replay"

status=0
printf '%s\n' "$@" | xargs -P "$jobs" -n 1 ./run.sh --one || status=1
[ $status -eq 0 ] && echo "no finding" || echo "findings are in Tests/Fuzz/.build/findings, logs in Tests/Fuzz/.build/logs"
exit $status
