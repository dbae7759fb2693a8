// SPDX-License-Identifier: MPL-2.0
// Static inline functions for what Swift cannot import from libavcodec's headers (macros), for what differs between
// libavcodec 58 and 61, and for loading the library at run time.
#pragma once
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <libavcodec/avcodec.h>
#include <libavutil/avutil.h>
#include <libavutil/buffer.h>
#include <libavutil/cpu.h>
#include <libavutil/dict.h>
#include <libavutil/error.h>
#include <libavutil/frame.h>
#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_drm.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

enum {
  CAV_ERROR_AGAIN = AVERROR(EAGAIN),
  CAV_ERROR_NO_MEMORY = AVERROR(ENOMEM),
  CAV_ERROR_INVALID_ARGUMENT = AVERROR(EINVAL),
  CAV_ERROR_IO = AVERROR(EIO),
  CAV_ERROR_NO_DEVICE = AVERROR(ENODEV),
  CAV_ERROR_NOT_IMPLEMENTED = AVERROR(ENOSYS),
  CAV_ERROR_END_OF_FILE = AVERROR_EOF,
  CAV_ERROR_INVALID_DATA = AVERROR_INVALIDDATA,
  CAV_ERROR_PATCH_WELCOME = AVERROR_PATCHWELCOME,
  CAV_ERROR_EXTERNAL = AVERROR_EXTERNAL,
  CAV_ERROR_UNKNOWN = AVERROR_UNKNOWN,
  CAV_ERROR_BUG = AVERROR_BUG,
  CAV_ERROR_BUG2 = AVERROR_BUG2,
  CAV_ERROR_DECODER_NOT_FOUND = AVERROR_DECODER_NOT_FOUND,
  CAV_ERROR_ENCODER_NOT_FOUND = AVERROR_ENCODER_NOT_FOUND,
  CAV_ERROR_STRING_SIZE = AV_ERROR_MAX_STRING_SIZE,
  CAV_INPUT_PADDING = AV_INPUT_BUFFER_PADDING_SIZE,
};

// MARK: Loading the library
//
// libavcodec and its some eighty dependencies are loaded with the first decoder, not with the plugin, because many
// programs use the parser alone. Where the library is missing, cavcodec_find_decoder returns NULL.

#define CAV_STRING(text) CAV_STRING_(text)
#define CAV_STRING_(text) #text
#define CAV_CODEC_LIBRARY "libavcodec.so." CAV_STRING(LIBAVCODEC_VERSION_MAJOR)
#define CAV_UTIL_LIBRARY "libavutil.so." CAV_STRING(LIBAVUTIL_VERSION_MAJOR)
#define CAV_VAAPI_LIBRARY "libva.so.2"
#define CAV_CUDA_LIBRARY "libcuda.so.1"
#define CAV_CUDA_DECODER_LIBRARY "libnvcuvid.so.1"

/// The address of a function, which is cached in `address`. NULL where the library or the function is missing.
static inline void *cav_resolve(void **address, const char *library, const char *name) {
  void *found = __atomic_load_n(address, __ATOMIC_ACQUIRE);
  if (found) return found;
  void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  found = handle ? dlsym(handle, name) : NULL;
  __atomic_store_n(address, found, __ATOMIC_RELEASE);
  return found;
}

/// Why the library cannot be loaded; NULL where it can.
static inline const char *cavcodec_load_failure(void) {
  return dlopen(CAV_CODEC_LIBRARY, RTLD_LAZY | RTLD_LOCAL) ? NULL : dlerror();
}

/// Calls a function of the library, or returns `otherwise` where the library is missing.
#define CAV_CALL(library, otherwise, name, ...)                                    \
  static void *address;                                                            \
  __typeof__(&name) function = (__typeof__(&name))cav_resolve(&address, library, #name); \
  return function ? function(__VA_ARGS__) : otherwise
#define CAV_CALL_VOID(library, name, ...)                                          \
  static void *address;                                                            \
  __typeof__(&name) function = (__typeof__(&name))cav_resolve(&address, library, #name); \
  if (function) function(__VA_ARGS__)

static inline AVCodecContext *cavcodec_alloc_context3(const AVCodec *codec) { CAV_CALL(CAV_CODEC_LIBRARY, NULL, avcodec_alloc_context3, codec); }
static inline int cavcodec_open2(AVCodecContext *context, const AVCodec *codec, AVDictionary **options) { CAV_CALL(CAV_CODEC_LIBRARY, AVERROR(ENOSYS), avcodec_open2, context, codec, options); }
static inline void cavcodec_free_context(AVCodecContext **context) { CAV_CALL_VOID(CAV_CODEC_LIBRARY, avcodec_free_context, context); }
static inline int cavcodec_get_hw_frames_parameters(AVCodecContext *context, AVBufferRef *device, enum AVPixelFormat format, AVBufferRef **frames) { CAV_CALL(CAV_CODEC_LIBRARY, AVERROR(ENOSYS), avcodec_get_hw_frames_parameters, context, device, format, frames); }
static inline int cavcodec_send_packet(AVCodecContext *context, const AVPacket *packet) { CAV_CALL(CAV_CODEC_LIBRARY, AVERROR(ENOSYS), avcodec_send_packet, context, packet); }
static inline int cavcodec_receive_frame(AVCodecContext *context, AVFrame *frame) { CAV_CALL(CAV_CODEC_LIBRARY, AVERROR(ENOSYS), avcodec_receive_frame, context, frame); }
static inline void cavcodec_flush_buffers(AVCodecContext *context) { CAV_CALL_VOID(CAV_CODEC_LIBRARY, avcodec_flush_buffers, context); }
static inline void cavcodec_align_dimensions2(AVCodecContext *context, int *width, int *height, int *alignment) { CAV_CALL_VOID(CAV_CODEC_LIBRARY, avcodec_align_dimensions2, context, width, height, alignment); }
static inline enum AVPixelFormat cavcodec_default_get_format(AVCodecContext *context, const enum AVPixelFormat *formats) { CAV_CALL(CAV_CODEC_LIBRARY, AV_PIX_FMT_NONE, avcodec_default_get_format, context, formats); }
static inline int cavcodec_default_get_buffer2(AVCodecContext *context, AVFrame *frame, int flags) { CAV_CALL(CAV_CODEC_LIBRARY, AVERROR(ENOSYS), avcodec_default_get_buffer2, context, frame, flags); }
static inline AVPacket *cav_packet_alloc(void) { CAV_CALL(CAV_CODEC_LIBRARY, NULL, av_packet_alloc); }
static inline void cav_packet_free(AVPacket **packet) { CAV_CALL_VOID(CAV_CODEC_LIBRARY, av_packet_free, packet); }
static inline void cav_packet_unref(AVPacket *packet) { CAV_CALL_VOID(CAV_CODEC_LIBRARY, av_packet_unref, packet); }
static inline AVFrame *cav_frame_alloc(void) { CAV_CALL(CAV_UTIL_LIBRARY, NULL, av_frame_alloc); }
static inline void cav_frame_free(AVFrame **frame) { CAV_CALL_VOID(CAV_UTIL_LIBRARY, av_frame_free, frame); }
static inline int cav_frame_ref(AVFrame *target, const AVFrame *source) { CAV_CALL(CAV_UTIL_LIBRARY, AVERROR(ENOSYS), av_frame_ref, target, source); }
static inline void cav_frame_unref(AVFrame *frame) { CAV_CALL_VOID(CAV_UTIL_LIBRARY, av_frame_unref, frame); }
static inline int cav_frame_copy_props(AVFrame *target, const AVFrame *source) { CAV_CALL(CAV_UTIL_LIBRARY, AVERROR(ENOSYS), av_frame_copy_props, target, source); }
static inline void cav_frame_move_ref(AVFrame *target, AVFrame *source) { CAV_CALL_VOID(CAV_UTIL_LIBRARY, av_frame_move_ref, target, source); }
static inline int cav_hwdevice_ctx_create(AVBufferRef **device, enum AVHWDeviceType type, const char *name, AVDictionary *options) { CAV_CALL(CAV_UTIL_LIBRARY, AVERROR(ENOSYS), av_hwdevice_ctx_create, device, type, name, options, 0); }
static inline void *cav_hwdevice_hwconfig_alloc(AVBufferRef *device) { CAV_CALL(CAV_UTIL_LIBRARY, NULL, av_hwdevice_hwconfig_alloc, device); }
static inline AVHWFramesConstraints *cav_hwdevice_get_hwframe_constraints(AVBufferRef *device, const void *configuration) { CAV_CALL(CAV_UTIL_LIBRARY, NULL, av_hwdevice_get_hwframe_constraints, device, configuration); }
static inline void cav_hwframe_constraints_free(AVHWFramesConstraints **constraints) { CAV_CALL_VOID(CAV_UTIL_LIBRARY, av_hwframe_constraints_free, constraints); }
static inline int cav_hwframe_transfer_data(AVFrame *target, const AVFrame *source) { CAV_CALL(CAV_UTIL_LIBRARY, AVERROR(ENOSYS), av_hwframe_transfer_data, target, source, 0); }
static inline int cav_hwframe_map(AVFrame *target, const AVFrame *source, int flags) { CAV_CALL(CAV_UTIL_LIBRARY, AVERROR(ENOSYS), av_hwframe_map, target, source, flags); }
static inline int cav_device_option(AVDictionary **options, const char *key, const char *value) { CAV_CALL(CAV_UTIL_LIBRARY, AVERROR(ENOSYS), av_dict_set, options, key, value, 0); }
static inline void cav_device_options_free(AVDictionary **options) { CAV_CALL_VOID(CAV_UTIL_LIBRARY, av_dict_free, options); }
static inline const AVPixFmtDescriptor *cav_pix_fmt_desc_get(enum AVPixelFormat format) { CAV_CALL(CAV_UTIL_LIBRARY, NULL, av_pix_fmt_desc_get, format); }
static inline AVBufferRef *cav_buffer_ref(const AVBufferRef *buffer) { CAV_CALL(CAV_UTIL_LIBRARY, NULL, av_buffer_ref, (AVBufferRef *)buffer); }
static inline void cav_buffer_unref(AVBufferRef **buffer) { CAV_CALL_VOID(CAV_UTIL_LIBRARY, av_buffer_unref, buffer); }
static inline int cav_cpu_count(void) { CAV_CALL(CAV_UTIL_LIBRARY, 1, av_cpu_count); }
static inline void *cav_mallocz(size_t size) { CAV_CALL(CAV_UTIL_LIBRARY, NULL, av_mallocz, size); }
static inline void cav_free(void *memory) { CAV_CALL_VOID(CAV_UTIL_LIBRARY, av_free, memory); }
static inline int cav_strerror(int error, char *text, size_t size) { CAV_CALL(CAV_UTIL_LIBRARY, AVERROR(ENOSYS), av_strerror, error, text, size); }
static inline void *cav_buffer_get_opaque(const AVBufferRef *buffer) { CAV_CALL(CAV_UTIL_LIBRARY, NULL, av_buffer_get_opaque, buffer); }
static inline const char *cav_get_pix_fmt_name(enum AVPixelFormat format) { CAV_CALL(CAV_UTIL_LIBRARY, NULL, av_get_pix_fmt_name, format); }
static inline enum AVPixelFormat cav_get_pix_fmt(const char *name) { CAV_CALL(CAV_UTIL_LIBRARY, AV_PIX_FMT_NONE, av_get_pix_fmt, name); }
/// Returns a const pointer with every version (libavcodec 58 returns a mutable one).
static inline const AVCodec *cavcodec_find_decoder(enum AVCodecID id) { CAV_CALL(CAV_CODEC_LIBRARY, NULL, avcodec_find_decoder, id); }
/// The type of buffer sizes: int before libavutil 57, then size_t.
#if LIBAVUTIL_VERSION_MAJOR < 57
typedef int cav_size;
#else
typedef size_t cav_size;
#endif
static inline AVBufferRef *cav_buffer_create(
    uint8_t *data, size_t size, void (*release)(void *opaque, uint8_t *data), void *opaque) {
  if ((size_t)(cav_size)size != size) return NULL;
  CAV_CALL(CAV_UTIL_LIBRARY, NULL, av_buffer_create, data, (cav_size)size, release, opaque, 0);
}

// MARK: Messages
//
// The decoders log a few messages without their codec context, or without any. Only a callback keeps these from standard
// error.

/// What dladdr(3) reports.
typedef struct {
  const char *path;
  const void *base;
  const char *symbol;
  const void *address;
} cav_object;
extern int cav_dladdr(const void *address, cav_object *object) __asm__("dladdr");

static inline int cav_log_level(void) { CAV_CALL(CAV_UTIL_LIBRARY, AV_LOG_INFO, av_log_get_level); }
static inline void cav_log_set_callback(void (*callback)(void *, int, const char *, va_list)) { CAV_CALL_VOID(CAV_UTIL_LIBRARY, av_log_set_callback, callback); }

/// Whether libavcodec logs a message without a codec context: with a decoder's private one, or with none.
static inline int cav_lacks_codec_context(void *context, const char *format) {
  const AVCodec *decoders[] = {cavcodec_find_decoder(AV_CODEC_ID_H264), cavcodec_find_decoder(AV_CODEC_ID_HEVC)};
  for (int i = 0; i < 2; i++)
    if (context && decoders[i] && *(const AVClass **)context == decoders[i]->priv_class) return 1;
  cav_object library, origin;
  return !context && decoders[0] && cav_dladdr(decoders[0], &library) && cav_dladdr(format, &origin) &&
         library.base == origin.base;
}

/// Discards what a codec context would have silenced, and passes everything else to libavutil's own callback: the last
/// words before an abort, too.
static inline void cav_log_filter(void *context, int level, const char *format, va_list arguments) {
  if (level > AV_LOG_FATAL && (level & 0xff) <= cav_log_level() && cav_lacks_codec_context(context, format)) return;
  CAV_CALL_VOID(CAV_UTIL_LIBRARY, av_log_default_callback, context, level, format, arguments);
}

/// Whether messages go to libavutil's own callback. No function returns the callback; the variable that has it is among
/// libavutil's initialised ones, and nothing else there has that value.
static inline int cav_logs_by_default(void) {
  void *handle = dlopen(CAV_UTIL_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  void *callback = handle ? dlsym(handle, "av_log_default_callback") : NULL;
  cav_object library;
  if (!callback || !cav_dladdr(callback, &library)) return 0;
  const char *base = (const char *)library.base;
  const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)base;
  const ElfW(Phdr) *segments = (const ElfW(Phdr) *)(base + header->e_phoff);
  for (int i = 0; i < header->e_phnum; i++) {
    if (segments[i].p_type != PT_LOAD || !(segments[i].p_flags & PF_W)) continue;
    const char *end = base + segments[i].p_vaddr + segments[i].p_filesz;
    uintptr_t first = (uintptr_t)base + segments[i].p_vaddr;
    for (void *const *word = (void *const *)((first + sizeof *word - 1) & ~(sizeof *word - 1)); (const char *)(word + 1) <= end; word++)
      if (__atomic_load_n(word, __ATOMIC_RELAXED) == callback) return 1;
  }
  return 0;
}

/// Puts the filter in place of libavutil's own callback. An application's callback stays.
static inline void cav_filter_log(void) { if (cav_logs_by_default()) cav_log_set_callback(cav_log_filter); }

/// Has nothing logged, whatever was set.
static inline void cav_silence_log(void) { cav_log_set_callback(NULL); }

// MARK: Hardware

/// The format in which a device's frame is downloaded; AV_PIX_FMT_NONE for a frame in the processor's memory.
static inline enum AVPixelFormat cav_frame_download_format(const AVFrame *frame) {
  if (!frame->hw_frames_ctx) return AV_PIX_FMT_NONE;
  return ((const AVHWFramesContext *)frame->hw_frames_ctx->data)->sw_format;
}

/// Waits until a VA-API device has written a frame's surface, which exporting it does not do. Returns 0 when it has.
static inline int cav_vaapi_sync(const AVFrame *frame) {
  const AVHWFramesContext *frames = (const AVHWFramesContext *)frame->hw_frames_ctx->data;
  // The first field of AVVAAPIDeviceContext (libavutil/hwcontext_vaapi.h); data[3] is the surface (VASurfaceID).
  void *display = *(void **)frames->device_ctx->hwctx;
  // It is loaded, where there is a device: this opens no file, which the process may not be allowed to.
  void *library = dlopen(CAV_VAAPI_LIBRARY, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (!library) return -1;
  int (*sync)(void *, unsigned) = (int (*)(void *, unsigned))dlsym(library, "vaSyncSurface");
  int result = sync ? sync(display, (unsigned)(uintptr_t)frame->data[3]) : -1;
  dlclose(library);
  return result;
}

/// A piece of memory that an exported frame lies in.
typedef struct {
  int descriptor;
  size_t size;  // 0 where it is not known
  uint64_t modifier;
} CAVExportedObject;

/// A plane of an exported frame: the format of its layer (drm_fourcc.h), and where it lies.
typedef struct {
  uint32_t format;
  int object;
  int64_t offset, pitch;
} CAVExportedPlane;

/// The number of objects of a frame that is mapped to AV_PIX_FMT_DRM_PRIME.
static inline int cav_exported_object_count(const AVFrame *frame) {
  int count = ((const AVDRMFrameDescriptor *)frame->data[0])->nb_objects;
  return count < 0 || count > AV_DRM_MAX_PLANES ? 0 : count;
}

/// One of them, below the number.
static inline CAVExportedObject cav_exported_object(const AVFrame *frame, int index) {
  const AVDRMObjectDescriptor *object = &((const AVDRMFrameDescriptor *)frame->data[0])->objects[index];
  return (CAVExportedObject){object->fd, object->size, object->format_modifier};
}

/// Writes the planes of all layers, one after the other. Returns their number; 0 where there are more than fit.
static inline int cav_exported_planes(const AVFrame *frame, CAVExportedPlane planes[AV_DRM_MAX_PLANES]) {
  const AVDRMFrameDescriptor *frames = (const AVDRMFrameDescriptor *)frame->data[0];
  int count = 0;
  for (int l = 0; l < frames->nb_layers && l < AV_DRM_MAX_PLANES; l++) {
    const AVDRMLayerDescriptor *layer = &frames->layers[l];
    for (int p = 0; p < layer->nb_planes; p++) {
      if (count == AV_DRM_MAX_PLANES || p == AV_DRM_MAX_PLANES) return 0;
      const AVDRMPlaneDescriptor *plane = &layer->planes[p];
      planes[count++] = (CAVExportedPlane){layer->format, plane->object_index, plane->offset, plane->pitch};
    }
  }
  return count;
}

/// Writes what a VA-API driver calls itself. Nothing is linked: where a device was opened, libva is loaded.
static inline int cav_vaapi_driver_name(const AVBufferRef *device, char *text, size_t size) {
  // The first field of AVVAAPIDeviceContext (libavutil/hwcontext_vaapi.h), whose header wants libva's.
  void *display = *(void **)((const AVHWDeviceContext *)device->data)->hwctx;
  void *library = dlopen(CAV_VAAPI_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  const char *(*vendor)(void *) = library ? (const char *(*)(void *))dlsym(library, "vaQueryVendorString") : NULL;
  const char *name = vendor ? vendor(display) : NULL;
  return name ? snprintf(text, size, "%s", name) : -1;
}

/// Writes the name of a CUDA device.
static inline int cav_cuda_device_name(int index, char *text, size_t size) {
  void *library = dlopen(CAV_CUDA_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  int (*get)(int *, int) = library ? (int (*)(int *, int))dlsym(library, "cuDeviceGet") : NULL;
  int (*name)(char *, int, int) = library ? (int (*)(char *, int, int))dlsym(library, "cuDeviceGetName") : NULL;
  int device;
  return get && name && !get(&device, index) && !name(text, (int)size, device) ? 0 : -1;
}

/// Sizes of pictures that a device decodes, in luma samples; 0 where its driver does not report one.
typedef struct {
  uint32_t minimumWidth, minimumHeight, maximumWidth, maximumHeight, maximumMacroblocks;
} CAVPictureSizes;

/// Fills in what the sizes lack from the surfaces that a VA-API configuration can have.
static inline void cav_vaapi_surface_sizes(AVBufferRef *device, unsigned configuration, CAVPictureSizes *sizes) {
  void *description = cav_hwdevice_hwconfig_alloc(device);
  if (!description) return;
  // The first field of AVVAAPIHWConfig (libavutil/hwcontext_vaapi.h).
  *(unsigned *)description = configuration;
  AVHWFramesConstraints *limits = cav_hwdevice_get_hwframe_constraints(device, description);
  cav_free(description);
  if (!limits) return;
  if (limits->min_width > 0) sizes->minimumWidth = (uint32_t)limits->min_width;
  if (limits->min_height > 0) sizes->minimumHeight = (uint32_t)limits->min_height;
  // libavutil has INT_MAX where the driver reports none.
  if (!sizes->maximumWidth && limits->max_width < INT_MAX) sizes->maximumWidth = (uint32_t)limits->max_width;
  if (!sizes->maximumHeight && limits->max_height < INT_MAX) sizes->maximumHeight = (uint32_t)limits->max_height;
  cav_hwframe_constraints_free(&limits);
}

/// Whether a VA-API driver decodes a profile (VAProfile), and pictures of which sizes.
static inline int cav_vaapi_decodes(AVBufferRef *device, int profile, CAVPictureSizes *sizes) {
  enum { bitstreamEntrypoint = 1, maximumWidth = 18, maximumHeight = 19 };  // VAEntrypointVLD, VAConfigAttribMaxPicture…
  typedef struct {
    int type;
    uint32_t value;
  } Attribute;  // VAConfigAttrib
  void *display = *(void **)((const AVHWDeviceContext *)device->data)->hwctx;
  void *library = dlopen(CAV_VAAPI_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  if (!library) return 0;
  int (*most)(void *) = (int (*)(void *))dlsym(library, "vaMaxNumEntrypoints");
  int (*query)(void *, int, int *, int *) = (int (*)(void *, int, int *, int *))dlsym(library, "vaQueryConfigEntrypoints");
  int (*attributes)(void *, int, int, Attribute *, int) =
      (int (*)(void *, int, int, Attribute *, int))dlsym(library, "vaGetConfigAttributes");
  int (*create)(void *, int, int, Attribute *, int, unsigned *) =
      (int (*)(void *, int, int, Attribute *, int, unsigned *))dlsym(library, "vaCreateConfig");
  int (*destroy)(void *, unsigned) = (int (*)(void *, unsigned))dlsym(library, "vaDestroyConfig");
  int entrypoints[64], count = 0, decodes = 0;
  if (!most || !query || !attributes || most(display) > 64 || query(display, profile, entrypoints, &count)) return 0;
  for (int i = 0; i < count && i < 64; i++) decodes |= entrypoints[i] == bitstreamEntrypoint;
  if (!decodes) return 0;
  Attribute largest[] = {{maximumWidth, 0}, {maximumHeight, 0}};
  if (!attributes(display, profile, bitstreamEntrypoint, largest, 2)) {
    // The highest bit means not supported (VA_ATTRIB_NOT_SUPPORTED).
    if (!(largest[0].value >> 31)) sizes->maximumWidth = largest[0].value;
    if (!(largest[1].value >> 31)) sizes->maximumHeight = largest[1].value;
  }
  unsigned configuration;
  if (create && destroy && !create(display, profile, bitstreamEntrypoint, NULL, 0, &configuration)) {
    cav_vaapi_surface_sizes(device, configuration, sizes);
    destroy(display, configuration);
  }
  return 1;
}

/// Whether a CUDA device decodes H.264 or H.265 in a chroma format (chroma_format_idc) and bit depth, and pictures of
/// which sizes.
static inline int cav_cuda_decodes(const AVBufferRef *device, enum AVCodecID codec, int chroma, uint32_t depth,
                                   CAVPictureSizes *sizes) {
  enum { h264 = 4, h265 = 8 };  // cudaVideoCodec; cudaVideoChromaFormat is chroma_format_idc
  struct {
    int codec, chroma;
    uint32_t depthMinus8, reserved1[3];
    uint8_t isSupported, decoderCount;
    uint16_t outputFormats;
    uint32_t maximumWidth, maximumHeight, maximumMacroblocks;
    uint16_t minimumWidth, minimumHeight;
    uint8_t hasHistogram, counterDepth;
    uint16_t maximumHistogramBins;
    uint32_t reserved3[10];
  } caps = {.codec = codec == AV_CODEC_ID_H264 ? h264 : h265, .chroma = chroma, .depthMinus8 = depth - 8};  // CUVIDDECODECAPS
  // The first field of AVCUDADeviceContext (libavutil/hwcontext_cuda.h).
  void *context = *(void **)((const AVHWDeviceContext *)device->data)->hwctx;
  void *cuda = dlopen(CAV_CUDA_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  void *video = dlopen(CAV_CUDA_DECODER_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  if (!cuda || !video) return 0;
  int (*push)(void *) = (int (*)(void *))dlsym(cuda, "cuCtxPushCurrent_v2");
  int (*pop)(void **) = (int (*)(void **))dlsym(cuda, "cuCtxPopCurrent_v2");
  int (*query)(void *) = (int (*)(void *))dlsym(video, "cuvidGetDecoderCaps");
  void *previous;
  if (!push || !pop || !query || push(context)) return 0;
  int isAnswered = !query(&caps);
  pop(&previous);
  if (!isAnswered || !caps.isSupported) return 0;
  *sizes = (CAVPictureSizes){caps.minimumWidth, caps.minimumHeight, caps.maximumWidth, caps.maximumHeight,
                             caps.maximumMacroblocks};
  return 1;
}

/// The chroma format of samples (chroma_format_idc).
static inline int cav_chroma_format(const AVPixFmtDescriptor *format) {
  return format->nb_components == 1 ? 0 : format->log2_chroma_h ? 1 : format->log2_chroma_w ? 2 : 3;
}

/// Whether a CUDA device decodes the stream of a context, into so many surfaces. Libavutil's description of its frames
/// takes nothing from the driver.
static inline int cav_cuda_decodes_stream(const AVCodecContext *context, int surfaceCount) {
  enum { mostSurfaces = 32 };  // the most that the driver creates a decoder with
  const AVPixFmtDescriptor *format = cav_pix_fmt_desc_get(context->sw_pix_fmt);
  if (!format || surfaceCount > mostSurfaces) return 0;
  int chroma = cav_chroma_format(format);
  CAVPictureSizes sizes;
  uint32_t width = (uint32_t)context->coded_width, height = (uint32_t)context->coded_height;
  return cav_cuda_decodes(context->hw_device_ctx, context->codec_id, chroma, (uint32_t)format->comp[0].depth, &sizes) &&
         width >= sizes.minimumWidth && width <= sizes.maximumWidth && height >= sizes.minimumHeight &&
         height <= sizes.maximumHeight && (uint64_t)width * height / 256 <= sizes.maximumMacroblocks;
}

/// Whether a device decodes the stream of a context as far as its driver reports: profile, sample format and size. To be
/// called in `get_format`.
static inline int cavcodec_device_decodes(AVCodecContext *context, enum AVPixelFormat format) {
  AVBufferRef *frames = NULL;
  int code = cavcodec_get_hw_frames_parameters(context, context->hw_device_ctx, format, &frames);
  enum { workSurfaces = 3 };  // what libavcodec adds to these parameters
  int surfaceCount = code >= 0 ? ((const AVHWFramesContext *)frames->data)->initial_pool_size + workSurfaces : 0;
  cav_buffer_unref(&frames);
  return code >= 0 && (format != AV_PIX_FMT_CUDA || cav_cuda_decodes_stream(context, surfaceCount));
}

/// Whether a library can be loaded.
static inline int cav_can_load(const char *library) {
  void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle) dlclose(handle);
  return handle != NULL;
}
/// Loads a library for good, so that whoever loads it later needs no file.
static inline void cav_keep_loaded(const char *library) { (void)dlopen(library, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE); }

// MARK: Differences between versions

/// Before 60, libavcodec calls get_buffer2 from its worker threads only on request; from 60 on it always does.
static inline void cav_allow_worker_callbacks(AVCodecContext *context) {
#if LIBAVCODEC_VERSION_MAJOR < 60
  context->thread_safe_callbacks = 1;
#else
  (void)context;
#endif
}

/// Leaves film grain out of pictures, which libavcodec adds from 59 on.
static inline void cav_leave_film_grain_out(AVCodecContext *context) {
#ifdef AV_CODEC_EXPORT_DATA_FILM_GRAIN
  context->export_side_data |= AV_CODEC_EXPORT_DATA_FILM_GRAIN;
#else
  (void)context;
#endif
}

/// Rounds width and height up to what the decoder needs of a picture buffer. Returns the stride alignment in bytes, the
/// greatest of all planes.
static inline int cav_align_dimensions(AVCodecContext *context, int *width, int *height) {
  int alignment[AV_NUM_DATA_POINTERS] = {0}, largest = 1;
  cavcodec_align_dimensions2(context, width, height, alignment);
  for (int i = 0; i < AV_NUM_DATA_POINTERS; i++)
    if (alignment[i] > largest) largest = alignment[i];
  return largest;
}

static inline void cav_frame_set_plane(AVFrame *frame, int index, uint8_t *data, int stride) {
  frame->data[index] = data;
  frame->linesize[index] = stride;
  frame->extended_data = frame->data;
}
static inline uint8_t *cav_frame_plane(const AVFrame *frame, int index) { return frame->data[index]; }
static inline int cav_frame_stride(const AVFrame *frame, int index) { return frame->linesize[index]; }

static inline int cav_frame_is_corrupt(const AVFrame *frame) { return (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0; }

// Fields of the frame before libavutil 58.7, flags from then on.
static inline int cav_frame_is_interlaced(const AVFrame *frame) {
#ifdef AV_FRAME_FLAG_INTERLACED
  return (frame->flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
  return frame->interlaced_frame;
#endif
}
static inline int cav_frame_is_top_field_first(const AVFrame *frame) {
#ifdef AV_FRAME_FLAG_TOP_FIELD_FIRST
  return (frame->flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0;
#else
  return frame->top_field_first;
#endif
}
static inline int cav_frame_is_key(const AVFrame *frame) {
#ifdef AV_FRAME_FLAG_KEY
  return (frame->flags & AV_FRAME_FLAG_KEY) != 0;
#else
  return frame->key_frame;
#endif
}

// MARK: Encoding

static inline const AVCodec *cavcodec_iterate(void **state) { CAV_CALL(CAV_CODEC_LIBRARY, NULL, av_codec_iterate, state); }
static inline int cavcodec_is_encoder(const AVCodec *codec) { CAV_CALL(CAV_CODEC_LIBRARY, 0, av_codec_is_encoder, codec); }
static inline int cavcodec_send_frame(AVCodecContext *context, const AVFrame *frame) { CAV_CALL(CAV_CODEC_LIBRARY, AVERROR(ENOSYS), avcodec_send_frame, context, frame); }
static inline int cavcodec_receive_packet(AVCodecContext *context, AVPacket *packet) { CAV_CALL(CAV_CODEC_LIBRARY, AVERROR(ENOSYS), avcodec_receive_packet, context, packet); }
/// Sets an option of a context or of its encoder.
static inline int cav_set_option(AVCodecContext *context, const char *name, const char *value) { CAV_CALL(CAV_UTIL_LIBRARY, AVERROR(ENOSYS), av_opt_set, context, name, value, AV_OPT_SEARCH_CHILDREN); }

/// Whether a codec encodes without a device. OpenMAX's encoders are not marked as those of devices.
static inline int cav_is_software_encoder(const AVCodec *codec) {
  return cavcodec_is_encoder(codec) && !(codec->capabilities & (AV_CODEC_CAP_HARDWARE | AV_CODEC_CAP_HYBRID)) &&
         !strstr(codec->name, "_omx");
}

/// The formats that an encoder takes, up to AV_PIX_FMT_NONE; NULL if it takes any. A field before libavcodec 61.13.
static inline const enum AVPixelFormat *cav_encoder_formats(const AVCodec *codec) {
#if LIBAVCODEC_VERSION_INT < AV_VERSION_INT(61, 13, 100)
  return codec->pix_fmts;
#else
  static void *address;
  __typeof__(&avcodec_get_supported_config) function = (__typeof__(&avcodec_get_supported_config))cav_resolve(
      &address, CAV_CODEC_LIBRARY, "avcodec_get_supported_config");
  const void *formats = NULL;
  if (function && function(NULL, codec, AV_CODEC_CONFIG_PIX_FORMAT, 0, &formats, NULL) < 0) return NULL;
  return (const enum AVPixelFormat *)formats;
#endif
}

/// Whether samples of a format are also samples of `wanted`: of the same, or of its luma alone.
static inline int cav_format_includes(enum AVPixelFormat format, enum AVPixelFormat wanted) {
  const AVPixFmtDescriptor *all = cav_pix_fmt_desc_get(format), *luma = cav_pix_fmt_desc_get(wanted);
  uint64_t other = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BITSTREAM;
  return format == wanted || (all && luma && luma->nb_components == 1 && !((all->flags | luma->flags) & other) &&
                              !memcmp(&all->comp[0], &luma->comp[0], sizeof all->comp[0]) &&
                              !((all->flags ^ luma->flags) & (AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_FLOAT)));
}

/// Has an empty frame refer to the samples of another: without its side data and properties, which an encoder would
/// write or obey. Fails if the other has another format, if a plane is missing, or without memory.
static inline int cav_frame_lend_samples(AVFrame *target, const AVFrame *source, enum AVPixelFormat wanted) {
  const AVPixFmtDescriptor *format = cav_pix_fmt_desc_get(wanted);
  if (!format || !source->buf[0] || !cav_format_includes((enum AVPixelFormat)source->format, wanted)) return AVERROR(EINVAL);
  for (int i = 0; i < format->nb_components; i++)
    if (!source->data[format->comp[i].plane]) return AVERROR(EINVAL);
  for (int i = 0; i < AV_NUM_DATA_POINTERS && source->buf[i]; i++)
    if (!(target->buf[i] = cav_buffer_ref(source->buf[i]))) return AVERROR(ENOMEM);
  for (int i = 0; i < AV_NUM_DATA_POINTERS; i++) cav_frame_set_plane(target, i, source->data[i], source->linesize[i]);
  target->format = wanted;
  target->width = source->width;
  target->height = source->height;
  return 0;
}

/// Marks a frame as interlaced.
static inline void cav_frame_set_interlaced(AVFrame *frame, int isTopFieldFirst) {
#ifdef AV_FRAME_FLAG_INTERLACED
  frame->flags |= AV_FRAME_FLAG_INTERLACED | (isTopFieldFirst ? AV_FRAME_FLAG_TOP_FIELD_FIRST : 0);
#else
  frame->interlaced_frame = 1;
  frame->top_field_first = isTopFieldFirst;
#endif
}

#pragma clang diagnostic pop
