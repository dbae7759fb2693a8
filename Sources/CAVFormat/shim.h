// SPDX-License-Identifier: MPL-2.0
// Static inline functions for what Swift cannot import from libavformat's headers, for what differs between
// libavformat 59 and 61, and for loading the library at run time, as CAVCodec does.
#pragma once
#include "../CAVCodec/shim.h"
#include <libavformat/avformat.h>
#include <libavutil/dict.h>
#include <libavutil/display.h>
#include <libavutil/log.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/opt.h>

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

#define CAV_FORMAT_LIBRARY "libavformat.so." CAV_STRING(LIBAVFORMAT_VERSION_MAJOR)

enum {
  CAV_ERROR_EXIT = AVERROR_EXIT,
  CAV_ERROR_PERMISSION = AVERROR(EPERM),
  CAV_ERROR_DEMUXER_NOT_FOUND = AVERROR_DEMUXER_NOT_FOUND,
  CAV_ERROR_MUXER_NOT_FOUND = AVERROR_MUXER_NOT_FOUND,
};

static const int64_t CAV_NO_TIMESTAMP = AV_NOPTS_VALUE;

// MARK: The library

static inline unsigned cavformat_version(void) { CAV_CALL(CAV_FORMAT_LIBRARY, 0, avformat_version); }
static inline void cav_log_set_level(int level) { CAV_CALL_VOID(CAV_UTIL_LIBRARY, av_log_set_level, level); }

// MARK: Memory and dictionaries

static inline void *cav_malloc(size_t size) { CAV_CALL(CAV_UTIL_LIBRARY, NULL, av_malloc, size); }
static inline void *cav_realloc_array(void *memory, size_t count, size_t size) { CAV_CALL(CAV_UTIL_LIBRARY, NULL, av_realloc_array, memory, count, size); }
static inline char *cav_strdup(const char *text) { CAV_CALL(CAV_UTIL_LIBRARY, NULL, av_strdup, text); }
static inline int cav_dict_set(AVDictionary **dictionary, const char *key, const char *value, int flags) { CAV_CALL(CAV_UTIL_LIBRARY, AVERROR(ENOSYS), av_dict_set, dictionary, key, value, flags); }
static inline AVDictionaryEntry *cav_dict_get(const AVDictionary *dictionary, const char *key, const AVDictionaryEntry *previous, int flags) { CAV_CALL(CAV_UTIL_LIBRARY, NULL, av_dict_get, dictionary, key, previous, flags); }
static inline void cav_dict_free(AVDictionary **dictionary) { CAV_CALL_VOID(CAV_UTIL_LIBRARY, av_dict_free, dictionary); }

// MARK: Packets

static inline int cav_packet_ref(AVPacket *target, const AVPacket *source) { CAV_CALL(CAV_CODEC_LIBRARY, AVERROR(ENOSYS), av_packet_ref, target, source); }
static inline int cav_new_packet(AVPacket *packet, int size) { CAV_CALL(CAV_CODEC_LIBRARY, AVERROR(ENOSYS), av_new_packet, packet, size); }
static inline uint8_t *cav_packet_new_side_data(AVPacket *packet, enum AVPacketSideDataType type, size_t size) { CAV_CALL(CAV_CODEC_LIBRARY, NULL, av_packet_new_side_data, packet, type, size); }

// MARK: Codec parameters

static inline int cavcodec_parameters_copy(AVCodecParameters *target, const AVCodecParameters *source) { CAV_CALL(CAV_CODEC_LIBRARY, AVERROR(ENOSYS), avcodec_parameters_copy, target, source); }
static inline const char *cavcodec_get_name(enum AVCodecID id) { CAV_CALL(CAV_CODEC_LIBRARY, "unknown", avcodec_get_name, id); }

// MARK: Text subtitles

static inline const AVCodec *cavcodec_find_encoder(enum AVCodecID id) { CAV_CALL(CAV_CODEC_LIBRARY, NULL, avcodec_find_encoder, id); }
static inline int cavcodec_parameters_to_context(AVCodecContext *context, const AVCodecParameters *parameters) { CAV_CALL(CAV_CODEC_LIBRARY, AVERROR(ENOSYS), avcodec_parameters_to_context, context, parameters); }
static inline int cavcodec_parameters_from_context(AVCodecParameters *parameters, const AVCodecContext *context) { CAV_CALL(CAV_CODEC_LIBRARY, AVERROR(ENOSYS), avcodec_parameters_from_context, parameters, context); }
static inline int cavcodec_decode_subtitle2(AVCodecContext *context, AVSubtitle *subtitle, int *isThere, AVPacket *packet) { CAV_CALL(CAV_CODEC_LIBRARY, AVERROR(ENOSYS), avcodec_decode_subtitle2, context, subtitle, isThere, packet); }
static inline int cavcodec_encode_subtitle(AVCodecContext *context, uint8_t *bytes, int size, const AVSubtitle *subtitle) { CAV_CALL(CAV_CODEC_LIBRARY, AVERROR(ENOSYS), avcodec_encode_subtitle, context, bytes, size, subtitle); }
static inline void cavsubtitle_free(AVSubtitle *subtitle) { CAV_CALL_VOID(CAV_CODEC_LIBRARY, avsubtitle_free, subtitle); }

/// Cropping of a container, which FFmpeg 7.1 reads and writes; earlier versions have no such side data.
static inline uint32_t cav_frame_cropping(void) {
#if LIBAVCODEC_VERSION_INT < AV_VERSION_INT(61, 19, 100)
  return UINT32_MAX;
#else
  return AV_PKT_DATA_FRAME_CROPPING;
#endif
}

/// The ambient viewing environment, which FFmpeg 7.1 reads and writes.
static inline uint32_t cav_ambient_viewing_environment(void) {
#if LIBAVCODEC_VERSION_INT < AV_VERSION_INT(61, 19, 100)
  return UINT32_MAX;
#else
  return AV_PKT_DATA_AMBIENT_VIEWING_ENVIRONMENT;
#endif
}

/// The channels of a sound stream: a field before libavcodec 59.24, part of the channel layout from then on.
static inline int cav_parameters_channels(const AVCodecParameters *parameters) {
#if LIBAVCODEC_VERSION_INT < AV_VERSION_INT(59, 24, 100)
  return parameters->channels;
#else
  return parameters->ch_layout.nb_channels;
#endif
}

/// Sets the channels of a sound stream, in their usual order.
static inline void cav_parameters_set_channels(AVCodecParameters *parameters, int count) {
#if LIBAVCODEC_VERSION_INT < AV_VERSION_INT(59, 24, 100)
  parameters->channels = count;
#else
  CAV_CALL_VOID(CAV_UTIL_LIBRARY, av_channel_layout_default, &parameters->ch_layout, count);
#endif
}

/// Gives a sound stream that does not name its channels those that are usual for their number.
static inline void cav_parameters_name_channels(AVCodecParameters *parameters) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(59, 24, 100)
  if (parameters->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC && parameters->ch_layout.nb_channels > 0)
    cav_parameters_set_channels(parameters, parameters->ch_layout.nb_channels);
#endif
}

/// Side data of a whole stream: in the stream before libavformat 60.15, in its codec parameters from then on.
static inline int cav_stream_side_data_count(const AVStream *stream) {
#if LIBAVFORMAT_VERSION_INT < AV_VERSION_INT(60, 15, 100)
  return stream->nb_side_data;
#else
  return stream->codecpar->nb_coded_side_data;
#endif
}
static inline const AVPacketSideData *cav_stream_side_data(const AVStream *stream, int index) {
#if LIBAVFORMAT_VERSION_INT < AV_VERSION_INT(60, 15, 100)
  return &stream->side_data[index];
#else
  return &stream->codecpar->coded_side_data[index];
#endif
}
/// Removes what codec parameters that were copied have of a type. Before 60.15 these have no side data.
static inline void cav_stream_remove_side_data(AVStream *stream, enum AVPacketSideDataType type) {
#if LIBAVFORMAT_VERSION_INT < AV_VERSION_INT(60, 15, 100)
  (void)stream, (void)type;
#else
  AVCodecParameters *parameters = stream->codecpar;
  CAV_CALL_VOID(CAV_CODEC_LIBRARY, av_packet_side_data_remove, parameters->coded_side_data,
                &parameters->nb_coded_side_data, type);
#endif
}
/// Room for side data of a stream that is written; NULL without memory. Replaces what is there of this type.
static inline uint8_t *cav_stream_new_side_data(AVStream *stream, enum AVPacketSideDataType type, size_t size) {
#if LIBAVFORMAT_VERSION_INT < AV_VERSION_INT(60, 15, 100)
  CAV_CALL(CAV_FORMAT_LIBRARY, NULL, av_stream_new_side_data, stream, type, size);
#else
  static void *address;
  __typeof__(&av_packet_side_data_new) function =
      (__typeof__(&av_packet_side_data_new))cav_resolve(&address, CAV_CODEC_LIBRARY, "av_packet_side_data_new");
  AVCodecParameters *parameters = stream->codecpar;
  AVPacketSideData *data =
      function ? function(&parameters->coded_side_data, &parameters->nb_coded_side_data, type, size, 0) : NULL;
  return data ? data->data : NULL;
#endif
}

// MARK: Input and output by callbacks
//
// libavformat 61 passes the bytes to write as const. The functions of this structure are the same with every version.

struct cav_io {
  void *owner;
  /// Bytes read, 0 at the end, or a negative error.
  int (*read)(void *owner, uint8_t *bytes, int count);
  /// Bytes written, or a negative error.
  int (*write)(void *owner, const uint8_t *bytes, int count);
  /// The new position, or the size for AVSEEK_SIZE, or a negative error. NULL where nothing can be sought.
  int64_t (*seek)(void *owner, int64_t offset, int whence);
};

static inline int cav_io_read(void *opaque, uint8_t *bytes, int count) {
  struct cav_io *io = (struct cav_io *)opaque;
  int result = io->read(io->owner, bytes, count);
  return result == 0 ? AVERROR_EOF : result;
}
#if LIBAVFORMAT_VERSION_MAJOR < 61
static inline int cav_io_write(void *opaque, uint8_t *bytes, int count) {
#else
static inline int cav_io_write(void *opaque, const uint8_t *bytes, int count) {
#endif
  struct cav_io *io = (struct cav_io *)opaque;
  return io->write(io->owner, bytes, count);
}
static inline int64_t cav_io_seek(void *opaque, int64_t offset, int whence) {
  struct cav_io *io = (struct cav_io *)opaque;
  return io->seek(io->owner, offset, whence & ~AVSEEK_FORCE);
}

static inline void cavio_context_free(AVIOContext **context) { CAV_CALL_VOID(CAV_FORMAT_LIBRARY, avio_context_free, context); }
static inline void cavio_flush(AVIOContext *context) { CAV_CALL_VOID(CAV_FORMAT_LIBRARY, avio_flush, context); }
static inline AVIOContext *cavio_alloc_context_raw(unsigned char *buffer, int size, int isWritten, struct cav_io *io) {
  CAV_CALL(CAV_FORMAT_LIBRARY, NULL, avio_alloc_context, buffer, size, isWritten, io, io->read ? cav_io_read : NULL,
           io->write ? cav_io_write : NULL, io->seek ? cav_io_seek : NULL);
}
/// A context with a buffer of its own; NULL without memory. `io` must outlive it.
static inline AVIOContext *cav_io_alloc(struct cav_io *io, int size) {
  unsigned char *buffer = (unsigned char *)cav_malloc(size);
  if (!buffer) return NULL;
  AVIOContext *context = cavio_alloc_context_raw(buffer, size, io->write != NULL, io);
  if (!context) cav_free(buffer);
  else context->seekable = io->seek ? AVIO_SEEKABLE_NORMAL : 0;
  return context;
}
/// Frees a context and its buffer, which libavformat may have replaced.
static inline void cav_io_free(AVIOContext **context) {
  if (!*context) return;
  cav_free((*context)->buffer);
  (*context)->buffer = NULL;
  cavio_context_free(context);
}
/// The error of the context's last call, or 0.
static inline int cav_io_error(const AVIOContext *context) { return context->error; }

// MARK: Reading

static inline AVFormatContext *cavformat_alloc_context(void) { CAV_CALL(CAV_FORMAT_LIBRARY, NULL, avformat_alloc_context); }
static inline void cavformat_free_context(AVFormatContext *context) { CAV_CALL_VOID(CAV_FORMAT_LIBRARY, avformat_free_context, context); }
static inline const AVInputFormat *cav_find_input_format(const char *name) { CAV_CALL(CAV_FORMAT_LIBRARY, NULL, av_find_input_format, name); }
static inline int cavformat_open_input_raw(AVFormatContext **context, const char *url, const AVInputFormat *format, AVDictionary **options) { CAV_CALL(CAV_FORMAT_LIBRARY, AVERROR(ENOSYS), avformat_open_input, context, url, (void *)format, options); }
static inline void cavformat_close_input(AVFormatContext **context) { CAV_CALL_VOID(CAV_FORMAT_LIBRARY, avformat_close_input, context); }
static inline int cavformat_find_stream_info(AVFormatContext *context) { CAV_CALL(CAV_FORMAT_LIBRARY, AVERROR(ENOSYS), avformat_find_stream_info, context, NULL); }
static inline int cav_read_frame(AVFormatContext *context, AVPacket *packet) { CAV_CALL(CAV_FORMAT_LIBRARY, AVERROR(ENOSYS), av_read_frame, context, packet); }
static inline int cavformat_seek_file(AVFormatContext *context, int stream, int64_t least, int64_t time, int64_t most, int flags) { CAV_CALL(CAV_FORMAT_LIBRARY, AVERROR(ENOSYS), avformat_seek_file, context, stream, least, time, most, flags); }

/// Refuses every file but the one that was opened: playlists and references to other files are not followed.
static inline int cav_refuse_io(
    struct AVFormatContext *context, AVIOContext **io, const char *url, int flags, AVDictionary **options) {
  (void)context, (void)io, (void)url, (void)flags, (void)options;
  return AVERROR(EPERM);
}

static inline AVStream *cav_stream(const AVFormatContext *context, unsigned index) { return context->streams[index]; }
static inline AVChapter *cav_chapter(const AVFormatContext *context, unsigned index) { return context->chapters[index]; }
static inline AVProgram *cav_program(const AVFormatContext *context, unsigned index) { return context->programs[index]; }

// MARK: Writing

static inline int cavformat_alloc_output_context2(AVFormatContext **context, const char *format) { CAV_CALL(CAV_FORMAT_LIBRARY, AVERROR(ENOSYS), avformat_alloc_output_context2, context, NULL, format, NULL); }
static inline AVStream *cavformat_new_stream(AVFormatContext *context) { CAV_CALL(CAV_FORMAT_LIBRARY, NULL, avformat_new_stream, context, NULL); }
static inline int cavformat_write_header(AVFormatContext *context, AVDictionary **options) { CAV_CALL(CAV_FORMAT_LIBRARY, AVERROR(ENOSYS), avformat_write_header, context, options); }
static inline int cav_interleaved_write_frame(AVFormatContext *context, AVPacket *packet) { CAV_CALL(CAV_FORMAT_LIBRARY, AVERROR(ENOSYS), av_interleaved_write_frame, context, packet); }
static inline int cav_write_frame(AVFormatContext *context, AVPacket *packet) { CAV_CALL(CAV_FORMAT_LIBRARY, AVERROR(ENOSYS), av_write_frame, context, packet); }
static inline int cav_write_trailer(AVFormatContext *context) { CAV_CALL(CAV_FORMAT_LIBRARY, AVERROR(ENOSYS), av_write_trailer, context); }
/// Sets an option of the muxer, in front of its header or behind it.
static inline int cav_set_muxer_option(AVFormatContext *context, const char *name, const char *value) { CAV_CALL(CAV_UTIL_LIBRARY, AVERROR(ENOSYS), av_opt_set, context->priv_data, name, value, 0); }
/// Whether a muxer can hold a codec: 1, 0, or a negative error where that is not known.
static inline int cavformat_query_codec(const AVOutputFormat *format, enum AVCodecID id) { CAV_CALL(CAV_FORMAT_LIBRARY, AVERROR(ENOSYS), avformat_query_codec, format, id, FF_COMPLIANCE_UNOFFICIAL); }

#pragma clang diagnostic pop
