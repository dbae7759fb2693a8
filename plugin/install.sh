#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Installs or removes the plugin, in GStreamer's plugin folder, the program h26x-codec, and, if it was built, the
# program h26x with its manual pages and completions for bash, zsh and fish.
#
#   plugin/install.sh install|uninstall
#
# PREFIX   install below PREFIX/lib/gstreamer-1.0 instead of GStreamer's own plugin folder, and the programs below
#          PREFIX/libexec, PREFIX/bin and PREFIX/share instead of /usr/local
# DESTDIR  put in front of the folders, for packagers
set -euo pipefail
# Everybody may read installed files, regardless of the caller's mask.
umask 022
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ -n ${PREFIX:-} ]]; then
  folder=$PREFIX/lib/gstreamer-1.0
else
  folder=$(pkg-config --variable=pluginsdir gstreamer-1.0)
fi
installed=${DESTDIR:-}$folder/libgstswifth26x.so
prefix=${DESTDIR:-}${PREFIX:-/usr/local}
# The plugin looks for it here. It is in nobody's PATH.
codec=$prefix/libexec/gst-swift-h26x/h26x-codec
program=$prefix/bin/h26x
manual=$prefix/share/man/man1
completions=(
  "bash:$prefix/share/bash-completion/completions/h26x" "zsh:$prefix/share/zsh/site-functions/_h26x"
  "fish:$prefix/share/fish/vendor_completions.d/h26x.fish"
)

case "${1:-}" in
  install)
    [[ -f .build/plugin/libgstswifth26x.so && -f .build/plugin/h26x-codec ]] ||
      { echo "$0: nothing built yet; run 'make plugin' first" >&2; exit 1; }
    install -D -m 755 .build/plugin/h26x-codec "$codec"
    install -D -m 644 .build/plugin/libgstswifth26x.so "$installed"
    echo "Installed $installed and $codec"
    if [[ -n ${PREFIX:-} ]]; then
      echo "GStreamer finds it with GST_PLUGIN_PATH=$folder"
    fi
    if [[ -x .build/tool/h26x ]]; then
      install -D -m 755 .build/tool/h26x "$program"
      install -D -m 644 -t "$manual" .build/tool/man1/h26x*.1.gz
      for completion in "${completions[@]}"; do
        mkdir -p "$(dirname "${completion#*:}")"
        .build/tool/h26x --generate-completion-script "${completion%%:*}" > "${completion#*:}"
      done
      echo "Installed $program"
    fi
    ;;
  uninstall)
    rm -f "$installed" "$codec" "$program" "$manual"/h26x.1.gz "$manual"/h26x-*.1.gz
    for completion in "${completions[@]}"; do rm -f "${completion#*:}"; done
    rmdir "$(dirname "$codec")" 2> /dev/null || true
    echo "Removed $installed, $codec and $program"
    ;;
  *) sed -n '3,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
