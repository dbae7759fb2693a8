#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Tests the report page, the inspector and HLS playlists in headless Chromium. Compares the document with FFmpeg, and
# its statistics with the counts that x264 and x265 print. Installs missing packages and builds the page first.
#
#   Tests/Scripts/Report/run.sh [NAME OF A TEST…]
#
#   ALL_VECTORS=1     compares the documents of every conformance vector; otherwise of every tenth
#   H26X=PROGRAM      the program to test in place of .build/tool/h26x, which is not built then
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

plugin/dependencies.sh --page
[[ -n ${H26X:-} ]] || plugin/build.sh --tool
Sources/Inspector/build.sh

cd Tests/Scripts/Report
if (($#)); then exec python3 -B -m unittest -v "$@"; fi
exec python3 -B -m unittest -v test_report_page test_page_documents test_inspector test_browser_example test_segments \
  test_ffmpeg test_encoder_counts
