// SPDX-License-Identifier: MPL-2.0
#pragma once
#include <gst/gst.h>
#include <gst/base/base.h>
#include <gst/video/video.h>
