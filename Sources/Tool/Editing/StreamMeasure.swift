// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport

/// What the pictures of a stream need, whatever its headers announce: how many precede one in decoding order and follow
/// it in output order, at most, and how many bits come in a second.
struct StreamMeasure {
  /// The reorder depth.
  private(set) var depth = 0
  /// The first access unit that has it.
  private(set) var accessUnit: UInt64 = 0
  /// Pictures whose order is not known.
  private(set) var unknown = 0
  /// The first SPS.
  private var parameterSets: [[UInt8]] = []
  private var codec = FormatDescription.Codec.h264
  /// Picture order counts of the coded video sequence so far, ascending.
  private var orders: [Int32] = []
  private var sequence: UInt64?
  /// Bytes of each frame.
  private var sizes: [UInt32] = []

  /// Reads a whole file.
  init(_ input: InputFile) async throws(Failure) {
    var items = try await ReportItems(input, ReportOptions())
    var measure = StreamMeasure()
    try await Progress.during(items.place) { () async throws(Failure) in
      while let item = try await items.next() { measure.add(item) }
    }
    self = measure
  }

  init() {}

  mutating func add(_ item: ReportItem) {
    switch item {
    case .stream(let stream): codec = stream.codec
    case .parameterSet(let set): if parameterSets.count < 64 { parameterSets.append(set.nalUnit.bytes) }
    case .accessUnit(let unit): add(unit)
    default: break
    }
  }

  mutating func add(_ unit: AccessUnitRecord) {
    let size = UInt32(clamping: unit.size)
    guard unit.letter != nil, !unit.isSecondField else {
      if let last = sizes.indices.last { sizes[last] = UInt32(clamping: UInt64(sizes[last]) + UInt64(size)) }
      return
    }
    sizes.append(size)
    guard let order = unit.pictureOrderCount else {
      unknown += 1
      return
    }
    if sequence != unit.sequence { (sequence, orders) = (unit.sequence, []) }
    var (low, high) = (0, orders.count)
    while low < high {
      let middle = (low + high) / 2
      if orders[middle] > order { high = middle } else { low = middle + 1 }
    }
    let before = orders.count - low
    if before > depth { (depth, accessUnit) = (before, unit.index) }
    orders.insert(order, at: low)
    // Those far behind in output order follow no later picture.
    if orders.count > 4096 { orders.removeFirst(2048) }
  }

  /// Where the depth is defined.
  var clause: StaticString { codec == .h264 ? "H.264 E.2.1" : "H.265 7.4.3.2.1" }

  /// The edit that writes the depth. The decoded picture buffer of H.264 need not hold more than the references and the
  /// pictures that wait: with as many waiting as the depth, the first of them is next in output order.
  func edit(depth: Int) -> StreamEdit {
    guard codec == .h264 else { return .reordering(UInt8(clamping: depth), buffer: nil) }
    var needed = 0
    var allowed = 16
    for nalUnit in parameterSets {
      guard let sps = try? H264.SequenceParameterSet(nalUnit: nalUnit.span) else { continue }
      needed = max(needed, Int(sps.maximumReferenceFrames) + depth)
      allowed = min(allowed, sps.decodedPictureBufferFrames)
    }
    return .reordering(UInt8(clamping: depth), buffer: UInt8(clamping: min(needed, allowed)))
  }

  // MARK: Levels

  /// The lowest level that the stream keeps to, after other edits.
  ///
  /// - Parameter rate: frames a second; nil where only the stream has them.
  /// - Returns: nil where it keeps to none.
  /// - Throws: a `Failure` without a frame rate, on which the level depends.
  func level(after edits: [StreamEdit], _ input: InputFile) throws(Failure) -> StreamLevel? {
    let isH264 = codec == .h264
    let sets = parameterSets.reduce(into: [UInt8]()) { $0 += [0, 0, 0, 1] + $1 }
    let levels = (isH264 ? Self.h264Levels : Self.h265Levels).compactMap { StreamLevel($0) }
    for level in levels {
      let needs = isH264 ? Needs<H264>(sets, edits, level) : Needs<H265>(sets, edits, level) as any LevelNeeds
      guard needs.isAccepted else { continue }
      guard let rate = needs.rate else {
        throw Failure("\(input.name): no frame rate, on which the level depends: give it with --frame-rate, such as 25")
      }
      if needs.keeps(bitRate: highestBitRate(rate)) { return level }
    }
    return nil
  }

  private static let h264Levels = [
    "1", "1b", "1.1", "1.2", "1.3", "2", "2.1", "2.2", "3", "3.1", "3.2", "4", "4.1", "4.2", "5", "5.1", "5.2", "6",
    "6.1",
    "6.2",
  ]
  private static let h265Levels = ["1", "2", "2.1", "3", "3.1", "4", "4.1", "5", "5.1", "5.2", "6", "6.1", "6.2"]

  /// The most bits that come in a second.
  private func highestBitRate(_ rate: Ratio) -> UInt64 {
    let frames = max(1, Int(rate.numerator / rate.denominator))
    let count = UInt64(sizes.count)
    var (sum, highest): (UInt64, UInt64) = (0, 0)
    for (index, size) in sizes.enumerated() {
      sum += UInt64(size)
      if index >= frames { sum -= UInt64(sizes[index - frames]) }
      highest = max(highest, sum)
    }
    // Of a short stream, what it would have in a whole second.
    if sizes.count < frames, count > 0 {
      // Each has less than 2³² bytes, and a second less than 2³² frames: the mean fits.
      highest = count.dividingFullWidth(highest.multipliedFullWidth(by: UInt64(frames))).quotient
    }
    let (bits, isBeyond) = highest.multipliedReportingOverflow(by: 8)
    return isBeyond ? .max : bits
  }
}

/// What a level is asked to hold.
private protocol LevelNeeds {
  /// Whether the parameter sets keep to the level.
  var isAccepted: Bool { get }
  /// Frames a second.
  var rate: Ratio? { get }
  func keeps(bitRate: UInt64) -> Bool
}

private struct Needs<Codec: StreamEditing>: LevelNeeds {
  let isAccepted: Bool
  private let sets: Codec.ParameterSets

  init(_ stream: [UInt8], _ edits: [StreamEdit], _ level: StreamLevel) {
    var sets = Codec.ParameterSets()
    var editor = StreamEditor<Codec>(edits + [.level(level)])
    var isAccepted = true
    do throws(StreamEditError) {
      let edited = try editor.edit(stream.span, packaging: .annexB) ?? stream
      var nalUnits = AnnexB.NALUnits(edited.span)
      while let nalUnit = nalUnits.next() { _ = try? sets.insert(edited.span.extracting(nalUnit.range)) }
    } catch { isAccepted = false }
    (self.isAccepted, self.sets) = (isAccepted, sets)
  }

  private var all: [Codec.SequenceParameterSet] {
    (UInt8(0)...31).compactMap { sets.sequenceParameterSet(SequenceParameterSetID($0)) }
  }

  var rate: Ratio? {
    let description = try? Codec.formatDescription(sets, sequenceParameterSetID: nil, nalLengthSize: nil)
    return description?.frameRate
  }

  func keeps(bitRate: UInt64) -> Bool {
    guard let rate else { return false }
    return all.allSatisfy { sps in
      let limits: LevelLimits?
      let size: UInt64
      switch sps {
      case let sps as H264.SequenceParameterSet:
        (limits, size) = (sps.levelLimits, UInt64(sps.widthInMacroblocks * sps.heightInMacroblocks))
      case let sps as H265.SequenceParameterSet:
        (limits, size) = (sps.levelLimits, UInt64(sps.codedSize.width * sps.codedSize.height))
      default: return false
      }
      guard let limits else { return false }
      return bitRate <= limits.nalBitRate
        && !limits.isExceeded(
          bySize: size, pictures: UInt64(rate.numerator), inSeconds: UInt64(rate.denominator))
    }
  }
}
