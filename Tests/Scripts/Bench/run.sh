#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Measures this plugin's pipelines, stock GStreamer's and FFmpeg; see bench.py --help.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
plugin/dependencies.sh --bench
plugin/build.sh
plugin/build.sh --tool
Tests/Scripts/Bench/make-media.sh
# The conversion of H26x compared with memcpy, in a scratch folder of its own because its build flags differ.
swift run -c release --scratch-path .build/bench-packaging bench-packaging
exec python3 Tests/Scripts/Bench/bench.py "$@"
