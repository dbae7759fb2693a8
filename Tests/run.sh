#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Installs what is missing, builds the plugin and runs every test; the last lines are the test runner's summary.
#
#   Tests/run.sh [--sanitize=address|thread] [OPTIONS OF swift test]
#
# The conformance vectors are read from the folder that CONFORMANCE_VECTORS names, or from ../shared/vectors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

plugin/dependencies.sh
plugin/build.sh
# What GStreamer's own functions refuse ends the process, in the programs that the tests start too.
export G_DEBUG="${G_DEBUG:-fatal-criticals}"
# Sanitized objects in a folder of their own, so that the plain ones stay as they are.
for option in "$@"; do
  [[ $option == --sanitize=* ]] && set -- "$@" --scratch-path ".build/${option#--sanitize=}"
  case $option in
  # Swift keeps pointers in enums' spare bits, where the leak checker does not find them, and GLib keeps types and
  # threads for good. Leaks are counted by GStreamer's own tracer, in LeakTests.
  --sanitize=address) export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=0}" ;;
  # GLib, GStreamer and libavcodec are built without it: what they do to memory by atomics is not seen, and left out.
  # What they hand over under a lock is seen, see Tests/ThreadSanitizer. GLib's own allocator gives memory from thread
  # to thread, malloc tells the sanitizer.
  --sanitize=thread) export TSAN_OPTIONS="${TSAN_OPTIONS:-ignore_noninstrumented_modules=1}" G_SLICE=always-malloc ;;
  esac
done

# swift test; where others share the machine (CI), a test that failed in the crowd may show that it passes alone. It is
# named, because it wants mending all the same. A run that died has no such second chance.
run_tests() {
  local log status=0 failed
  log=$(mktemp)
  swift test "$@" 2>&1 | tee "$log" || status=$?
  failed=$(sed -nE 's/^.*✘ Test ([A-Za-z0-9_]+)\(.* recorded an issue.*$/\1/p' "$log" | sort -u)
  if ((status != 0)) && [[ -n ${CI:-} && -n $failed ]] && grep -q '✘ Test run with ' "$log"; then
    echo "$0: once more, alone:" $failed
    status=0
    swift test --skip-build --no-parallel --filter "/($(paste -sd '|' <<<"$failed"))\(" || status=$?
  fi
  rm -f "$log"
  return "$status"
}

# It measures its process, so that nothing else may run in it, and no sanitizer, which keeps freed memory back.
[[ " $* " == *" --sanitize="* ]] || SOAK_ACCESS_UNITS=4000 swift test --filter SoakTests "$@"
# Every harness test, watched: GStreamer's tracer tells which objects are alive at the end, and warns of them, which
# is fatal in these tests.
if [[ " $* " != *" --"* ]]; then
  log=$PWD/.build/leaks.log
  status=0
  GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 GST_DEBUG_NO_COLOR=1 GST_DEBUG_FILE=$log \
    run_tests --filter '(Elements|GStreamer)Tests\.' || status=$?
  grep -q 'object-alive.class' "$log" || { echo "$0: the leak tracer was not there" >&2; exit 1; }
  if grep 'object-alive, type-name=(string)[A-Z]' "$log"; then
    echo "$0: the objects above outlive the harness tests" >&2
    exit 1
  fi
  ((status == 0)) || exit "$status"
fi
run_tests "$@"
