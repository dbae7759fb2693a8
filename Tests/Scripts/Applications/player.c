// SPDX-License-Identifier: MPL-2.0
// player URI PLAYER [wrap]: takes a file through scenarios, as gst-validate does, and prints what came of them: the
// pictures (time, duration, checksum), positions, caps, and issues.
//
// PLAYER: playbin, playbin3, uridecodebin, uridecodebin3.
//
// With wrap, every pad's chain, event, query, getrange and activatemode function is replaced by one that calls it, as
// GstValidate's pad monitors replace them. A seek that does not end is an error: LIMIT is far more than any needs.
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT (60 * GST_SECOND)

// The original pad function, and the state of the stream at the pad so far.
typedef struct {
  GstPadChainFunction chain;
  GstPadEventFunction event;
  GstPadEventFullFunction event_full;
  GstPadQueryFunction query;
  GstPadGetRangeFunction getrange;
  GstPadActivateModeFunction activatemode;
  GstCaps *caps;
  gboolean stream_started, has_segment, flushing, ended;
} Monitor;

static GQuark monitor_quark;
static GMutex lock;
static gint seek_number; // The last seek's, which what it causes must have.
static GHashTable *issues; // kind → Issue

typedef struct {
  guint count;
  char *place; // The last one's pad.
} Issue;

static void free_issue(gpointer data) {
  g_free(((Issue *)data)->place);
  g_free(data);
}

static void issue(const char *kind, GstPad *pad) {
  g_mutex_lock(&lock);
  Issue *found = g_hash_table_lookup(issues, kind);
  if (!found) g_hash_table_insert(issues, (gpointer)kind, found = g_new0(Issue, 1));
  found->count++;
  g_free(found->place);
  found->place = gst_object_get_path_string(GST_OBJECT(pad));
  g_mutex_unlock(&lock);
}

static Monitor *monitor_of(GstPad *pad) { return g_object_get_qdata(G_OBJECT(pad), monitor_quark); }

static void check_event(Monitor *monitor, GstPad *pad, GstEvent *event) {
  gint number = g_atomic_int_get(&seek_number);
  switch (GST_EVENT_TYPE(event)) {
  case GST_EVENT_STREAM_START:
    monitor->stream_started = TRUE;
    monitor->ended = FALSE;
    break;
  case GST_EVENT_CAPS: {
    GstCaps *caps;
    gst_event_parse_caps(event, &caps);
    if (!monitor->stream_started) issue("caps before stream-start", pad);
    if (monitor->caps && gst_caps_is_strictly_equal(monitor->caps, caps)) issue("caps repeated", pad);
    gst_caps_replace(&monitor->caps, caps);
    break;
  }
  case GST_EVENT_SEGMENT:
    if (!monitor->stream_started) issue("segment before stream-start", pad);
    if (number && gst_event_get_seqnum(event) != (guint32)number) issue("segment without its seek's number", pad);
    monitor->has_segment = TRUE;
    monitor->ended = FALSE;
    break;
  case GST_EVENT_FLUSH_START:
    if (monitor->flushing) issue("flush-start while flushing", pad);
    if (number && gst_event_get_seqnum(event) != (guint32)number) issue("flush-start without its seek's number", pad);
    monitor->flushing = TRUE;
    break;
  case GST_EVENT_FLUSH_STOP:
    if (!monitor->flushing) issue("flush-stop without flush-start", pad);
    if (number && gst_event_get_seqnum(event) != (guint32)number) issue("flush-stop without its seek's number", pad);
    monitor->flushing = FALSE;
    monitor->has_segment = FALSE;
    monitor->ended = FALSE;
    break;
  case GST_EVENT_EOS:
    if (!monitor->has_segment) issue("end without segment", pad);
    if (monitor->ended) issue("end twice", pad);
    monitor->ended = TRUE;
    break;
  default:
    break;
  }
}

static void check_buffer(Monitor *monitor, GstPad *pad) {
  GstPadTemplate *template = gst_pad_get_pad_template(pad);
  if (!monitor->has_segment) issue("buffer before segment", pad);
  if (monitor->ended) issue("buffer after the end", pad);
  // Elements whose template is ANY may come without caps.
  if (!monitor->caps && template && !gst_caps_is_any(GST_PAD_TEMPLATE_CAPS(template))) issue("buffer before caps", pad);
  gst_clear_object(&template);
}

static GstFlowReturn wrapped_chain(GstPad *pad, GstObject *parent, GstBuffer *buffer) {
  Monitor *monitor = monitor_of(pad);
  check_buffer(monitor, pad);
  return monitor->chain(pad, parent, buffer);
}

static gboolean wrapped_event(GstPad *pad, GstObject *parent, GstEvent *event) {
  Monitor *monitor = monitor_of(pad);
  if (GST_PAD_IS_SINK(pad)) check_event(monitor, pad, event);
  return monitor->event(pad, parent, event);
}

static GstFlowReturn wrapped_event_full(GstPad *pad, GstObject *parent, GstEvent *event) {
  Monitor *monitor = monitor_of(pad);
  check_event(monitor, pad, event);
  return monitor->event_full(pad, parent, event);
}

static gboolean wrapped_query(GstPad *pad, GstObject *parent, GstQuery *query) {
  return monitor_of(pad)->query(pad, parent, query);
}

static GstFlowReturn wrapped_getrange(GstPad *pad, GstObject *parent, guint64 offset, guint size, GstBuffer **buffer) {
  return monitor_of(pad)->getrange(pad, parent, offset, size, buffer);
}

static gboolean wrapped_activatemode(GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active) {
  Monitor *monitor = monitor_of(pad);
  if (!active) {
    gst_caps_replace(&monitor->caps, NULL);
    monitor->stream_started = monitor->has_segment = monitor->flushing = monitor->ended = FALSE;
  }
  return !monitor->activatemode || monitor->activatemode(pad, parent, mode, active);
}

static void free_monitor(gpointer data) {
  Monitor *monitor = data;
  gst_caps_replace(&monitor->caps, NULL);
  g_free(monitor);
}

static void wrap_pad(GstElement *element, GstPad *pad, gpointer data) {
  (void)element, (void)data;
  if (monitor_of(pad)) return;
  Monitor *monitor = g_new0(Monitor, 1);
  g_object_set_qdata_full(G_OBJECT(pad), monitor_quark, monitor, free_monitor);
  monitor->event = GST_PAD_EVENTFUNC(pad);
  monitor->event_full = GST_PAD_EVENTFULLFUNC(pad);
  monitor->query = GST_PAD_QUERYFUNC(pad);
  monitor->activatemode = GST_PAD_ACTIVATEMODEFUNC(pad);
  if (GST_PAD_IS_SINK(pad)) {
    monitor->chain = GST_PAD_CHAINFUNC(pad);
    if (monitor->chain) gst_pad_set_chain_function(pad, wrapped_chain);
    if (monitor->event_full)
      gst_pad_set_event_full_function(pad, wrapped_event_full);
    else
      gst_pad_set_event_function(pad, wrapped_event);
  } else {
    monitor->getrange = GST_PAD_GETRANGEFUNC(pad);
    if (monitor->getrange) gst_pad_set_getrange_function(pad, wrapped_getrange);
    gst_pad_set_event_function(pad, wrapped_event);
  }
  gst_pad_set_query_function(pad, wrapped_query);
  gst_pad_set_activatemode_function(pad, wrapped_activatemode);
}

static void wrap_element(GstElement *element) {
  g_signal_connect(element, "pad-added", G_CALLBACK(wrap_pad), NULL);
  GST_OBJECT_LOCK(element);
  GList *pads = g_list_copy_deep(element->pads, (GCopyFunc)(void (*)(void))gst_object_ref, NULL);
  GST_OBJECT_UNLOCK(element);
  for (GList *each = pads; each; each = each->next) wrap_pad(element, each->data, NULL);
  g_list_free_full(pads, gst_object_unref);
}

// The player, and what its sink saw since the last flush.
static GstElement *pipeline;
static gboolean wraps;
static GString *seen;
static GstVideoInfo info;
static GstSegment segment;
static gboolean segment_done;
static GCond changed;

static void element_added(GstBin *bin, GstBin *parent, GstElement *element, gpointer data) {
  (void)bin, (void)parent, (void)data;
  if (wraps) wrap_element(element);
}

static char *checksum(GstBuffer *buffer) {
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) return g_strdup("unmappable");
  GChecksum *sum = g_checksum_new(G_CHECKSUM_MD5);
  for (guint plane = 0; plane < GST_VIDEO_FRAME_N_PLANES(&frame); plane++) {
    const guint8 *row = GST_VIDEO_FRAME_PLANE_DATA(&frame, plane);
    for (gint line = 0; line < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, plane); line++) {
      g_checksum_update(sum, row, GST_VIDEO_FRAME_COMP_WIDTH(&frame, plane) * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, plane));
      row += GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane);
    }
  }
  gst_video_frame_unmap(&frame);
  char *text = g_strndup(g_checksum_get_string(sum), 12);
  g_checksum_free(sum);
  return text;
}

static GstPadProbeReturn sink_probe(GstPad *pad, GstPadProbeInfo *probe, gpointer data) {
  (void)data;
  g_mutex_lock(&lock);
  if (probe->type & GST_PAD_PROBE_TYPE_BUFFER) {
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(probe);
    char *sum = checksum(buffer);
    g_string_append_printf(
      seen, "  %" GST_TIME_FORMAT " %" GST_TIME_FORMAT " %" GST_TIME_FORMAT " %s%s\n",
      GST_TIME_ARGS(gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer))),
      GST_TIME_ARGS(gst_segment_to_running_time(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer))),
      GST_TIME_ARGS(GST_BUFFER_DURATION(buffer)), sum,
      GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_CORRUPTED) ? " corrupted" : "");
    g_free(sum);
  } else {
    GstEvent *event = GST_PAD_PROBE_INFO_EVENT(probe);
    if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
      g_string_truncate(seen, 0);
      segment_done = FALSE;
    }
    if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT_DONE) {
      segment_done = TRUE;
      g_cond_signal(&changed);
    }
    if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
      GstCaps *caps;
      gst_event_parse_caps(event, &caps);
      gst_video_info_from_caps(&info, caps);
      char *text = gst_caps_to_string(caps);
      g_string_append_printf(seen, "  %s\n", text);
      g_free(text);
    }
    if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) gst_event_copy_segment(event, &segment);
  }
  g_mutex_unlock(&lock);
  (void)pad;
  return GST_PAD_PROBE_OK;
}

static GstElement *make_sink(void) {
  GstElement *sink = gst_element_factory_make("fakesink", NULL);
  g_object_set(sink, "sync", FALSE, "enable-last-sample", FALSE, NULL);
  GstPad *pad = gst_element_get_static_pad(sink, "sink");
  gst_pad_add_probe(
    pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH, sink_probe, NULL,
    NULL);
  gst_object_unref(pad);
  return sink;
}

static void link_pad(GstElement *decoder, GstPad *pad, gpointer sink) {
  (void)decoder;
  GstPad *target = gst_element_get_static_pad(sink, "sink");
  if (!gst_pad_is_linked(target)) gst_pad_link(pad, target);
  gst_object_unref(target);
}

static void make_pipeline(const char *uri, const char *player) {
  GstElement *sink = make_sink();
  if (g_str_has_prefix(player, "playbin")) {
    pipeline = gst_element_factory_make(player, NULL);
    g_signal_connect(pipeline, "deep-element-added", G_CALLBACK(element_added), NULL);
    // Video alone (1).
    g_object_set(pipeline, "uri", uri, "video-sink", sink, "audio-sink", gst_element_factory_make("fakesink", NULL), NULL);
    gst_util_set_object_arg(G_OBJECT(pipeline), "flags", "video");
  } else {
    pipeline = gst_pipeline_new(NULL);
    g_signal_connect(pipeline, "deep-element-added", G_CALLBACK(element_added), NULL);
    GstElement *decoder = gst_element_factory_make(player, NULL);
    g_object_set(decoder, "uri", uri, NULL);
    gst_bin_add_many(GST_BIN(pipeline), decoder, sink, NULL);
    g_signal_connect(decoder, "pad-added", G_CALLBACK(link_pad), sink);
  }
}

static void show_seen(void) {
  g_mutex_lock(&lock);
  g_print("%s", seen->str);
  g_string_truncate(seen, 0);
  g_mutex_unlock(&lock);
}

// Waits for a message of these types.
static void await(GstMessageType types) {
  GstMessage *message = gst_bus_timed_pop_filtered(GST_ELEMENT_BUS(pipeline), LIMIT, types | GST_MESSAGE_ERROR);
  if (!message) {
    g_print("  no message\n");
    show_seen();
    exit(3);
  }
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError *error;
    char *debug;
    gst_message_parse_error(message, &error, &debug);
    g_print("  error: %s (%s)\n", error->message, debug);
    exit(3);
  }
  if (types & (GST_MESSAGE_EOS | GST_MESSAGE_SEGMENT_DONE)) g_print("  %s\n", GST_MESSAGE_TYPE_NAME(message));
  gst_message_unref(message);
}

static void set_state(GstState state) {
  if (gst_element_set_state(pipeline, state) == GST_STATE_CHANGE_FAILURE) g_print("  state change failed\n");
  if (state >= GST_STATE_PAUSED && gst_element_get_state(pipeline, NULL, NULL, LIMIT) != GST_STATE_CHANGE_SUCCESS) {
    await(0);
    exit(3);
  }
}

static void show_position(void) {
  gint64 position = -1, duration = -1;
  gst_element_query_position(pipeline, GST_FORMAT_TIME, &position);
  gst_element_query_duration(pipeline, GST_FORMAT_TIME, &duration);
  g_print("  position %" GST_TIME_FORMAT " of %" GST_TIME_FORMAT "\n", GST_TIME_ARGS(position), GST_TIME_ARGS(duration));
}

// A flushing seek; milliseconds, -1 for the end of the file. Prints how it went if it did not.
static gboolean seek(double rate, GstSeekFlags flags, gint start, gint stop) {
  gst_bus_set_flushing(GST_ELEMENT_BUS(pipeline), TRUE);
  gst_bus_set_flushing(GST_ELEMENT_BUS(pipeline), FALSE);
  GstEvent *event = gst_event_new_seek(
    rate, GST_FORMAT_TIME, flags | GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, start * GST_MSECOND, GST_SEEK_TYPE_SET,
    stop < 0 ? -1 : (gint64)(stop * GST_MSECOND));
  g_atomic_int_set(&seek_number, gst_event_get_seqnum(event));
  if (!gst_element_send_event(pipeline, event)) {
    g_print("  not seekable\n");
    return FALSE;
  }
  return TRUE;
}

// In PAUSED: the target of a seek.
static void look(GstSeekFlags flags, gint milliseconds) {
  g_print(" %d\n", milliseconds);
  if (!seek(1, flags, milliseconds, -1)) return;
  if (gst_element_get_state(pipeline, NULL, NULL, LIMIT) != GST_STATE_CHANGE_SUCCESS) await(0);
  show_seen();
  show_position();
}

// From PAUSED, with another seek: the rest to its end.
static void play(double rate, GstSeekFlags flags, gint start, gint stop) {
  g_print(" rate %g from %d to %d flags %d\n", rate, start, stop, flags);
  if (!seek(rate, flags, start, stop)) return;
  set_state(GST_STATE_PLAYING);
  await(flags & GST_SEEK_FLAG_SEGMENT ? GST_MESSAGE_SEGMENT_DONE : GST_MESSAGE_EOS);
  // A demuxer posts the message itself, before its queue is empty.
  g_mutex_lock(&lock);
  while (flags & GST_SEEK_FLAG_SEGMENT && !segment_done) g_cond_wait(&changed, &lock);
  g_mutex_unlock(&lock);
  show_seen();
  show_position();
  // Does not wait: after a segment's end, nothing comes that a sink could show. The next seek brings it.
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
}

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  if (argc < 3) return 2;
  monitor_quark = g_quark_from_static_string("monitor");
  issues = g_hash_table_new_full(NULL, NULL, NULL, free_issue);
  seen = g_string_new("");
  wraps = argc > 3 && !strcmp(argv[3], "wrap");
  make_pipeline(argv[1], argv[2]);

  g_print("play\n");
  set_state(GST_STATE_PAUSED);
  set_state(GST_STATE_PLAYING);
  await(GST_MESSAGE_EOS);
  show_seen();
  show_position();

  g_print("state changes\n");
  for (int round = 0; round < 3; round++) {
    set_state(round == 1 ? GST_STATE_NULL : GST_STATE_READY);
    g_mutex_lock(&lock);
    g_string_truncate(seen, 0);
    g_mutex_unlock(&lock);
    set_state(GST_STATE_PAUSED);
    show_seen();
    show_position();
  }

  g_print("scrub forward\n");
  for (int time = 0; time < 4000; time += 330) look(GST_SEEK_FLAG_ACCURATE, time);
  g_print("scrub backward\n");
  for (int time = 3990; time >= 0; time -= 470) look(GST_SEEK_FLAG_ACCURATE, time);
  g_print("keyframes\n");
  for (int time = 0; time < 4000; time += 770) {
    look(GST_SEEK_FLAG_KEY_UNIT | GST_SEEK_FLAG_SNAP_BEFORE, time);
    look(GST_SEEK_FLAG_KEY_UNIT | GST_SEEK_FLAG_SNAP_AFTER, time);
    look(GST_SEEK_FLAG_KEY_UNIT | GST_SEEK_FLAG_SNAP_NEAREST, time);
  }
  g_print("parts\n");
  play(1, GST_SEEK_FLAG_ACCURATE, 1010, 2330);
  play(1, GST_SEEK_FLAG_ACCURATE | GST_SEEK_FLAG_SEGMENT, 500, 900);
  play(1, GST_SEEK_FLAG_KEY_UNIT, 1500, 1900);
  g_print("trick modes\n");
  play(2, GST_SEEK_FLAG_ACCURATE | GST_SEEK_FLAG_TRICKMODE, 500, -1);
  play(4, GST_SEEK_FLAG_TRICKMODE | GST_SEEK_FLAG_TRICKMODE_KEY_UNITS, 0, -1);
  play(0.5, GST_SEEK_FLAG_ACCURATE, 3000, -1);
  g_print("reverse\n");
  play(-1, GST_SEEK_FLAG_ACCURATE, 0, 4000);
  play(-1, GST_SEEK_FLAG_ACCURATE, 990, 2210);
  play(-2, GST_SEEK_FLAG_TRICKMODE | GST_SEEK_FLAG_TRICKMODE_KEY_UNITS, 0, 3000);
  play(1, GST_SEEK_FLAG_ACCURATE, 3500, -1);
  // This is the last scenario, because avdec_h264 keeps skipping pictures.
  play(8, GST_SEEK_FLAG_TRICKMODE | GST_SEEK_FLAG_TRICKMODE_FORWARD_PREDICTED | GST_SEEK_FLAG_TRICKMODE_NO_AUDIO, 0, -1);

  set_state(GST_STATE_NULL);
  gst_object_unref(pipeline);
  GHashTableIter each;
  gpointer kind, found;
  g_print("issues\n");
  g_hash_table_iter_init(&each, issues);
  while (g_hash_table_iter_next(&each, &kind, &found))
    g_print("  %s: %u, %s\n", (char *)kind, ((Issue *)found)->count, ((Issue *)found)->place);
  g_hash_table_unref(issues);
  g_string_free(seen, TRUE);
  return 0;
}
