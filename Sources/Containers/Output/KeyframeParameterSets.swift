// SPDX-License-Identifier: MPL-2.0

/// Puts the parameter sets of a configuration record in front of each keyframe of a copy with start codes, so
/// decoding can begin there. The parser puts them in front of the first IDR picture alone.
struct KeyframeParameterSets {
  private var reader: any AccessUnitRoleReading
  private var isAtStart = true

  /// - Returns: `nil` for a track without a configuration record.
  init?(_ track: VideoTrack) {
    guard case .lengthPrefixed(let configuration, _) = track.packaging else {
      return nil
    }
    reader = track.codec.roleReader(configuration, hasStartCodes: true)
  }

  /// Completes the next access unit, a keyframe or the first one, whatever that is.
  mutating func complete(_ accessUnit: inout MediaOutput.AccessUnit) {
    let sets = reader.parameterSets(upTo: accessUnit.bytes)
    if accessUnit.isKeyframe || isAtStart { accessUnit.bytes = reader.completed(accessUnit.bytes, with: sets) }
    isAtStart = false
  }
}
