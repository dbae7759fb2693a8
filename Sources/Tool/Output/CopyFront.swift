// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport

/// The stage of a copy that holds access units in front of the beginning, until the beginning is decided.
struct CopyFront {
  /// The beginning, and the format of each of its access units.
  struct Start {
    var beginning: CutBeginning
    let formats: [MediaOutput.VideoFormat]
  }

  private var front: CutFront
  /// Access units have start codes.
  private let hasStartCodes: Bool
  /// Reading may continue at a place near the cut.
  private let seeks: Bool
  /// The source's sample entry allows parameter sets in samples.
  private let isInBand: Bool
  private var formats: [MediaOutput.VideoFormat] = []

  init(_ front: CutFront, hasStartCodes: Bool, seeks: Bool, coding: FourCharacterCode?) {
    (self.front, self.hasStartCodes, self.seeks) = (front, hasStartCodes, seeks)
    isInBand = coding.map(Self.inBandEntries.contains) ?? false
  }

  private static let inBandEntries: Set = [
    FourCharacterCode("avc3"), FourCharacterCode("avc4"), FourCharacterCode("hev1"), FourCharacterCode("dvav"),
    FourCharacterCode("dvhe"),
  ]

  /// Takes the format of the access units that follow.
  mutating func begin(_ format: MediaOutput.VideoFormat) { formats.append(format) }

  /// Holds an access unit. Returns the beginning of the copy, once that is known.
  mutating func add(_ accessUnit: consuming MediaOutput.AccessUnit) throws(CopyRefusal) -> Start? {
    guard !formats.isEmpty else { return nil }
    if front.add(CutFront.Entry(accessUnit: accessUnit, format: formats.count - 1)) {
      return try start(isAtEnd: false)
    }
    if let (origin, place) = front.distantStart, seeks { throw .distant(origin: origin, place: place) }
    return nil
  }

  /// Returns the beginning of the copy, although nothing follows; `nil` if there is nothing.
  mutating func finish() throws(CopyRefusal) -> Start? {
    if let start = try start(isAtEnd: true) { return start }
    if front.hasSought { throw .missed }
    return nil
  }

  /// The time from the first picture to the end of the last, in nanoseconds; `nil` without any.
  var duration: Int64? { front.duration }

  private mutating func start(isAtEnd: Bool) throws(CopyRefusal) -> Start? {
    guard var beginning = front.beginning(isAtEnd: isAtEnd), let first = beginning.entries.first else { return nil }
    if front.misses(beginning) || front.hasSought && lacksParameterSets(first) { throw .missed }
    guard formats.indices.contains(first.format) else { return nil }
    let video = formats[first.format]
    if hasStartCodes || video.allowsInBandParameterSets {
      let reader = video.roleReader(hasStartCodes: hasStartCodes)
      beginning.entries[0].accessUnit.bytes = reader.completed(
        first.accessUnit.bytes, with: first.accessUnit.role.parameterSets)
    }
    return Start(beginning: beginning, formats: formats)
  }

  /// Whether an access unit lacks known parameter sets, if others may be in samples in front of it.
  private func lacksParameterSets(_ entry: CutFront.Entry) -> Bool {
    guard isInBand, formats.indices.contains(entry.format) else { return false }
    let (reader, accessUnit) = (formats[entry.format].roleReader(hasStartCodes: hasStartCodes), entry.accessUnit)
    return reader.completed(accessUnit.bytes, with: accessUnit.role.parameterSets).count != accessUnit.bytes.count
  }
}
