// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

/// Converts the session's pictures into a format that libavcodec does not produce.
///
/// libavcodec decodes into the conversion's own pool; `GstVideoConverter` or ``SemiPlanarPacking`` reads from there.
final class PictureConversion {
  /// Format of the pictures to convert.
  let source: VideoInfo
  private let target: VideoInfo
  private let converter: VideoConverter
  private let packing: SemiPlanarPacking?
  private let pool: BufferPool
  private let layout: PictureLayout

  /// - Returns: `nil` when there is no such conversion, or no memory.
  init?(of layout: PictureLayout, from source: VideoInfo, to target: VideoInfo) {
    guard let converter = VideoConverter(from: source, to: target) else { return nil }
    let pool = BufferPool.video()
    let alignment = layout.videoAlignment
    var padded = source
    padded.align(alignment)
    var configuration = BufferPool.Configuration(size: UInt32(clamping: padded.size), minimum: 0, maximum: 0)
    configuration.alignmentMask = PictureLayout.alignment - 1
    configuration.videoMeta = true
    configuration.videoAlignment = alignment
    guard pool.configure(configuration, caps: source.caps()), pool.setActive(true) else { return nil }
    self.source = source
    self.target = target
    self.converter = converter
    // Packing moves samples; it cannot change their colorimetry.
    var repacked = target
    repacked.copyDescription(from: source)
    packing = repacked.isEqual(to: target) ? SemiPlanarPacking(from: source.format, to: target.format) : nil
    self.pool = pool
    self.layout = layout
  }

  deinit { pool.setActive(false) }

  /// Whether pictures of this format can be converted to that one.
  static func isPossible(from source: VideoInfo, to target: VideoInfo) -> Bool {
    VideoConverter(from: source, to: target) != nil
  }

  /// Has libavcodec decode into this conversion's buffers.
  func lendPool(to allocator: PoolPictureAllocator) { allocator.use(pool.share(), info: source, for: layout) }

  /// A buffer for pictures that were decoded elsewhere.
  func acquireSource() throws(FlowError) -> Buffer { try pool.acquire() }

  /// Converts a picture.
  func convert(_ picture: borrowing Buffer, into target: inout Buffer) throws(FlowError) {
    guard let packing else { return try converter.convert(picture, into: &target) }
    let decoded = try VideoFrameMap(picture, info: source, for: .reading)
    target.makeWritable()
    var packed = try VideoFrameMap(target, info: self.target, for: .writing)
    packing.pack(decoded, into: &packed)
  }
}
