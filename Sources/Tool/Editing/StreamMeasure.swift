// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport

/// What the pictures of a stream need, whatever its headers announce: how many precede one in decoding order and follow
/// it in output order, at most, and how many bits come in a second.
struct StreamMeasure {
  private var reordering = ReorderDepth()
  /// The first access unit that has the depth.
  private(set) var accessUnit: UInt64 = 0
  /// Pictures whose order is not known.
  private(set) var unknown = 0
  /// The first SPS.
  private var parameterSets: [[UInt8]] = []
  private var codec = FormatDescription.Codec.h264
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
    case .accessUnit(let accessUnit): add(accessUnit)
    default: break
    }
  }

  mutating func add(_ accessUnit: AccessUnitRecord) {
    let size = UInt32(clamping: accessUnit.size)
    guard accessUnit.letter != nil, !accessUnit.isSecondField else {
      if let last = sizes.indices.last { sizes[last] = UInt32(clamping: UInt64(sizes[last]) + UInt64(size)) }
      return
    }
    sizes.append(size)
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

  /// The reorder depth.
  var depth: Int { reordering.pictures }

  /// Where the depth is defined.
  var clause: StaticString { codec == .h264 ? "H.264 E.2.1" : "H.265 7.4.3.2.1" }

  /// The edit that writes a depth.
  func edit(depth: Int) -> StreamEdit { ReorderDepth.edit(depth, of: parameterSets, codec) }

  // MARK: Levels

  /// The lowest level that the stream keeps to, after other edits.
  ///
  /// - Returns: nil where it keeps to none.
  /// - Throws: a `Failure` without a frame rate, on which the level depends.
  func level(after edits: [StreamEdit], _ input: InputFile) throws(Failure) -> StreamLevel? {
    switch codec {
    case .h264: try level(H264.self, after: edits, input)
    case .h265: try level(H265.self, after: edits, input)
    }
  }

  private func level<Codec: StreamEditing>(
    _ syntax: Codec.Type, after edits: [StreamEdit], _ input: InputFile
  ) throws(Failure) -> StreamLevel? {
    guard let rate = frameRate(syntax, after: edits) else {
      throw Failure("\(input.name): no frame rate, on which the level depends: give it with --frame-rate, such as 25")
    }
    let demand = LevelDemand(bitRate: highestBitRate(rate))
    if let level = Codec.lowestLevel(of: parameterSets, after: edits, demand) { return level }
    // Perhaps it is another edit that no level helps.
    do throws(StreamEditError) {
      for set in parameterSets { _ = try Codec.edited(parameterSet: set.span, edits, sets: Codec.ParameterSets()) }
    } catch { throw Failure("\(input.name): \(error)") }
    return nil
  }

  /// Frames a second that the headers announce; nil where they do not.
  private func frameRate<Codec: StreamEditing>(_ syntax: Codec.Type, after edits: [StreamEdit]) -> Ratio? {
    for case .frameRate(let rate) in edits.reversed() { return rate }
    var sets = Codec.ParameterSets()
    for set in parameterSets { _ = try? sets.insert(set.span) }
    let description = try? Codec.formatDescription(sets, sequenceParameterSetID: nil, nalLengthSize: nil)
    return description?.frameRate
  }

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
