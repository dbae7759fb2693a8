// SPDX-License-Identifier: MPL-2.0
import CodecLink
public import H26x

/// A decoded picture: a read-only reference to memory that the codec may still read. Free to cross threads.
@safe public final class DecodedPicture: Sendable {
  /// The codec's report, with a possible crop.
  let description: PictureDescription
  let status: PictureStatus
  let memory: PictureMemory

  init(_ picture: PictureDescription, _ status: PictureStatus, in memory: PictureMemory) {
    var description = picture
    description.crop = picture.crop.bounded(width: picture.width, height: picture.height)
    self.description = description
    self.status = status
    self.memory = memory
  }

  /// The tag given to `decode` with the access unit; of two fields, with the first.
  public var tag: UInt64 { status.request.tag }
  /// The presentation time given to `decode` with the access unit; of two fields, with the first.
  public var time: Duration? { status.request.time }
  /// The picture's duration, as given to `decode` with the access unit; of two fields, the sum of both.
  public var duration: Duration? { status.request.duration }
  /// The memory layout of the samples.
  public var pixelFormat: PixelFormat { memory.pixelFormat }
  /// Coded width in luma samples.
  public var codedWidth: Int { description.width }
  /// Coded height in luma samples.
  public var codedHeight: Int { description.height }
  /// The crop from the coded size; exact, never rounded for alignment.
  public var crop: PictureCrop { description.crop }
  /// Damaged, or decoded from a damaged picture.
  public var isCorrupt: Bool { status.isCorrupt }
  /// Two fields, or an interlaced frame.
  public var isInterlaced: Bool { description.isInterlaced }
  /// The top field is the first of the two.
  public var isTopFieldFirst: Bool { description.isTopFieldFirst }
  /// The first field is displayed again after the second (`pic_struct` 5 and 6, H.264 Table D-1, H.265 Table D.2).
  public var repeatsFirstField: Bool { description.repeatsFirstField }
  /// Only one of its two fields came; libavcodec fills the other's rows from it. `isTopFieldFirst` identifies the
  /// field that came.
  public var isSingleField: Bool { status.isSingleField }
  /// Decoding may begin here.
  public var isRandomAccessPoint: Bool { status.isRandomAccessPoint }
  /// The color description of the samples.
  public var colour: PictureColour { description.colour }
  /// The display that the sequence was mastered on (HDR10, SEI of type 137); nil when the stream does not signal it.
  public var masteringDisplay: MasteringDisplayColourVolume? { status.request.display.masteringDisplay }
  /// The sequence's light levels (HDR10, SEI of type 144); nil when the stream does not signal them.
  public var contentLightLevel: ContentLightLevel? { status.request.display.contentLight }
  /// Width and height of a sample; nil when the stream does not signal them.
  public var sampleAspectRatio: SampleAspectRatio? { description.sampleAspectRatio }
  /// The session's latency when this picture came out.
  public var latency: SessionLatency { status.latency }

  /// Cropped width in luma samples.
  public var width: Int { codedWidth - crop.left - crop.right }
  /// Cropped height in luma samples.
  public var height: Int { codedHeight - crop.top - crop.bottom }
  /// Size on square pixels, rounded: the width is scaled by ``sampleAspectRatio``.
  public var presentationSize: VideoSize {
    guard let ratio = sampleAspectRatio, ratio.width > 0, ratio.height > 0 else {
      return VideoSize(width: width, height: height)
    }
    let (high, low) = UInt64(width).multipliedFullWidth(by: UInt64(ratio.width))
    guard high == 0 else { return VideoSize(width: width, height: height) }
    let scaled = low.addingReportingOverflow(UInt64(ratio.height) / 2).partialValue / UInt64(ratio.height)
    return VideoSize(width: max(1, Int(clamping: scaled)), height: height)
  }
  /// Number of planes.
  public var planeCount: Int { pixelFormat.planeCount }

  /// The token of the allocator's `PictureBuffer` that holds this picture; nil when the session's own memory does.
  public var token: AnyObject? { memory.token }

  /// A plane, cropped.
  ///
  /// - Returns: an empty plane for an index that the pixel format does not have.
  @_lifetime(borrow self)
  public func plane(_ index: Int) -> PicturePlane {
    guard unsafe memory.planes.indices.contains(index) else { return PicturePlane() }
    let first = unsafe memory.planes[index]
    let start = unsafe first.start + firstSample(ofPlane: index, stride: first.stride)
    let plane = unsafe PicturePlane(
      start: start, stride: first.stride, rowByteCount: pixelFormat.rowByteCount(plane: index, width: width),
      rowCount: pixelFormat.rowCount(plane: index, height: height))
    return unsafe _overrideLifetime(plane, borrowing: self)
  }

  /// A copy of the cropped picture: all planes one after the other, rows from the top, without padding.
  public func copiedBytes() -> [UInt8] {
    var bytes: [UInt8] = []
    let sizes = (0..<planeCount).map {
      pixelFormat.rowByteCount(plane: $0, width: width) * pixelFormat.rowCount(plane: $0, height: height)
    }
    bytes.reserveCapacity(sizes.reduce(0, +))
    for index in 0..<planeCount {
      let plane = plane(index)
      for number in 0..<plane.rowCount {
        unsafe plane.row(number).withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
      }
    }
    return bytes
  }

  /// The location of samples in memory that the codec's process has written; `nil` if the memory is this process's
  /// own.
  package var sharedSamples: SharedSamples? {
    // Descriptors may have been short, so that the memory has none any more.
    guard let shared = memory.sharedMemory, shared.rawValue >= 0 else { return nil }
    let offsets = unsafe memory.planes.indices.map { index in
      let plane = unsafe memory.planes[index]
      let first = unsafe firstSample(ofPlane: index, stride: plane.stride)
      return unsafe UnsafeRawPointer(plane.start) - UnsafeRawPointer(shared.base) + first
    }
    return SharedSamples(
      descriptor: shared.rawValue, byteCount: shared.byteCount, offsets: offsets,
      strides: unsafe memory.planes.map { unsafe $0.stride })
  }

  /// Whether the picture lies in a device's memory: only if ``SessionConfiguration/outputMemory`` requests that.
  package var isOfDevice: Bool { memory.surface != nil }

  /// The device's arrangement of samples in its memory (drm_fourcc.h), 0 for row after row; `nil` if the picture is
  /// not in a device's memory.
  package var deviceModifier: UInt64? { memory.surface?.modifier }

  /// Whether the planes can be read. False if the picture is in a device's memory only; the planes are then empty.
  package var hasSamples: Bool { unsafe !memory.planes.isEmpty }

  /// The location of the samples in a device's memory; `nil` if they are not in one.
  package var deviceSamples: DeviceSamples? {
    guard let description = memory.surface?.description else { return nil }
    return DeviceSamples(description) { firstSample(ofPlane: $0, stride: $1) }
  }

  /// The offset of a cropped plane in the coded plane, in bytes.
  private func firstSample(ofPlane index: Int, stride: Int) -> Int {
    let shift = index > 0 ? pixelFormat.chromaShift : (0, 0)
    let column = pixelFormat.rowByteCount(plane: index, width: (crop.left >> shift.0) << shift.0)
    return (crop.top >> shift.1) * stride + column
  }

  /// A plane's rows and the padding between them as one piece of memory, readable as long as the picture lives.
  /// Returns nil if the left edge is cropped, so that rows have padding on both sides.
  @unsafe package func contiguousPlane(_ index: Int) -> UnsafeRawBufferPointer? {
    guard unsafe memory.planes.indices.contains(index), crop.left == 0 else { return nil }
    let shift = index > 0 ? pixelFormat.chromaShift : (0, 0)
    let plane = unsafe memory.planes[index]
    let start = unsafe UnsafeRawPointer(plane.start) + (crop.top >> shift.1) * plane.stride
    return unsafe UnsafeRawBufferPointer(
      start: start, count: plane.stride * pixelFormat.rowCount(plane: index, height: height))
  }

  /// Calls `body` with the start of a plane of the coded, uncropped picture, and its stride, for code in C.
  ///
  /// The memory may be read while `body` runs. Nil for an index that the pixel format does not have.
  public func withUnsafeCodedPlane<Result, Failure: Error>(
    _ index: Int, _ body: (_ start: UnsafePointer<UInt8>, _ stride: Int) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard unsafe memory.planes.indices.contains(index) else { return nil }
    let plane = unsafe memory.planes[index]
    let result = unsafe try body(UnsafePointer(plane.start), plane.stride)
    extendLifetime(self)
    return result
  }
}

extension PictureCrop {
  /// The crop, or none if it exceeds the picture. The stream may signal any values.
  func bounded(width: Int, height: Int) -> PictureCrop {
    guard left >= 0, right >= 0, top >= 0, bottom >= 0, left < width, right < width - left, top < height,
      bottom < height - top
    else { return PictureCrop() }
    return self
  }
}

/// One cropped plane of a picture, readable as long as the picture lives.
@safe public struct PicturePlane: ~Escapable {
  private let start: UnsafePointer<UInt8>?
  /// Bytes from one row to the next.
  public let stride: Int
  /// Bytes of a row that belong to the picture.
  public let rowByteCount: Int
  /// Number of rows.
  public let rowCount: Int

  @_lifetime(immortal)
  init() {
    unsafe start = nil
    stride = 0
    rowByteCount = 0
    rowCount = 0
  }

  @_lifetime(borrow start)
  init(start: UnsafeMutablePointer<UInt8>, stride: Int, rowByteCount: Int, rowCount: Int) {
    unsafe self.start = unsafe UnsafePointer(start)
    self.stride = stride
    self.rowByteCount = rowByteCount
    self.rowCount = rowCount
  }

  /// One row, without padding; empty for an index out of range.
  @_lifetime(copy self)
  public func row(_ index: Int) -> Span<UInt8> {
    guard let start = unsafe start, 0..<rowCount ~= index else { return Span() }
    let row = unsafe Span(_unsafeStart: start + index * stride, count: rowByteCount)
    return unsafe _overrideLifetime(row, copying: self)
  }
}

/// A session's record of a picture that is output.
struct PictureStatus {
  /// The request for its access unit; of two fields, for the first.
  let request: DecodeRequest
  let isCorrupt: Bool
  let isSingleField: Bool
  let isRandomAccessPoint: Bool
  let latency: SessionLatency
}

/// The delay from a session's input to its output.
public struct SessionLatency: Sendable, Hashable {
  /// Frames held back for reordering.
  public let reorderDepth: Int
  /// Frames held back by frame threads, and by the exchange with a codec in a process of its own.
  public let threadDelay: Int
  /// Both together, in frames.
  public var frames: Int { reorderDepth + threadDelay }
}
