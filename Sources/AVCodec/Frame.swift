// SPDX-License-Identifier: MPL-2.0
package import CAVCodec

/// A reference to one decoded frame (`AVFrame`): empty, or holding picture memory that the decoder may hold as well.
@safe package struct Frame: ~Copyable, @unchecked Sendable {
  package let raw: UnsafeMutablePointer<AVFrame>

  /// Makes an empty frame.
  ///
  /// - Throws: `AVError.outOfMemory`.
  package init() throws(AVError) {
    guard let frame = unsafe cav_frame_alloc() else { throw .outOfMemory }
    unsafe raw = unsafe frame
  }

  deinit {
    var frame: UnsafeMutablePointer<AVFrame>? = unsafe raw
    unsafe cav_frame_free(&frame)
  }

  /// Releases the content.
  package func removeContent() { unsafe cav_frame_unref(raw) }

  /// Timestamp of the packet that began the picture; `Int64.min` when libavcodec lost it.
  package var timestamp: Int64 { unsafe raw.pointee.pts }
  /// The layout of samples in memory.
  package var format: FrameFormat { unsafe FrameFormat(rawValue: raw.pointee.format) }
  /// Coded width in luma samples.
  package var width: Int { unsafe Int(raw.pointee.width) }
  /// Coded height in luma samples.
  package var height: Int { unsafe Int(raw.pointee.height) }
  /// Luma columns to crop at the left edge; `width` includes them.
  package var cropLeft: Int { unsafe Int(clamping: raw.pointee.crop_left) }
  /// Luma columns to crop at the right edge.
  package var cropRight: Int { unsafe Int(clamping: raw.pointee.crop_right) }
  /// Luma rows to crop at the top.
  package var cropTop: Int { unsafe Int(clamping: raw.pointee.crop_top) }
  /// Luma rows to crop at the bottom.
  package var cropBottom: Int { unsafe Int(clamping: raw.pointee.crop_bottom) }

  /// Not all references of the picture were there (`AV_FRAME_FLAG_CORRUPT`).
  package var isCorrupt: Bool { unsafe cav_frame_is_corrupt(raw) != 0 }
  /// Errors met in decoding it.
  package var errors: FrameErrors { unsafe FrameErrors(rawValue: raw.pointee.decode_error_flags) }
  /// Two fields, or an interlaced frame.
  package var isInterlaced: Bool { unsafe cav_frame_is_interlaced(raw) != 0 }
  /// The top field is the first of the two.
  package var isTopFieldFirst: Bool { unsafe cav_frame_is_top_field_first(raw) != 0 }
  /// A random access point.
  package var isKey: Bool { unsafe cav_frame_is_key(raw) != 0 }
  /// Extra field periods for which the picture is displayed (`repeat_pict`).
  package var repeatCount: Int { unsafe Int(raw.pointee.repeat_pict) }

  /// Full-range samples (`AVCOL_RANGE_JPEG`); nil when the stream does not signal it.
  package var isFullRange: Bool? {
    switch unsafe raw.pointee.color_range {
    case AVCOL_RANGE_JPEG: true
    case AVCOL_RANGE_MPEG: false
    default: nil
    }
  }
  /// `colour_primaries` code point (H.264 Table E-3, H.273), 2 for unspecified.
  package var colourPrimaries: UInt8 { unsafe UInt8(truncatingIfNeeded: raw.pointee.color_primaries.rawValue) }
  /// `transfer_characteristics` code point (H.264 Table E-4, H.273), 2 for unspecified.
  package var transferCharacteristics: UInt8 { unsafe UInt8(truncatingIfNeeded: raw.pointee.color_trc.rawValue) }
  /// `matrix_coefficients` code point (H.264 Table E-5, H.273), 2 for unspecified.
  package var matrixCoefficients: UInt8 { unsafe UInt8(truncatingIfNeeded: raw.pointee.colorspace.rawValue) }
  /// `chroma_sample_loc_type` (H.264 E.2.1), 0 to 5; nil when the stream does not signal it.
  package var chromaSampleLocation: UInt8? {
    let location = unsafe raw.pointee.chroma_location.rawValue
    return location >= 1 ? UInt8(truncatingIfNeeded: location - 1) : nil
  }
  /// Sample aspect ratio; nil when the stream does not signal it.
  package var sampleAspectRatio: (width: Int, height: Int)? {
    let ratio = unsafe raw.pointee.sample_aspect_ratio
    return ratio.num > 0 && ratio.den > 0 ? (Int(ratio.num), Int(ratio.den)) : nil
  }

  /// Start of a plane, nil when the frame has no such plane.
  package func plane(_ index: Int) -> UnsafeMutablePointer<UInt8>? {
    guard 0..<4 ~= index else { return nil }
    return unsafe cav_frame_plane(raw, Int32(index))
  }
  /// Bytes from one row of a plane to the next, 0 when the frame has no such plane.
  package func stride(_ index: Int) -> Int {
    guard 0..<4 ~= index else { return 0 }
    return unsafe Int(cav_frame_stride(raw, Int32(index)))
  }

  /// The `FrameBuffer.owner` of the memory that this frame lies in; nil for an empty frame.
  package var owner: AnyObject? {
    guard let buffer = unsafe raw.pointee.buf.0, let opaque = unsafe cav_buffer_get_opaque(buffer) else { return nil }
    return unsafe Unmanaged<AnyObject>.fromOpaque(opaque).takeUnretainedValue()
  }
}

/// Layout of samples in memory, by libavutil's number (`AVPixelFormat`). Unknown numbers are kept.
package struct FrameFormat: RawRepresentable, Hashable, Sendable {
  /// The `AVPixelFormat`; −1 for none.
  package let rawValue: Int32
  /// Wraps an `AVPixelFormat`.
  package init(rawValue: Int32) { self.rawValue = rawValue }
  init(_ format: AVPixelFormat) { rawValue = format.rawValue }

  /// libavutil's short name (`yuv420p10le`), the same in all its versions, unlike the number; nil if unknown.
  package var name: String? {
    guard let text = unsafe cav_get_pix_fmt_name(AVPixelFormat(rawValue)) else { return nil }
    return unsafe String(cString: text)
  }

  /// The format of that short name; nil when libavutil has none.
  package init?(name: String) {
    let format = unsafe cav_get_pix_fmt(name)
    guard format != AV_PIX_FMT_NONE else { return nil }
    self.init(format)
  }
}

/// Errors met while a frame was decoded (`AVFrame.decode_error_flags`).
package struct FrameErrors: OptionSet, Hashable, Sendable {
  /// libavcodec's flags.
  package let rawValue: Int32
  /// Wraps libavcodec's flags.
  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// The bitstream is invalid (`FF_DECODE_ERROR_INVALID_BITSTREAM`).
  package static let invalidBitstream = FrameErrors(rawValue: FF_DECODE_ERROR_INVALID_BITSTREAM)
  /// A reference is missing (`FF_DECODE_ERROR_MISSING_REFERENCE`).
  package static let missingReference = FrameErrors(rawValue: FF_DECODE_ERROR_MISSING_REFERENCE)
  /// Macroblocks were concealed (`FF_DECODE_ERROR_CONCEALMENT_ACTIVE`).
  package static let concealment = FrameErrors(rawValue: FF_DECODE_ERROR_CONCEALMENT_ACTIVE)
  /// Not all slices were decoded (`FF_DECODE_ERROR_DECODE_SLICES`). With frame threads, up to libavcodec 61, it is at
  /// times set for intact field pairs too.
  package static let slices = FrameErrors(rawValue: FF_DECODE_ERROR_DECODE_SLICES)
}
