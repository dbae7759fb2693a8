#pragma once
#include <gst/pbutils/gstdiscoverer.h>

/* What a stream is, of which the discoverer has a class for each. */
static inline gboolean cgst_discovered_is_video(gpointer info) { return GST_IS_DISCOVERER_VIDEO_INFO(info); }
static inline gboolean cgst_discovered_is_audio(gpointer info) { return GST_IS_DISCOVERER_AUDIO_INFO(info); }
static inline gboolean cgst_discovered_is_subtitle(gpointer info) { return GST_IS_DISCOVERER_SUBTITLE_INFO(info); }
static inline gboolean cgst_discovered_is_container(gpointer info) { return GST_IS_DISCOVERER_CONTAINER_INFO(info); }
static inline gulong cgst_discoverer_connect(
    GstDiscoverer *discoverer, void (*found)(GstDiscoverer *, GstDiscovererInfo *, GError *, gpointer), gpointer data) {
  return g_signal_connect(discoverer, "discovered", G_CALLBACK(found), data);
}
