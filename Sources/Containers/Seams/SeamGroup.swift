// SPDX-License-Identifier: MPL-2.0

/// The first copied access units behind a seam, up to the next entry. They are held until the seam is verified with them.
struct SeamGroup {
  private(set) var accessUnits: [MediaOutput.AccessUnit]
  let format: MediaOutput.VideoFormat
  /// Whether the range is cut exactly.
  let isExact: Bool
  /// Decodes the source's access units.
  let coder: SeamCoder
  private var byteCount: Int
  private var pictureCount = 1
  private let pictureLimit: Int

  /// Decoders hold 16 frames, so most pictures at the end refer to copied ones only.
  private static let pictureLimit = 32
  /// More pictures may be needed to prove an entry that promises nothing: most have B pictures between references.
  private static let unprovenPictureLimit = 96
  private static let byteLimit = 1 << 25

  /// - Parameters:
  ///   - first: begins the group.
  ///   - coder: has decoded it, and the seam in front of it.
  init(_ first: MediaOutput.AccessUnit, _ format: MediaOutput.VideoFormat, isExact: Bool, _ coder: SeamCoder) {
    (accessUnits, byteCount) = ([first], first.bytes.count)
    (self.format, self.isExact, self.coder) = (format, isExact, coder)
    pictureLimit = first.role.isUnproven ? Self.unprovenPictureLimit : Self.pictureLimit
  }

  /// Takes the next copied access unit.
  ///
  /// - Returns: false if it does not belong to the group.
  mutating func take(_ next: MediaOutput.AccessUnit) throws(SeamObstacle) -> Bool {
    guard next.format == accessUnits[0].format else { return false }
    // Frames are not divided.
    let continues = next.role.start == .none && pictureCount < pictureLimit && byteCount < Self.byteLimit
    guard continues || next.role.isSecondField else { return false }
    accessUnits.append(next)
    pictureCount += next.role.isSecondField ? 0 : 1
    byteCount += next.bytes.count
    try coder.copy(next)
    return true
  }
}
