// SPDX-License-Identifier: MPL-2.0
// Static inline functions for what Swift cannot import from GStreamer's headers (macros, variadic functions) and for
// what differs between GStreamer's versions. Nothing else belongs here.
#pragma once
#include <gst/gst.h>
#include <gst/allocators/allocators.h>
#include <gst/base/base.h>
#include <gst/video/video.h>

// MARK: Constants that are macros

static inline GParamFlags cgst_param_flags_read_only(void) {
  return (GParamFlags)(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}
static inline GParamFlags cgst_param_flags(gboolean mutable_playing) {
  return (GParamFlags)(G_PARAM_READABLE | G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS |
                       (mutable_playing ? GST_PARAM_MUTABLE_PLAYING : GST_PARAM_MUTABLE_READY));
}
static inline GType cgst_type_structure(void) { return GST_TYPE_STRUCTURE; }
static inline const gchar *cgst_buffer_pool_option_video_meta(void) { return GST_BUFFER_POOL_OPTION_VIDEO_META; }
static inline const gchar *cgst_buffer_pool_option_video_alignment(void) { return GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT; }

/* Named as GStreamer's own warnings; without a domain in this header, g_critical() would print "**". */
static inline void cgst_log_warning(const gchar *text) { g_log("GStreamer", G_LOG_LEVEL_WARNING, "%s", text); }
static inline void cgst_log_critical(const gchar *text) { g_log("GStreamer", G_LOG_LEVEL_CRITICAL, "%s", text); }

// MARK: Elements

/* Transfer full. NULL when the element is in no bin. */
static inline GstElement *cgst_element_get_parent(GstElement *element) { return (GstElement *)gst_object_get_parent(GST_OBJECT(element)); }
static inline gboolean cgst_element_state_trylock(GstElement *element) { return GST_STATE_TRYLOCK(element); }
static inline void cgst_element_state_unlock(GstElement *element) { GST_STATE_UNLOCK(element); }

static inline void cgst_object_lock(GstObject *object) { GST_OBJECT_LOCK(object); }
static inline void cgst_object_unlock(GstObject *object) { GST_OBJECT_UNLOCK(object); }

// MARK: Mini-objects

static inline gboolean cgst_buffer_is_writable(const GstBuffer *buffer) { return gst_buffer_is_writable((GstBuffer *)buffer); }
static inline GstBuffer *cgst_buffer_make_writable(GstBuffer *buffer) { return gst_buffer_make_writable(buffer); }
/* Whether all its memory is the allocator's that is used by default, which is at one address whether mapped or not. */
static inline gboolean cgst_buffer_is_system_memory(GstBuffer *buffer) {
	for (guint index = 0; index < gst_buffer_n_memory(buffer); index++)
		if (!gst_memory_is_type(gst_buffer_peek_memory(buffer, index), GST_ALLOCATOR_SYSMEM)) return FALSE;
	return TRUE;
}
static inline void cgst_caps_set_feature(GstCaps *caps, const gchar *feature) {
  gst_caps_set_features_simple(caps, gst_caps_features_new(feature, NULL));
}
static inline GstCaps *cgst_caps_make_writable(GstCaps *caps) { return gst_caps_make_writable(caps); }
static inline GstEvent *cgst_event_make_writable(GstEvent *event) { return gst_event_make_writable(event); }

static inline gboolean cgst_event_is_serialized(const GstEvent *event) { return GST_EVENT_IS_SERIALIZED((GstEvent *)event); }

// MARK: Structures (gst_structure_set is variadic)

static inline void cgst_structure_set_uint(GstStructure *s, const gchar *name, guint v) { gst_structure_set(s, name, G_TYPE_UINT, v, NULL); }
static inline void cgst_structure_set_buffer(GstStructure *s, const gchar *name, GstBuffer *v) { gst_structure_set(s, name, GST_TYPE_BUFFER, v, NULL); }
static inline void cgst_structure_set_structure(GstStructure *s, const gchar *name, const GstStructure *v) { gst_structure_set(s, name, GST_TYPE_STRUCTURE, v, NULL); }
/* Transfer none. NULL when the field is absent or of another type. */
static inline GstBuffer *cgst_structure_get_buffer(const GstStructure *s, const gchar *name) {
  const GValue *v = gst_structure_get_value(s, name);
  return v && G_VALUE_HOLDS(v, GST_TYPE_BUFFER) ? gst_value_get_buffer(v) : NULL;
}
/* The i-th string of a string or list-of-strings field, or NULL past its end. */
static inline const gchar *cgst_structure_nth_string(const GstStructure *s, const gchar *name, guint i) {
  const GValue *v = gst_structure_get_value(s, name);
  if (!v) return NULL;
  if (G_VALUE_HOLDS_STRING(v)) return i == 0 ? g_value_get_string(v) : NULL;
  if (!GST_VALUE_HOLDS_LIST(v) || i >= gst_value_list_get_size(v)) return NULL;
  v = gst_value_list_get_value(v, i);
  return G_VALUE_HOLDS_STRING(v) ? g_value_get_string(v) : NULL;
}
static inline void cgst_structure_remove_field(GstStructure *s, const gchar *name) { gst_structure_remove_field(s, name); }

/* TRUE when both exist and are equal, order of structures included. */
static inline gboolean cgst_caps_is_strictly_equal(const GstCaps *a, const GstCaps *b) { return gst_caps_is_strictly_equal(a, b); }
static inline void cgst_structure_set_multiview_flags(GstStructure *s, const gchar *name, guint flags) {
  gst_structure_set(s, name, GST_TYPE_VIDEO_MULTIVIEW_FLAGSET, flags, GST_FLAG_SET_MASK_EXACT, NULL);
}

// MARK: Metas

static inline GstVideoTimeCodeMeta *cgst_buffer_iterate_time_codes(GstBuffer *buffer, gpointer *state) {
  return (GstVideoTimeCodeMeta *)gst_buffer_iterate_meta_filtered(buffer, state, GST_VIDEO_TIME_CODE_META_API_TYPE);
}
/* The meta is new in 1.22. Before, no meta is added; the data is still in the stream's SEI. */
#if GST_CHECK_VERSION(1, 22, 0)
/*
 * Whether this version of GStreamer adds and copies metas of user data of 0 bytes, whose pointer is NULL. Before
 * 1.24.12, copying such a meta fails with a GStreamer-CRITICAL. 1.25 came before that.
 */
static inline gboolean cgst_takes_empty_user_data(guint major, guint minor, guint micro) {
  if (major != 1) return major > 1;
  return minor == 24 ? micro >= 12 : minor >= 26;
}
/*
 * A meta for user data of 0 bytes, where GStreamer's own cannot be used. This one has the same API type and layout, and
 * a pointer that is never NULL.
 */
static inline gboolean cgst_empty_user_data_init(GstMeta *meta, gpointer parameters, GstBuffer *buffer) {
  GstVideoSEIUserDataUnregisteredMeta *self = (GstVideoSEIUserDataUnregisteredMeta *)meta;
  (void)parameters; (void)buffer;
  memset(self->uuid, 0, sizeof self->uuid);
  self->data = (guint8 *)g_malloc0(1);
  self->size = 0;
  return TRUE;
}
static inline void cgst_empty_user_data_free(GstMeta *meta, GstBuffer *buffer) {
  (void)buffer;
  g_free(((GstVideoSEIUserDataUnregisteredMeta *)meta)->data);
}
static inline void cgst_buffer_add_empty_user_data(GstBuffer *buffer, const guint8 *uuid);
static inline gboolean cgst_empty_user_data_transform(
    GstBuffer *target, GstMeta *meta, GstBuffer *buffer, GQuark type, gpointer data) {
  (void)buffer; (void)data;
  if (!GST_META_TRANSFORM_IS_COPY(type)) return FALSE;
  cgst_buffer_add_empty_user_data(target, ((GstVideoSEIUserDataUnregisteredMeta *)meta)->uuid);
  return TRUE;
}
static inline void cgst_buffer_add_empty_user_data(GstBuffer *buffer, const guint8 *uuid) {
  static gsize info = 0;
  if (g_once_init_enter(&info)) {
    const gchar *name = "GstSwiftH26xEmptyUserDataMeta";
    const GstMetaInfo *known = gst_meta_get_info(name);
    if (known == NULL)
      known = gst_meta_register(
          GST_VIDEO_SEI_USER_DATA_UNREGISTERED_META_API_TYPE, name, sizeof(GstVideoSEIUserDataUnregisteredMeta),
          cgst_empty_user_data_init, cgst_empty_user_data_free, cgst_empty_user_data_transform);
    g_once_init_leave(&info, (gsize)known);
  }
  GstMeta *meta = gst_buffer_add_meta(buffer, (const GstMetaInfo *)info, NULL);
  if (meta != NULL) memcpy(((GstVideoSEIUserDataUnregisteredMeta *)meta)->uuid, uuid, 16);
}
#endif
static inline void cgst_buffer_add_user_data_unregistered(GstBuffer *buffer, const guint8 *uuid, const guint8 *data, gsize size) {
#if GST_CHECK_VERSION(1, 22, 0)
  guint major, minor, micro, nano;
  gst_version(&major, &minor, &micro, &nano);
  if (size == 0 && !cgst_takes_empty_user_data(major, minor, micro)) {
    cgst_buffer_add_empty_user_data(buffer, uuid);
    return;
  }
  gst_buffer_add_video_sei_user_data_unregistered_meta(buffer, (guint8 *)uuid, size == 0 ? NULL : (guint8 *)data, size);
#else
  (void)buffer; (void)uuid; (void)data; (void)size;
#endif
}
static inline gboolean cgst_buffer_has_user_data_unregistered(GstBuffer *buffer) {
#if GST_CHECK_VERSION(1, 22, 0)
  return gst_buffer_get_n_meta(buffer, GST_VIDEO_SEI_USER_DATA_UNREGISTERED_META_API_TYPE) > 0;
#else
  (void)buffer;
  return FALSE;
#endif
}

// MARK: Values

static inline void cgst_value_set_fraction(GValue *value, gint n, gint d) { gst_value_set_fraction(value, n, d); }
static inline void cgst_value_take_structure(GValue *value, GstStructure *s) { g_value_take_boxed(value, s); }

/* The types of value that Swift's FieldValue distinguishes. Integers of fewer than 64 bits other than int and uint are
   INT64 or UINT64, float is DOUBLE, a GstValueArray is a LIST. */
typedef enum {
  CGST_KIND_OTHER, CGST_KIND_BOOLEAN, CGST_KIND_INT, CGST_KIND_UINT, CGST_KIND_INT64, CGST_KIND_UINT64,
  CGST_KIND_DOUBLE, CGST_KIND_STRING, CGST_KIND_FRACTION, CGST_KIND_LIST
} CgstKind;
static inline CgstKind cgst_value_kind(const GValue *value) {
  switch (G_VALUE_TYPE(value)) {
  case G_TYPE_BOOLEAN: return CGST_KIND_BOOLEAN;
  case G_TYPE_INT: return CGST_KIND_INT;
  case G_TYPE_UINT: return CGST_KIND_UINT;
  case G_TYPE_CHAR: case G_TYPE_LONG: case G_TYPE_INT64: return CGST_KIND_INT64;
  case G_TYPE_UCHAR: case G_TYPE_ULONG: case G_TYPE_UINT64: return CGST_KIND_UINT64;
  case G_TYPE_FLOAT: case G_TYPE_DOUBLE: return CGST_KIND_DOUBLE;
  case G_TYPE_STRING: return CGST_KIND_STRING;
  default:
    if (GST_VALUE_HOLDS_FRACTION(value)) return CGST_KIND_FRACTION;
    return GST_VALUE_HOLDS_LIST(value) || GST_VALUE_HOLDS_ARRAY(value) ? CGST_KIND_LIST : CGST_KIND_OTHER;
  }
}
static inline GType cgst_type_of_kind(CgstKind kind) {
  switch (kind) {
  case CGST_KIND_BOOLEAN: return G_TYPE_BOOLEAN;
  case CGST_KIND_INT: return G_TYPE_INT;
  case CGST_KIND_UINT: return G_TYPE_UINT;
  case CGST_KIND_INT64: return G_TYPE_INT64;
  case CGST_KIND_UINT64: return G_TYPE_UINT64;
  case CGST_KIND_DOUBLE: return G_TYPE_DOUBLE;
  case CGST_KIND_STRING: return G_TYPE_STRING;
  case CGST_KIND_FRACTION: return GST_TYPE_FRACTION;
  case CGST_KIND_LIST: return GST_TYPE_LIST;
  default: return G_TYPE_NONE;
  }
}
/* g_value_unset that also accepts a zeroed GValue. */
static inline void cgst_value_clear(GValue *value) { if (G_IS_VALUE(value)) g_value_unset(value); }
static inline GType cgst_value_type(const GValue *value) { return G_VALUE_TYPE(value); }
static inline gboolean cgst_value_is_pad(const GValue *value) { return G_VALUE_HOLDS(value, GST_TYPE_PAD); }
static inline gboolean cgst_value_is_element(const GValue *value) { return G_VALUE_HOLDS(value, GST_TYPE_ELEMENT); }
static inline gboolean cgst_value_is_caps(const GValue *value) { return G_VALUE_HOLDS(value, GST_TYPE_CAPS); }

// MARK: Objects and signals

/* Transfer none. NULL when it is of a pad or another object. */
static inline GstElement *cgst_message_source_element(GstMessage *message) { return GST_IS_ELEMENT(GST_MESSAGE_SRC(message)) ? GST_ELEMENT(GST_MESSAGE_SRC(message)) : NULL; }
static inline gboolean cgst_is_pipeline(gpointer object) { return GST_IS_PIPELINE(object); }
static inline gboolean cgst_is_bin(gpointer object) { return GST_IS_BIN(object); }
// TRUE for a bin that has GstBin's own send_event, which forwards the event to the elements inside.
static inline gboolean cgst_is_plain_bin(gpointer object) {
  gpointer plain;
  gboolean is_plain;
  if (!GST_IS_BIN(object)) return FALSE;
  plain = g_type_class_ref(GST_TYPE_BIN);
  is_plain = GST_ELEMENT_GET_CLASS(object)->send_event == GST_ELEMENT_CLASS(plain)->send_event;
  g_type_class_unref(plain);
  return is_plain;
}
static inline GParamSpec *cgst_find_property(gpointer object, const gchar *name) {
  return g_object_class_find_property(G_OBJECT_GET_CLASS(object), name);
}
static inline gboolean cgst_has_signal(gpointer object, const gchar *name) {
  guint id; GQuark detail;
  return g_signal_parse_name(name, G_OBJECT_TYPE(object), &id, &detail, TRUE);
}
static inline GClosure *cgst_closure_new(gpointer data, GClosureMarshal marshal, GClosureNotify release) {
  GClosure *closure = g_closure_new_simple(sizeof(GClosure), data);
  g_closure_set_marshal(closure, marshal);
  g_closure_add_finalize_notifier(closure, data, release);
  return closure;
}
static inline gpointer cgst_closure_data(const GClosure *closure) { return closure->data; }

// MARK: appsink and appsrc, by their action signals: calling their functions would make the plugin depend on libgstapp

/* Transfer full. NULL when no sample comes within the timeout (nanoseconds), and at the end of the stream. */
static inline GstSample *cgst_app_sink_try_pull(GstElement *sink, guint64 timeout) {
  GstSample *sample = NULL;
  g_signal_emit_by_name(sink, "try-pull-sample", timeout, &sample);
  return sample;
}
/* Transfer full. NULL when there is no preroll sample; the sample is still pulled later. */
static inline GstSample *cgst_app_sink_try_pull_preroll(GstElement *sink, guint64 timeout) {
  GstSample *sample = NULL;
  g_signal_emit_by_name(sink, "try-pull-preroll", timeout, &sample);
  return sample;
}
/* Transfer none: the caller keeps its reference to the buffer. */
static inline GstFlowReturn cgst_app_src_push_buffer(GstElement *source, GstBuffer *buffer) {
  GstFlowReturn flow = GST_FLOW_ERROR;
  g_signal_emit_by_name(source, "push-buffer", buffer, &flow);
  return flow;
}
/* Transfer none. */
static inline GstFlowReturn cgst_app_src_push_buffer_list(GstElement *source, GstBufferList *list) {
  GstFlowReturn flow = GST_FLOW_ERROR;
  g_signal_emit_by_name(source, "push-buffer-list", list, &flow);
  return flow;
}
static inline GstFlowReturn cgst_app_src_push_sample(GstElement *source, GstSample *sample) {
  GstFlowReturn flow = GST_FLOW_ERROR;
  g_signal_emit_by_name(source, "push-sample", sample, &flow);
  return flow;
}
static inline GstFlowReturn cgst_app_src_end_of_stream(GstElement *source) {
  GstFlowReturn flow = GST_FLOW_ERROR;
  g_signal_emit_by_name(source, "end-of-stream", &flow);
  return flow;
}

/*
 * gst_video_format_from_string reads its argument's memory but is declared G_GNUC_CONST, so that the optimiser may free
 * a temporary string before the call. A call through a volatile pointer does not have the attribute.
 */
static inline GstVideoFormat cgst_video_format_from_string(const gchar *name) {
  GstVideoFormat (*volatile function)(const gchar *) = gst_video_format_from_string;
  return function(name);
}

// MARK: Base classes

static inline GQuark cgst_own_chain_function(void) {
  static GQuark quark = 0;
  if (quark == 0) quark = g_quark_from_static_string("gst-swift-own-chain-function");
  return quark;
}
static inline GstFlowReturn cgst_chain_unless_empty(GstPad *pad, GstObject *parent, GstBuffer *buffer) {
  if (gst_buffer_get_size(buffer) > 0)
    return ((GstPadChainFunction)g_object_get_qdata(G_OBJECT(pad), cgst_own_chain_function()))(pad, parent, buffer);
  gst_buffer_unref(buffer);
  return GST_FLOW_OK;
}
/*
 * The base class's chain function is kept in the pad's qdata. The function's user data is lost when an application puts
 * a function of its own in front of this one.
 */
static inline void cgst_pad_skip_empty_buffers(GstPad *pad) {
  g_object_set_qdata(G_OBJECT(pad), cgst_own_chain_function(), (gpointer)GST_PAD_CHAINFUNC(pad));
  gst_pad_set_chain_function(pad, cgst_chain_unless_empty);
}
static inline gboolean cgst_base_parse_is_draining(const GstBaseParse *parse) { return GST_BASE_PARSE_DRAINING(parse); }
static inline gboolean cgst_pad_needs_reconfigure(GstPad *pad) { return GST_PAD_NEEDS_RECONFIGURE(pad); }
static inline void cgst_pad_set_accepts_template(GstPad *pad) { GST_PAD_SET_ACCEPT_TEMPLATE(pad); }
static inline void cgst_pad_set_accepts_intersection(GstPad *pad) { GST_PAD_SET_ACCEPT_INTERSECT(pad); GST_PAD_SET_ACCEPT_TEMPLATE(pad); }
static inline gboolean cgst_pad_is_pulling(GstPad *pad) { return GST_PAD_MODE(pad) == GST_PAD_MODE_PULL; }
static inline gboolean cgst_pad_is_flushing(GstPad *pad) { return GST_PAD_IS_FLUSHING(pad); }
static inline gboolean cgst_video_codec_frame_is_sync_point(const GstVideoCodecFrame *f) { return GST_VIDEO_CODEC_FRAME_IS_SYNC_POINT(f); }
static inline void cgst_video_codec_frame_set_sync_point(GstVideoCodecFrame *f, gboolean sync) {
  if (sync) GST_VIDEO_CODEC_FRAME_SET_SYNC_POINT(f); else GST_VIDEO_CODEC_FRAME_UNSET_SYNC_POINT(f);
}
