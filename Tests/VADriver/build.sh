#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Builds .build/va/h26xtest_drv_video.so, the VA-API driver that tests of hardware decoding load.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mkdir -p .build/va
target=.build/va/h26xtest_drv_video.so
[[ $target -nt Tests/VADriver/driver.c ]] && exit
clang -std=gnu11 -Wall -Wextra -Werror -O1 -g -shared -fPIC -o "$target.new" Tests/VADriver/driver.c
mv -f "$target.new" "$target"
