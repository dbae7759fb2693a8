#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Makes .build/static/swift, a copy of the toolchain's static runtime whose standard library the linker can trim, and
# prints the folder.
#
# In the toolchain's own, every public function is marked SHF_GNU_RETAIN, for programs that load code later; 1 MB of this
# plugin's 7.2 MB was functions that nobody calls. Prints nothing where the toolchain is laid out differently; the plugin
# is then 1 MB larger.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

resources=$(swiftc -print-target-info -static-stdlib | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
archive=$resources/linux/libswiftCore.a
archiver=$(dirname "$(readlink -f "$(command -v swiftc)")")/llvm-ar
[[ -f $archive && -x $archiver ]] && command -v perl > /dev/null || exit 0

folder=$PWD/.build/static/swift
if [[ ! -f $folder/linux/libswiftCore.a || $archive -nt $folder/linux/libswiftCore.a ]]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  ln -s "$resources"/* "$folder"
  rm "$folder/linux"
  mkdir "$folder/linux"
  ln -s "$resources"/linux/* "$folder/linux"
  rm "$folder/linux/libswiftCore.a"
  (
    cd "$folder"
    "$archiver" x "$archive" Swift.o
    # Clears SHF_GNU_RETAIN (0x200000) in the section headers of a 64-bit ELF file, except for the sections swift5_*,
    # which the runtime finds by their names.
    perl -e '
      local $/; binmode STDIN; binmode STDOUT; my $file = <STDIN>;
      my $headers = unpack("Q<", substr($file, 0x28, 8));
      my ($size, $count, $names) = unpack("S<3", substr($file, 0x3a, 6));
      $count ||= unpack("Q<", substr($file, $headers + 0x20, 8));
      $names = unpack("L<", substr($file, $headers + 0x28, 4)) if $names == 0xffff;
      my $strings = unpack("Q<", substr($file, $headers + $names * $size + 0x18, 8));
      for (my $at = $headers; $count-- > 0; $at += $size) {
        my ($name, undef, $flags) = unpack("L<2Q<", substr($file, $at, 16));
        next if substr($file, $strings + $name, 6) eq "swift5";
        substr($file, $at + 8, 8) = pack("Q<", $flags & ~0x200000);
      }
      print $file;' < Swift.o > Swift.lean
    mv Swift.lean Swift.o
    cp "$archive" libswiftCore.a
    "$archiver" r libswiftCore.a Swift.o
    rm Swift.o
    mv libswiftCore.a linux/
  )
fi
printf '%s\n' "$folder"
