// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer

/// A file of pictures of one size and format, without padding: raw, or YUV4MPEG with its headers.
final class PictureFile {
  let output: OutputFile
  let info: VideoInfo
  private let isYUV4MPEG: Bool
  private let fieldOrder: String?
  private let header: String?
  private let writer: ByteWriter
  private(set) var pictures = 0

  init(_ output: OutputFile, first: Sample, info: VideoInfo, isYUV4MPEG: Bool) throws(Failure) {
    (self.output, self.info, self.isYUV4MPEG) = (output, info, isYUV4MPEG)
    fieldOrder = first.capsField("field-order")?.string
    header = isYUV4MPEG ? YUV4MPEG.header(first, info) : nil
    writer = try ByteWriter(output)
    guard isYUV4MPEG else { return }
    guard let header else {
      throw Failure("\(output.name): YUV4MPEG has no name for \(info.format.name); see --pixel-format")
    }
    try writer.write(header)
  }

  /// Whether pictures of this description can be written into the same file.
  func fits(_ other: VideoInfo) -> Bool {
    other.width == info.width && other.height == info.height && other.format == info.format
  }

  /// Whether the file's header is true of a picture: interlacing, frame rate, shape and range may change too.
  func isDescribed(by sample: Sample, _ info: VideoInfo) -> Bool {
    header == nil || header == YUV4MPEG.header(sample, info)
  }

  func write(_ sample: Sample) throws(Failure) {
    if isYUV4MPEG {
      try writer.write(YUV4MPEG.frameHeader(info, fieldOrder: fieldOrder, flags: sample.attributes.flags))
    }
    try sample.forEachPlane { plane throws(Failure) in try writer.write(plane) }
    pictures += 1
  }
}

extension Sample {
  /// Maps the raw picture for reading.
  func picture() throws(Failure) -> VideoFrameMap {
    do throws(FlowError) { return try mapVideo() } catch {
      throw Failure("a picture could not be read (flow \(error.rawValue))")
    }
  }

  /// Calls `body` with each plane of the raw picture, cropped and without padding.
  func forEachPlane(_ body: (Span<UInt8>) throws(Failure) -> Void) throws(Failure) {
    let map = try picture()
    for plane in 0..<map.planeCount {
      // SAFETY: the memory is the map's, which lives to the end of this function.
      guard let (first, stride, count) = unsafe map.rows(ofPlane: plane), let start = first.baseAddress else {
        continue
      }
      // Rows without padding between them are written as they are.
      if stride == first.count {
        let rows = unsafe UnsafeRawBufferPointer(start: start, count: stride * count)
        try unsafe body(Span<UInt8>(_unsafeBytes: rows))
        continue
      }
      var rows: [UInt8] = []
      rows.reserveCapacity(first.count * count)
      for row in 0..<count {
        unsafe rows.append(contentsOf: UnsafeRawBufferPointer(start: start + row * stride, count: first.count))
      }
      try body(rows.span)
    }
  }
}

extension VideoInfo {
  /// Whether pictures are fields, one after the other. Their description has the frame's rate and height.
  var hasAlternatingFields: Bool { interlaceMode == .alternate }
  /// The height of a picture.
  var pictureHeight: Int { hasAlternatingFields ? (height + 1) / 2 : height }
}
