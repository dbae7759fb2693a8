// SPDX-License-Identifier: MPL-2.0
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

/// Access units of an Annex B stream.
func accessUnits(_ bytes: [UInt8]) -> [[UInt8]] {
  var units: [[UInt8]] = []
  var start = 0
  var sawSlice = false
  var index = 0
  while index + 4 < bytes.count {
    guard bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 else {
      index += 1
      continue
    }
    let type = bytes[index + 3] & 31
    let isSlice = (1...5).contains(type)
    if sawSlice && ((6...9).contains(type) || (14...18).contains(type) || (isSlice && bytes[index + 4] & 0x80 != 0)) {
      let cut = index > start && bytes[index - 1] == 0 ? index - 1 : index
      units.append(Array(bytes[start..<cut]))
      start = cut
      sawSlice = false
    }
    sawSlice = sawSlice || isSlice
    index += 4
  }
  units.append(Array(bytes[start...]))
  return units
}

/// The results of a run of a session.
struct Run {
  var results: [SessionResult] = []
  var frames: [DecodedPicture] {
    results.compactMap { if case .frame(let picture) = $0 { picture } else { nil } }
  }

  /// Checksum of all frames, packed and cropped, as the manifest defines it.
  var md5: String {
    var md5 = MD5()
    for frame in frames { frame.hash(into: &md5) }
    return md5.finish()
  }
}

extension DecodedPicture {
  func hash(into md5: inout MD5) {
    for index in 0..<planeCount {
      let plane = plane(index)
      for row in 0..<plane.rowCount { md5.update(plane.row(row)) }
    }
  }
  var md5: String {
    var md5 = MD5()
    hash(into: &md5)
    return md5.finish()
  }

  /// A hash of the samples, comparable within this process only; much faster than a checksum in a debug build.
  var fingerprint: Int {
    var hasher = Hasher()
    for index in 0..<planeCount {
      let plane = plane(index)
      for row in 0..<plane.rowCount { unsafe plane.row(row).withUnsafeBytes { unsafe hasher.combine(bytes: $0) } }
    }
    return hasher.finalize()
  }
}

extension DecompressionSession {
  func decode(_ unit: [UInt8], tag: UInt64, time: Duration? = nil) throws(DecodeError) {
    try decode(unit.span, tag: tag, time: time)
  }

  func takeResults(into run: inout Run) {
    while let result = nextResult() { run.results.append(result) }
  }

  /// Decodes all and drains.
  func run(_ units: [[UInt8]], into run: inout Run) throws {
    for (index, unit) in units.enumerated() {
      try decode(unit.span, tag: UInt64(index))
      takeResults(into: &run)
    }
    drain()
    takeResults(into: &run)
  }
}

/// A session for an Annex B stream.
func makeSession(
  _ units: [[UInt8]], _ configuration: SessionConfiguration = SessionConfiguration(),
  allocator: (any PictureAllocator)? = nil, plan: FaultPlan = FaultPlan()
) throws -> DecompressionSession {
  try DecompressionSession(
    format: try streamFormat(units), configuration: configuration, allocator: allocator, openCodec: plan.opener)
}

/// Decodes access units in a new session.
func decodeAll(
  _ units: [[UInt8]], _ configuration: SessionConfiguration = SessionConfiguration(),
  allocator: (any PictureAllocator)? = nil, plan: FaultPlan = FaultPlan()
) throws -> Run {
  var run = Run()
  try makeSession(units, configuration, allocator: allocator, plan: plan).run(units, into: &run)
  return run
}

extension SessionConfiguration {
  static func with(_ change: (inout SessionConfiguration) -> Void) -> SessionConfiguration {
    var configuration = SessionConfiguration()
    configuration.isolation = TestIsolation.tested
    change(&configuration)
    return configuration
  }

  /// Configurations without threads, and with each kind of threads.
  /// The indices of ``threadings`` that tests of many pictures try: in a usual run, no threads and frame threads.
  static let triedThreadings = TestScope.rows(Array(threadings.indices), usually: 2)

  static let threadings: [SessionConfiguration] = [
    .with { $0.threadType = .none },
    .with {
      $0.threadType = .slice
      $0.threadCount = 2
    },
    .with {
      $0.threadType = .frame
      $0.threadCount = 3
    },
  ]
}

extension Run {
  /// Every frame's tag and fingerprint, in order of output.
  var checksums: [String] { frames.map { "\($0.tag) \($0.fingerprint)" } }

  var drops: [DropReason] {
    results.compactMap { if case .dropped(_, let reason) = $0 { reason } else { nil } }
  }
  var failures: [DecodeError] {
    results.compactMap { if case .failed(_, let error) = $0 { error } else { nil } }
  }
  var tags: [UInt64] { results.map(\.tag) }

  /// Whether each access unit has exactly one result.
  func accounts(for count: Int) -> Bool { tags.sorted() == (0..<UInt64(count)).map { $0 } }
}

/// The format of the first parameter sets of an Annex B stream.
func streamFormat(_ units: [[UInt8]], lengthSize: NALLengthSize? = nil) throws -> FormatDescription {
  var sets = H264.ParameterSets()
  for unit in units {
    var nalUnits = AnnexB.NALUnits(unit.span)
    while let nalUnit = nalUnits.next() { _ = try? sets.insert(unit.span.extracting(nalUnit.range)) }
    if sets.canReadSlices { break }
  }
  return try FormatDescription(sets, nalLengthSize: lengthSize)
}

/// The access unit with length prefixes instead of start codes.
func lengthPrefixed(_ unit: [UInt8], _ size: NALLengthSize) -> [UInt8] {
  var result: [UInt8] = []
  var nalUnits = AnnexB.NALUnits(unit.span)
  while let nalUnit = nalUnits.next() {
    for index in (0..<size.byteCount).reversed() {
      result.append(UInt8(truncatingIfNeeded: nalUnit.range.count >> (8 * index)))
    }
    result += unit[nalUnit.range]
  }
  return result
}

/// Access units of one of the project's own clips.
func mediaAccessUnits(_ name: String) throws -> [[UInt8]] {
  let tests = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
  return accessUnits(try #require(readFile(tests + "/Media/" + name)))
}

/// Whether other pictures refer to an access unit's.
func isReference(_ unit: [UInt8]) -> Bool {
  var nalUnits = AnnexB.NALUnits(unit.span)
  while let nalUnit = nalUnits.next() {
    let header = unit[nalUnit.range.lowerBound]
    if 1...5 ~= header & 31 { return header & 0x60 != 0 }
  }
  return false
}
