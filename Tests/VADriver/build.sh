#!/usr/bin/env bash
# SPDX-License-Identifier: MPL-2.0
# Builds .build/va/h26xtest_drv_video.so, the VA-API driver that tests of hardware decoding load.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mkdir -p .build/va
target=.build/va/h26xtest_drv_video.so
[[ -e $target && -z $(find Tests/VADriver -newer "$target") ]] && exit
clang -std=gnu11 -Wall -Wextra -Werror -O1 -g -shared -fPIC -fvisibility=hidden -o "$target.new" Tests/VADriver/*.c
mv -f "$target.new" "$target"
