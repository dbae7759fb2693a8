#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Prints a software bill of materials (SPDX 2.3, JSON) of a package: what is linked into its files, in which version and
# under which license, and the packages that it needs.
#
#   plugin/sbom.sh NAME VERSION DATE ROOT DEPENDS
#
# DATE: of the release, YEAR-MONTH-DAY. ROOT: the folder with the package's files. DEPENDS: as in debian/control. The
# same files give the same document.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
(($# == 5)) || { sed -n '6s/^# *//p' "$0" >&2; exit 2; }
name=$1 version=$2 date=$3 root=$4 depends=$5

packages=() relationships=() files=() contained=()
# Text in JSON, for what has no control characters.
text() {
  local value=${1//\\/\\\\}
  printf '"%s"' "${value//\"/\\\"}"
}
relate() { # FROM KIND TO
  relationships+=("{\"spdxElementId\": \"SPDXRef-$1\", \"relationshipType\": \"$2\", \"relatedSpdxElement\": \"SPDXRef-$3\"}")
}
component() { # ID NAME VERSION LICENSE ORIGIN PURL
  local reference=
  [[ -z $6 ]] || reference=", \"externalRefs\": [{\"referenceCategory\": \"PACKAGE-MANAGER\", \"referenceType\": \"purl\", \"referenceLocator\": $(text "$6")}]"
  packages+=("{\"SPDXID\": \"SPDXRef-$1\", \"name\": $(text "$2"), \"versionInfo\": $(text "$3"), \"downloadLocation\": $(text "$5"), \"filesAnalyzed\": false, \"licenseConcluded\": $(text "$4"), \"licenseDeclared\": $(text "$4"), \"copyrightText\": \"NOASSERTION\"$reference}")
}

# What the package's files are.
number=0
checksums=()
while IFS= read -r -d '' file; do
  id=File-$((++number))
  sha1=$(sha1sum "$root/$file" | cut -d ' ' -f 1) sha256=$(sha256sum "$root/$file" | cut -d ' ' -f 1)
  checksums+=("$sha1")
  files+=("{\"SPDXID\": \"SPDXRef-$id\", \"fileName\": $(text "./$file"), \"checksums\": [{\"algorithm\": \"SHA1\", \"checksumValue\": \"$sha1\"}, {\"algorithm\": \"SHA256\", \"checksumValue\": \"$sha256\"}], \"licenseConcluded\": \"NOASSERTION\", \"licenseInfoInFiles\": [\"NOASSERTION\"], \"copyrightText\": \"NOASSERTION\"}")
  contained+=("\"SPDXRef-$id\"")
done < <(cd "$root" && find . -type f -not -path './DEBIAN/*' -printf '%P\0' | LC_ALL=C sort -z)
code=$(printf '%s\n' "${checksums[@]}" | LC_ALL=C sort | tr -d '\n' | sha1sum | cut -d ' ' -f 1)
join() { local IFS=,; printf '%s' "$*"; }
home=https://github.com/gst-swift-h26x/gst-swift-h26x
packages+=("{\"SPDXID\": \"SPDXRef-Package\", \"name\": $(text "$name"), \"versionInfo\": $(text "$version"), \"supplier\": \"Organization: The gst-swift-h26x authors\", \"downloadLocation\": \"$home\", \"filesAnalyzed\": true, \"packageVerificationCode\": {\"packageVerificationCodeValue\": \"$code\"}, \"hasFiles\": [$(join "${contained[@]}")], \"licenseConcluded\": \"MPL-2.0\", \"licenseDeclared\": \"MPL-2.0\", \"licenseInfoFromFiles\": [\"NOASSERTION\"], \"copyrightText\": \"2026 The gst-swift-h26x authors\"}")
relate DOCUMENT DESCRIBES Package

# What is linked in.
swift=$(swiftc --version 2> /dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p')
component Swift swift-runtime "${swift:-NOASSERTION}" 'Apache-2.0 WITH Swift-exception' https://github.com/swiftlang/swift \
  "pkg:github/swiftlang/swift@swift-$swift-RELEASE"
relate Package STATIC_LINK Swift
if [[ -e .build/static/libstdc++.a ]]; then
  compiler=$(dpkg-query -S "$(readlink -f .build/static/libstdc++.a)" 2> /dev/null | cut -d : -f 1 || true)
  component CXX libstdc++ "$(dpkg-query -W -f '${Version}' "${compiler:-libstdc++6}" 2> /dev/null || echo NOASSERTION)" \
    'GPL-3.0-or-later WITH GCC-exception-3.1' https://gcc.gnu.org ''
  relate Package STATIC_LINK CXX
fi
# The program's Swift packages, as Package.resolved pins them; the plugin has none.
if [[ $name == h26x && -e Package.resolved ]]; then
  while read -r identity place revision pinned; do
    component "Swift-$identity" "$identity" "$pinned" 'Apache-2.0 WITH Swift-exception' "git+$place@$revision" \
      "pkg:github/${place#https://github.com/}@$pinned"
    relate Package STATIC_LINK "Swift-$identity"
  done < <(sed -n 's/.*"\(identity\|location\|revision\|version\)" : "\(.*\)".*/\2/p' Package.resolved | paste -d ' ' - - - -)
fi

# What it needs of the system: the first of each list of alternatives.
while IFS= read -r dependency; do
  dependency=${dependency%%|*}
  read -r needed _ <<< "$dependency"
  [[ -n $needed ]] || continue
  bound=$(sed -n 's/.*(\(.*\)).*/\1/p' <<< "$dependency")
  component "Debian-${needed//[^A-Za-z0-9.-]/-}" "$needed" "${bound:-any}" NOASSERTION NOASSERTION "pkg:deb/debian/$needed"
  relate Package DEPENDS_ON "Debian-${needed//[^A-Za-z0-9.-]/-}"
done < <(tr ',' '\n' <<< "$depends")

cat << END
{"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": $(text "$name-$version"),
"documentNamespace": "$home/spdx/$name-$version-$code",
"creationInfo": {"created": "${date}T00:00:00Z", "creators": ["Organization: The gst-swift-h26x authors", "Tool: plugin/sbom.sh"]},
"packages": [
$(IFS=$'\n'; printf '%s' "${packages[*]}" | sed '$!s/$/,/')
],
"files": [
$(IFS=$'\n'; printf '%s' "${files[*]}" | sed '$!s/$/,/')
],
"relationships": [
$(IFS=$'\n'; printf '%s' "${relationships[*]}" | sed '$!s/$/,/')
]}
END
