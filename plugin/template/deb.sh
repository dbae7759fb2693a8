#!/usr/bin/env bash
# Builds .build/deb/gstreamer1.0-brighten_VERSION_ARCHITECTURE.deb for the Debian or Ubuntu release that it runs on.
# Needs dpkg-dev. Version, description and license come from the plugin, in Sources/BrightenPlugin/Plugin.swift.
set -euo pipefail
umask 022
cd "$(dirname "${BASH_SOURCE[0]}")"

./build.sh
plugin=Sources/BrightenPlugin/Plugin.swift
version=$(sed -n 's/.*version: "\([^"]*\)".*/\1/p' "$plugin")
description=$(sed -n 's/.*name: "brighten", description: "\(.*\)", version:.*/\1/p' "$plugin")
description=${description//'\"'/'"'} description=${description//'\\'/'\'}
author=$(sed -n 's/.*author: "\(.*\)")$/\1/p' Sources/BrightenElements/Brighten.swift)
architecture=$(dpkg --print-architecture)

root=.build/deb/root
rm -rf .build/deb
folder=$(pkg-config --variable=pluginsdir gstreamer-1.0)
install -D -m 644 .build/plugin/libgstbrighten.so "$root$folder/libgstbrighten.so"
install -D -m 644 LICENSE "$root/usr/share/doc/gstreamer1.0-brighten/copyright"

# dpkg-shlibdeps finds the packages of the libraries that the plugin needs. It wants to be in a source package.
mkdir -p .build/deb/debian "$root/DEBIAN"
printf 'Source: gst-brighten\n\nPackage: any\nArchitecture: any\n' > .build/deb/debian/control
depends=$(cd .build/deb && dpkg-shlibdeps -O -xany "root$folder/libgstbrighten.so" 2> /dev/null |
  sed -n 's/^shlibs:Depends=//p')
cat > "$root/DEBIAN/control" << END
Package: gstreamer1.0-brighten
Version: $version
Architecture: $architecture
Maintainer: $author
Section: libs
Priority: optional
Depends: $depends
Description: $description
 A plugin for GStreamer with the element brighten.
END
find "$root" -type d -exec chmod 755 {} +
dpkg-deb --root-owner-group --build "$root" ".build/deb/gstreamer1.0-brighten_${version}_$architecture.deb"
rm -r "$root" .build/deb/debian
