#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Runs third-party applications on the plugin and on stock elements, and compares their output: WebKitGTK in
# its sandbox, playbin with and without wrapped pads, GStreamer Editing Services, Qt, OpenCV, Totem's thumbnailer in
# bubblewrap, and an RTSP server with ffmpeg as its client. Installs what is missing and builds the plugin. An application
# that the system does not have is skipped.
#
#   Tests/Scripts/Applications/run.sh [NAME OF A TEST…]     such as test_applications.ApplicationTests.test_qt6
#
#   PLUGIN_FOLDER=FOLDER  the plugin to test in place of .build/plugin, which is not built then
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

plugin/dependencies.sh --applications
if [[ -n ${PLUGIN_FOLDER:-} ]]; then
  PLUGIN_FOLDER=$(realpath "$PLUGIN_FOLDER")
  export PLUGIN_FOLDER
else
  plugin/build.sh
fi

cd Tests/Scripts/Applications
if (($#)); then exec /usr/bin/python3 -B -m unittest -v "$@"; fi
exec /usr/bin/python3 -B -m unittest -v test_applications
