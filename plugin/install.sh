#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Copies the built plugin to where GStreamer looks for plugins, or removes it from there.
#
#   plugin/install.sh install|uninstall
#
# PREFIX   install below PREFIX/lib/gstreamer-1.0 instead of GStreamer's own plugin folder
# DESTDIR  put in front of the folder, for packagers
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ -n ${PREFIX:-} ]]; then
  folder=$PREFIX/lib/gstreamer-1.0
else
  folder=$(pkg-config --variable=pluginsdir gstreamer-1.0)
fi
installed=${DESTDIR:-}$folder/libgstswifth26x.so

case "${1:-}" in
  install)
    [[ -f .build/plugin/libgstswifth26x.so ]] || { echo "$0: nothing built yet; run 'make plugin' first" >&2; exit 1; }
    install -D -m 644 .build/plugin/libgstswifth26x.so "$installed"
    echo "Installed $installed"
    if [[ -n ${PREFIX:-} ]]; then
      echo "GStreamer finds it with GST_PLUGIN_PATH=$folder"
    fi
    ;;
  uninstall)
    rm -f "$installed"
    echo "Removed $installed"
    ;;
  *) sed -n '3,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
