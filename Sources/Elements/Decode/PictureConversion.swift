// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

/// Converts the session's pictures into a format that libavcodec does not produce.
///
/// libavcodec decodes into the conversion's own pool; `GstVideoConverter` or ``SemiPlanarPacking`` reads from there.
final class PictureConversion {
  /// Format of the pictures to convert.
  let source: VideoInfo
  private let step: Step
  private let repacking: Repacking?
  private let pool: BufferPool
  private let layout: PictureLayout

  /// From one format to another.
  private final class Step {
    private let source: VideoInfo, target: VideoInfo
    private let converter: VideoConverter
    private let packing: SemiPlanarPacking?

    init?(from source: VideoInfo, to target: VideoInfo) {
      guard let converter = VideoConverter(from: source, to: target) else { return nil }
      self.source = source
      self.target = target
      self.converter = converter
      // Packing moves samples; it cannot change their colorimetry.
      var packed = target
      packed.copyDescription(from: source)
      packing = packed.isEqual(to: target) ? SemiPlanarPacking(from: source.format, to: target.format) : nil
    }

    func convert(_ picture: borrowing Buffer, into target: inout Buffer) throws(FlowError) {
      guard let packing else { return try converter.convert(picture, into: &target) }
      let decoded = try VideoFrameMap(picture, info: source, for: .reading)
      target.makeWritable()
      var packed = try VideoFrameMap(target, info: self.target, for: .writing)
      packing.pack(decoded, into: &packed)
    }
  }

  /// The first of two steps, into buffers of its own.
  private final class Repacking {
    let step: Step
    let pool: BufferPool

    init?(from source: VideoInfo, to target: VideoInfo) {
      guard let step = Step(from: source, to: target) else { return nil }
      self.step = step
      pool = BufferPool.video()
      let configuration = BufferPool.Configuration(size: UInt32(clamping: target.size), minimum: 0, maximum: 0)
      guard pool.configure(configuration, caps: target.caps()), pool.setActive(true) else { return nil }
    }
  }

  /// - Parameter intermediate: what pictures are laid out as before they are converted; `nil` when that is one step.
  /// - Returns: `nil` when there is no such conversion, or no memory.
  init?(
    of layout: PictureLayout, from source: VideoInfo, through intermediate: VideoInfo? = nil, to target: VideoInfo
  ) {
    let (source, target) = (source.withColorimetry, target.withColorimetry)
    let planned = intermediate?.withColorimetry
    guard let step = Step(from: planned ?? source, to: target) else { return nil }
    if let planned {
      guard let repacking = Repacking(from: source, to: planned) else { return nil }
      self.repacking = repacking
    } else {
      repacking = nil
    }
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
    self.step = step
    self.pool = pool
    self.layout = layout
  }

  deinit {
    pool.setActive(false)
    repacking?.pool.setActive(false)
  }

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
    guard let repacking else { return try step.convert(picture, into: &target) }
    var planned = try repacking.pool.acquire()
    try repacking.step.convert(picture, into: &planned)
    try step.convert(planned, into: &target)
  }
}

extension VideoInfo {
  /// The same with the colorimetry that a stream leaves open: guessed by the size, as downstream would.
  ///
  /// A converter needs it, and if it is known on one side only, it would change the samples.
  fileprivate var withColorimetry: VideoInfo { VideoInfo(caps()) ?? self }
}
