// SPDX-License-Identifier: MPL-2.0
// What Swift's importer leaves out of libavcodec (macros), and what differs between libavcodec 58 and 61.
#pragma once
#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavutil/avutil.h>
#include <libavutil/buffer.h>
#include <libavutil/error.h>
#include <libavutil/frame.h>
#include <libavutil/mem.h>
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
  CAV_ERROR_STRING_SIZE = AV_ERROR_MAX_STRING_SIZE,
  CAV_INPUT_PADDING = AV_INPUT_BUFFER_PADDING_SIZE,
};

/// The decoder as const in every version (58 returns it mutable).
static inline const AVCodec *cav_find_decoder(enum AVCodecID id) { return avcodec_find_decoder(id); }

/// Before 60, libavcodec calls get_buffer2 from its workers only when asked to; from 60 on it always does.
static inline void cav_allow_worker_callbacks(AVCodecContext *context) {
#if LIBAVCODEC_VERSION_MAJOR < 60
  context->thread_safe_callbacks = 1;
#else
  (void)context;
#endif
}

/// Coded size and stride alignment that the decoder's routines need of a picture buffer.
static inline int cav_align_dimensions(AVCodecContext *context, int *width, int *height) {
  int alignment[AV_NUM_DATA_POINTERS] = {0}, largest = 1;
  avcodec_align_dimensions2(context, width, height, alignment);
  for (int i = 0; i < AV_NUM_DATA_POINTERS; i++)
    if (alignment[i] > largest) largest = alignment[i];
  return largest;
}

/// av_buffer_create, whose size is an int before libavutil 57.
static inline AVBufferRef *cav_buffer_create(
    uint8_t *data, size_t size, void (*release)(void *opaque, uint8_t *data), void *opaque) {
#if LIBAVUTIL_VERSION_MAJOR < 57
  if (size > INT_MAX) return NULL;
  return av_buffer_create(data, (int)size, release, opaque, 0);
#else
  return av_buffer_create(data, size, release, opaque, 0);
#endif
}

static inline void cav_frame_set_plane(AVFrame *frame, int index, uint8_t *data, int stride) {
  frame->data[index] = data;
  frame->linesize[index] = stride;
  frame->extended_data = frame->data;
}
static inline uint8_t *cav_frame_plane(const AVFrame *frame, int index) { return frame->data[index]; }
static inline int cav_frame_stride(const AVFrame *frame, int index) { return frame->linesize[index]; }

static inline int cav_frame_is_corrupt(const AVFrame *frame) { return (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0; }

// From libavutil 58.7 on these are flags.
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

#pragma clang diagnostic pop
