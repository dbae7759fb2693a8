// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import H26x
import StreamReport

/// The demands of a stream's pictures, independent of its headers. They include the bits and their times, and the H.264
/// tools in use. They also include the most pictures that precede a picture in decoding order and follow it in output
/// order.
struct StreamMeasure {
  private var reordering = ReorderDepth()
  /// The first access unit that has the depth.
  private(set) var accessUnit: UInt64 = 0
  /// Pictures whose order is not known.
  private(set) var unknown = 0
  /// The first parameter sets.
  private(set) var parameterSets: [[UInt8]] = []
  private(set) var codec = FormatDescription.Codec.h264
  private(set) var tools = StreamTools()
  /// The first access unit with frame packing arrangement SEI.
  private(set) var firstPacked: UInt64?
  private var sequence: UInt64?

  // MARK: For the level

  /// Access units with a picture.
  private(set) var pictures: [Picture] = []
  /// The most slice segments of a picture.
  private(set) var sliceSegments = 0
  /// Frames a second by the container; nil for a byte stream, and if the container states none.
  private(set) var containerRate: Ratio?
  private var times = PictureTimes()

  /// An access unit with a picture.
  struct Picture {
    let index: UInt64
    var bits: UInt64
    /// Bits of its VCL NAL units and filler data.
    var codedBits: UInt64
    let isField: Bool
    /// Seconds since the previous picture, by the container.
    let interval: Double?
  }

  /// Reads a whole file.
  init(_ input: InputFile) async throws(Failure) {
    var options = ReportOptions()
    options.byteCount = StreamTools.headerLength
    var items = try await ReportItems(input, options)
    var measure = StreamMeasure()
    try await Progress.during(items.place) { () async throws(Failure) in
      while let item = try await items.next() { measure.add(item) }
    }
    measure.containerRate = try Self.containerRate(input)
    self = measure
  }

  init() {}

  private static func containerRate(_ input: InputFile) throws(Failure) -> Ratio? {
    guard !input.isRaw, let rate = try input.videoTrack().framerate, let frames = UInt32(exactly: rate.numerator),
      let seconds = UInt32(exactly: rate.denominator)
    else { return nil }
    return Ratio(frames, seconds)
  }

  mutating func add(_ item: ReportItem) {
    switch item {
    case .stream(let stream): (codec, times.timescale) = (stream.codec, stream.timescale ?? 0)
    case .parameterSet(let set):
      if parameterSets.count < 64 { parameterSets.append(set.nalUnit.bytes) }
      if codec == .h264 { tools.add(set) }
    case .accessUnit(let accessUnit): add(accessUnit)
    default: break
    }
  }

  mutating func add(_ accessUnit: AccessUnitRecord) {
    measure(accessUnit)
    if firstPacked == nil, accessUnit.nalUnits.contains(where: { $0.messages.contains { $0 == 45 || $0 == 138 } }) {
      firstPacked = accessUnit.index
    }
    if codec == .h264 { tools.add(accessUnit) }
    guard accessUnit.letter != nil, !accessUnit.isSecondField else { return }
    guard let order = accessUnit.pictureOrderCount else {
      unknown += 1
      return
    }
    if sequence != accessUnit.sequence {
      sequence = accessUnit.sequence
      reordering.beginSequence()
    }
    if reordering.add(order) { self.accessUnit = accessUnit.index }
  }

  private mutating func measure(_ accessUnit: AccessUnitRecord) {
    let filler = codec == .h264 ? H264.NALUnitType.fillerData.rawValue : H265.NALUnitType.fillerData.rawValue
    var (coded, segments) = (UInt64(0), 0)
    for nalUnit in accessUnit.nalUnits {
      if nalUnit.isVCL || nalUnit.type == filler { coded += UInt64(clamping: nalUnit.size) }
      if nalUnit.slice != nil { segments += 1 }
    }
    sliceSegments = max(sliceSegments, segments)
    let (bits, codedBits) = (8 * min(accessUnit.size, 1 << 40), 8 * min(coded, 1 << 40))
    let interval = times.interval(before: accessUnit.sample)
    guard accessUnit.letter != nil || pictures.isEmpty else {
      pictures[pictures.count - 1].bits += bits
      pictures[pictures.count - 1].codedBits += codedBits
      return
    }
    pictures.append(
      Picture(
        index: accessUnit.index, bits: bits, codedBits: codedBits,
        isField: accessUnit.isField && !accessUnit.isFieldPair, interval: interval))
  }

  /// The reorder depth.
  var depth: Int { reordering.pictures }

  /// The clause that defines the depth.
  var clause: StaticString { codec == .h264 ? "H.264 E.2.1" : "H.265 7.4.3.2.1" }
}

/// The distances of a container's samples in decoding order.
private struct PictureTimes {
  /// Ticks a second; 0 without any.
  var timescale: UInt32 = 0
  private var last: AccessUnitRecord.Sample?

  /// Seconds since the sample before; nil if the container does not have them.
  mutating func interval(before sample: AccessUnitRecord.Sample?) -> Double? {
    guard let sample, timescale > 0 else { return nil }
    defer { last = sample }
    guard let last else { return nil }
    if let time = sample.dts, let before = last.dts, time > before {
      return (Double(time) - Double(before)) / Double(timescale)
    }
    return last.duration > 0 ? Double(last.duration) / Double(timescale) : nil
  }
}
