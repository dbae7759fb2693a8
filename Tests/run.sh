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
# A GStreamer-CRITICAL or GLib-CRITICAL ends the process, also in the programs that the tests start.
export G_DEBUG="${G_DEBUG:-fatal-criticals}"
# Sanitized objects in a folder of their own, so that the plain ones stay as they are.
for option in "$@"; do
  [[ $option == --sanitize=* ]] && set -- "$@" --scratch-path ".build/${option#--sanitize=}"
  case $option in
  # The leak checker does not find pointers that Swift stores in the spare bits of enums, and reports what GLib never
  # frees. GStreamer's leak tracer looks for leaks instead, below and in LeakTests.
  --sanitize=address) export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=0}" ;;
  # GLib, GStreamer and libavcodec are built without the sanitizer, which does not see their atomics: accesses in their
  # code are ignored. Their locks are seen, see Tests/ThreadSanitizer. GLib's slice allocator reuses memory in another
  # thread without the sanitizer's knowledge; malloc does not.
  --sanitize=thread) export TSAN_OPTIONS="${TSAN_OPTIONS:-ignore_noninstrumented_modules=1}" G_SLICE=always-malloc ;;
  esac
done

# swift test. With CI set, tests that failed beside many others are printed and run once more, alone; the result is that
# of the second run. A run that crashed is not repeated.
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

# SoakTests measure their process's memory: no other test may run in it, and no sanitizer, which holds freed memory.
[[ " $* " == *" --sanitize="* ]] || SOAK_ACCESS_UNITS=4000 swift test --filter SoakTests "$@"
# The harness tests under GStreamer's leak tracer, which lists the objects that are alive at the end.
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
