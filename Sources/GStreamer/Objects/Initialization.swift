// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// Whether GStreamer is initialized, which asking for it does. Before that its types do not exist, so everything that
/// makes an object asks first.
///
/// While GStreamer initializes, it may load a plugin with this module, which must not wait for the end of that: its
/// types exist by then.
let isGStreamerReady: Bool =
  unsafe gst_is_initialized() != 0 || g_type_from_name("GstCaps") != 0 || gst_init_check(nil, nil, nil) != 0
