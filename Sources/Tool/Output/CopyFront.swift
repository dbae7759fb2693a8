// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport

/// The stage of a copy that holds access units in front of where it begins, up to the one that decides where that is.
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
  private var roles: (any AccessUnitRoleReading)?
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
  mutating func begin(_ format: MediaOutput.VideoFormat) {
    roles = format.roleReader(hasStartCodes: hasStartCodes)
    formats.append(format)
  }

  /// Holds an access unit. Returns where the copy begins, once that is known.
  mutating func add(_ accessUnit: consuming MediaOutput.AccessUnit) throws(CopyRefusal) -> Start? {
    guard let role = roles?.role(of: accessUnit.bytes) else { return nil }
    if front.add(CutFront.Entry(accessUnit: accessUnit, role: role, format: formats.count - 1)) {
      return try start(isAtEnd: false)
    }
    if let (origin, place) = front.distantStart, seeks { throw .distant(origin: origin, place: place) }
    return nil
  }

  /// Returns where the copy begins, although nothing follows; `nil` where there is nothing.
  mutating func finish() throws(CopyRefusal) -> Start? {
    if let start = try start(isAtEnd: true) { return start }
    if front.hasSought { throw .missed }
    return nil
  }

  /// From the first picture to the end of the last one, in nanoseconds; `nil` without any.
  var duration: Int64? { front.duration }

  private mutating func start(isAtEnd: Bool) throws(CopyRefusal) -> Start? {
    guard var beginning = front.beginning(isAtEnd: isAtEnd), let first = beginning.entries.first else { return nil }
    if front.misses(beginning) || front.hasSought && lacksParameterSets(first) { throw .missed }
    guard formats.indices.contains(first.format) else { return nil }
    let video = formats[first.format]
    if hasStartCodes || video.allowsInBandParameterSets {
      let reader = video.roleReader(hasStartCodes: hasStartCodes)
      beginning.entries[0].accessUnit.bytes = reader.completed(first.accessUnit.bytes, with: first.role.parameterSets)
    }
    return Start(beginning: beginning, formats: formats)
  }

  /// Whether an access unit does not have all parameter sets that are known, where others may be in samples in front of
  /// it.
  private func lacksParameterSets(_ entry: CutFront.Entry) -> Bool {
    guard isInBand, let roles else { return false }
    return roles.completed(entry.accessUnit.bytes, with: entry.role.parameterSets).count != entry.accessUnit.bytes.count
  }
}
