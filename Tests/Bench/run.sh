#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Measures this plugin's pipelines beside stock GStreamer's and FFmpeg's; see bench.py --help.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
plugin/dependencies.sh --bench
plugin/build.sh
Tests/Bench/make-media.sh
# The pure conversion beside memcpy; built apart, so that its flags leave the plugin's build alone.
swift run -c release --scratch-path .build/bench-packaging bench-packaging
exec python3 Tests/Bench/bench.py "$@"
