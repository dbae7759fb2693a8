// SPDX-License-Identifier: MPL-2.0
#pragma once
#include <libavcodec/avcodec.h>
