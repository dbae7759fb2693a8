// SPDX-License-Identifier: MPL-2.0

/// Follows mastering display, content light level and preferred transfer by the SEI messages of a stream.
package struct DisplayTracker: Sendable {
  /// The metadata of the last access unit.
  package private(set) var display = DisplayMetadata()
  /// From SEI since the last slice.
  private var announced = DisplayMetadata()

  /// Creates a tracker for the beginning of a stream.
  package init() {}

  /// Takes the next access unit. Returns whether its SEI has changed ``display``.
  ///
  /// - Parameter info: an inspector's findings in it.
  package mutating func take<Codec: VideoCodecSyntax>(
    _ accessUnit: Span<UInt8>, _ info: AccessUnitInfo<Codec>
  ) -> Bool {
    follow(accessUnit, info)
  }

  /// Takes the next access unit of an H.264 stream. Not generic, so that other modules need not look types up.
  package mutating func take(_ accessUnit: Span<UInt8>, _ info: H264.AccessUnitInfo) -> Bool {
    follow(accessUnit, info)
  }

  /// Takes the next access unit of an H.265 stream.
  package mutating func take(_ accessUnit: Span<UInt8>, _ info: H265.AccessUnitInfo) -> Bool {
    follow(accessUnit, info)
  }

  private mutating func follow<Codec: VideoCodecSyntax>(
    _ accessUnit: Span<UInt8>, _ info: AccessUnitInfo<Codec>
  ) -> Bool {
    for range in info.seiRanges {
      let nalUnit = accessUnit.extracting(range)
      if Codec.role(of: nalUnit) == .sei { announced.read(nalUnit, headerLength: Codec.nalUnitHeaderLength) }
    }
    guard let type = info.sliceType else { return false }
    let before = display
    // It lasts until the end of the coded video sequence (H.264, D.2.29; H.265, D.3.28).
    if type.isIDR { display = DisplayMetadata() }
    display.masteringDisplay = announced.masteringDisplay ?? display.masteringDisplay
    display.contentLight = announced.contentLight ?? display.contentLight
    display.alternativeTransfer = announced.alternativeTransfer ?? display.alternativeTransfer
    announced = DisplayMetadata()
    return display != before
  }
}
