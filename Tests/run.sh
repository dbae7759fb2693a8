#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Installs what is missing, builds everything and runs the tests, in sets, two at a time; the last lines are a summary of
# the sets.
#
#   Tests/run.sh [--all | --fast] [--sanitize=address|thread] [OPTIONS OF swift test]
#
#   (nothing)   every feature
#   --all       also long loops and whole tables, on the plugin and program that users install
#   --fast      libraries and elements, without the slow suites: two minutes after the build
#   --filter …  or other options of swift test: the tests that they choose, in one set
#
#   TEST_LIMIT=3600  the seconds after which a set that does not end is stopped
#
# The conformance vectors are read from the folder that CONFORMANCE_VECTORS names, or from ../shared/vectors.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Suites are chosen by name, because `swift test` 6.3 does not choose by tags. Suites that need real time, for example
# for a sender that does not wait, are called RealTime…. They run two at a time, after all others.
real_time='RealTime[A-Za-z]*Tests'
reception='RealTimeReceptionTests'
# Suites that repeat much, take turns at random, or measure: make test-fast leaves them out.
slow='(Soak|LostProcess|LostSession|Damage|InexactRecovery|FormatSwitch|Life|Many|Concurrency|RestartRace|Reentrance|SecondRun|SeekWhilePlaying|ParserEnd|Conformance|MuxingTable|Undamaged|Hardware[A-Za-z]*)Tests'
# Suites of the decoder elements, their conversions among them, and those of their properties.
decoders='ElementsTests\.(H264Decode[A-Za-z]*|H265Decode|H265Field|KeyUnitField|AccurateSeekDecode|SampleFormat|FormatSwitch|DirectRendering|LowDelay|MaxErrors|OutputCorrupt|SessionRetries|SkipFrame|StdCompliance|ThreadType)Tests'
# Devices in software, whose tests take turns, and tests of all that libavcodec logs in their process.
apart='^VideoDecodingTests\.(Hardware[A-Za-z]*|Log)Tests'
# SoakTests measure their process's memory: no other test may run in it.
soak='SoakTests'

scope=usual
case ${1:-} in --all) scope=all && shift ;; --fast) scope=fast && shift ;; esac
fast=
[[ $scope != fast ]] || fast=1

plugin/dependencies.sh && Tests/VADriver/build.sh || exit
if (($#)); then
  plugin/build.sh || exit
elif [[ $scope == all ]]; then
  plugin/build.sh --tool || exit
  export H26X=$PWD/.build/tool/h26x
else
  # Plugin, codec service and program as built for the tests.
  export PLUGIN_FOLDER=$PWD/.build/tested/plugin H26X=$PWD/.build/tested/plugin/h26x
  # Tests with the trait .exhaustive are left out, and tables are sampled.
  export TEST_SCOPE=usual
fi
# A GStreamer-CRITICAL or GLib-CRITICAL ends the process, also in the programs that the tests start.
export G_DEBUG="${G_DEBUG:-fatal-criticals}"
options=()
# Optimized libraries with assertions, see Package.swift. In a folder of their own, so that `swift build` and `swift test`
# keep their debug build. Debugging symbols would take a fifth of the compiler's time, and a failed test names its line
# without them.
if ((!$#)); then
  export TESTED_RELEASE=1
  options+=(-c release -debug-info-format none --scratch-path .build/tested)
fi
sanitizer=
for option in "$@"; do
  # Sanitized objects in a folder of their own, so that the plain ones stay as they are.
  [[ $option == --sanitize=* ]] && sanitizer=${option#--sanitize=} && options+=("$option" --scratch-path ".build/$sanitizer")
done
case $sanitizer in
# The leak checker does not find pointers that Swift stores in the spare bits of enums, and reports what GLib never
# frees. GStreamer's leak tracer looks for leaks instead, below and in LeakTests.
address) export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=0}" ;;
# GLib, GStreamer and libavcodec are built without the sanitizer, which does not see their atomics: accesses in their
# code are ignored. Their locks are seen, see Tests/ThreadSanitizer. GLib's slice allocator reuses memory in another
# thread without the sanitizer's knowledge; malloc does not.
thread) export TSAN_OPTIONS="${TSAN_OPTIONS:-ignore_noninstrumented_modules=1}" G_SLICE=always-malloc ;;
esac
# See plugin/build.sh. The tests themselves hash at random.
SWIFT_DETERMINISTIC_HASHING=1 swift build --build-tests "${options[@]}" || exit
if [[ -n ${PLUGIN_FOLDER:-} ]]; then
  mkdir -p "$PLUGIN_FOLDER"
  for file in h26x-codec libgstswifth26x.so h26x; do
    cp "$(swift build --show-bin-path "${options[@]}")/$file" "$PLUGIN_FOLDER/.new" && mv "$PLUGIN_FOLDER"/{.new,$file} || exit
  done
fi
# What programs write into the home folder.
export GST_REGISTRY=$PWD/.build/registry.bin PARALLEL_HOME=$PWD/.build/parallel XDG_CACHE_HOME=$PWD/.build/cache
# GStreamer lists its plugins by a child process. No test must do that beside tests that change how children end.
gst-inspect-1.0 > /dev/null

# Results of the sets: their logs, a summary, and `failed` if one failed.
work=$(mktemp -d)

# Runs a set of tests: its name, and options of swift test. A test that never ends is ended after an hour, and named.
#
# If a set fails, its failed tests run once more, alone. The report then shows whether they depend on their neighbors.
run_set() {
  local name=$1 status=0 start=$SECONDS failed again log="$work/$1.log" named
  shift
  echo "== $name"
  timeout --foreground --kill-after=30 "${TEST_LIMIT:-3600}" swift test --ignore-lock --skip-build "${options[@]}" "$@" 2>&1 |
    tee "$log" || status=$?
  if ((status == 0)); then
    summarize "$name: passed in $((SECONDS - start)) s"
    return
  fi
  touch "$work/failed"
  summarize "$name: FAILED after $((SECONDS - start)) s (status $status)"
  # A test has its function's name, or a displayed name in quotation marks.
  if ! grep -q '[✔✘] Test run with ' "$log"; then
    mapfile -t named < <(comm -23 <(sed -nE 's/^.* Test (\w+\(.*\)|".*") started\.$/\1/p' "$log" | sort -u) \
      <(sed -nE 's/^.* Test (\w+\([^)]*\)|"[^"]*") .*(passed|failed) after .*/\1/p' "$log" | sort -u))
    summarize "${named[@]/#/  had not ended: }"
    # The process ended: with what GLib, the Swift runtime or the system said last.
    mapfile -t named < <(grep -aE 'CRITICAL|Fatal error|signal code|ERROR \*\*|terminate called' "$log" | tail -5)
    summarize "${named[@]/#/  said: }"
    return
  fi
  mapfile -t named < <(sed -nE 's/^.*✘ Test (\w+\(.*\)|".*") .*recorded an issue.* at (.*)$/\1 at \2/p' "$log" | sort -u)
  summarize "${named[@]:0:20}"
  failed=$(sed -nE 's/^.*✘ Test ([A-Za-z0-9_]+)\(.* recorded an issue.*$/\1/p' "$log" | sort -u)
  [[ -n $failed ]] || return
  echo "== $name: once more, alone: "$failed
  again="fails alone, too"
  swift test --ignore-lock --skip-build "${options[@]}" --no-parallel --filter "/($(paste -sd '|' <<<"$failed"))\(" \
    && again="passes alone, so that it depends on its neighbours"
  summarize "  $(paste -sd ' ' <<<"$failed"): $again"
}

summarize() { printf '%s\n' "$@" >> "$work/summary"; }

run_libraries() {
  run_set "libraries" --filter '^(H26x|StreamReport|AVFormat|CodecLink|CodecService|VideoDecoding|VideoFiles|Documentation)Tests\.' \
    --skip "$apart" "${left_out[@]}"
}

# The rest of the libraries, in processes of their own. Slices balance the time of the sets.
run_more_libraries() {
  run_set "slices" --filter '^(Slices)Tests\.' "${left_out[@]}"
  run_set "hardware and logs" --filter "$apart" "${left_out[@]}"
}

# Sessions and decoder elements once more, each with its codec in a process of its own.
run_isolated() {
  local suites="VideoDecodingTests\.(DecompressionSession|Session|Start|H265Session|Vector)Tests|$decoders"
  [[ $scope != usual ]] || suites='VideoDecodingTests\.(DecompressionSession|H265Session)Tests|ElementsTests\.(H264DecodeError|H265Decode)Tests'
  [[ -n $sanitizer ]] || TEST_ISOLATION=process run_set "isolated codecs" --filter "^($suites)" "${left_out[@]}"
}

run_elements() {
  # The harness tests, under GStreamer's leak tracer, which lists the objects that are alive at the end.
  if [[ -z $sanitizer ]]; then
    leaks=$PWD/.build/leaks.log
    rm -f "$leaks"
    export GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 GST_DEBUG_NO_COLOR=1 GST_DEBUG_FILE=$leaks
  fi
  run_set "elements" --filter '^(Elements|GStreamer)Tests\.' "${left_out[@]}"
  if [[ -z $sanitizer ]]; then
    unset GST_TRACERS GST_DEBUG GST_DEBUG_NO_COLOR GST_DEBUG_FILE
    if ! grep -q 'object-alive.class' "$leaks"; then
      summarize "leaks: FAILED: the leak tracer was not there"
      touch "$work/failed"
    elif grep 'object-alive, type-name=(string)[A-Z]' "$leaks"; then
      summarize "leaks: FAILED: the objects above outlive the harness tests"
      touch "$work/failed"
    fi
  fi
}

run_fast_elements() {
  run_elements
  run_isolated
  run_more_libraries
}

run_programs() {
  run_set "programs" --filter '^(Pipeline|Tool)Tests\.' "${left_out[@]}"
  run_more_libraries
  # In a usual run the programs end before the elements.
  [[ $scope != usual ]] || run_isolated
  [[ -n $sanitizer || $scope != all ]] || SOAK_ACCESS_UNITS=${SOAK_ACCESS_UNITS:-4000} run_set "soak" --filter "$soak"
}

rest=()
for option in "$@"; do [[ $option == --sanitize=* ]] || rest+=("$option"); done
if ((${#rest[@]})); then
  trap 'rm -rf "$work"' EXIT
  run_set "tests" "${rest[@]}"
else
  left_out=(--skip "$real_time")
  [[ -z $fast ]] || left_out+=(--skip "$slow")
  # A sanitizer holds freed memory, so that nothing can be measured: then SoakTests run among the others.
  [[ -n $sanitizer ]] || left_out+=(--skip "$soak")
  # Two sets at a time, because each has tests that wait, and ends with some that take turns. The output of the set in
  # the background is printed after the others.
  background=run_programs
  [[ -z $fast ]] || background=run_fast_elements
  set -m # A process group of its own, which an interrupt ends too.
  "$background" < /dev/null > "$work/background" 2>&1 &
  group=$!
  set +m
  trap 'kill -- "-$group" 2> /dev/null; rm -rf "$work"' EXIT
  run_libraries
  if [[ -z $fast ]]; then
    [[ $scope != all ]] || run_isolated
    run_elements
  fi
  wait "$group" || touch "$work/failed"
  cat "$work/background"
  if [[ -z $fast ]]; then
    set -m
    run_set "reception" --no-parallel --filter "$reception" < /dev/null > "$work/background" 2>&1 &
    group=$!
    set +m
    run_set "real time" --no-parallel --filter "$real_time" --skip "$reception"
    wait "$group" || touch "$work/failed"
    cat "$work/background"
  fi
fi
echo
cat "$work/summary"
[[ ! -e $work/failed ]]
