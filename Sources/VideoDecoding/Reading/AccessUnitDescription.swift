// SPDX-License-Identifier: MPL-2.0
package import H26x

/// The result of one walk over an access unit, with the parameter sets up to it: everything that an element and a
/// session read of it.
package struct AccessUnitDescription: Sendable {
  /// The whole result, for the code of one codec.
  enum Reading {
    case h264(AccessUnitReading<H264>)
    case h265(AccessUnitReading<H265>)
  }

  let reading: Reading
  /// Whether there is a slice, readable or not.
  package let hasSlice: Bool
  /// Whether the first slice is of an IDR picture.
  package let isIDR: Bool
  /// Whether the picture is a field whose frame needs another field: the first of two, as far as known so far. False in
  /// H.265, where each field is a picture of its own.
  package let isFirstField: Bool
  /// Whether the picture is the second field of the previous picture.
  package let isSecondField: Bool
  /// Whether the stream's format differs from the previous access unit's, if the inspector tracks it.
  package let formatChanged: Bool
  /// The display metadata of the SEI messages up to the picture.
  let display: DisplayMetadata
  /// Whether the access unit has changed ``display``.
  package let changesDisplay: Bool

  init<Codec: DecodableCodec>(
    _ reading: Reading, _ info: AccessUnitInfo<Codec>, _ display: DisplayMetadata, changesDisplay: Bool
  ) {
    self.reading = reading
    hasSlice = info.sliceType != nil
    isIDR = info.sliceType?.isIDR ?? false
    isSecondField = Codec.pairsFields && info.isSecondField
    isFirstField = Codec.pairsFields && !isSecondField && info.slice?.isField ?? false
    formatChanged = info.formatChanged
    self.display = display
    self.changesDisplay = changesDisplay
  }

  /// The picture's scan, as far as its coding shows; nil if its first slice cannot be read.
  package var scan: PictureScan? {
    switch reading {
    case .h264(let reading): reading.info.scan(reading.parameterSets)
    case .h265(let reading): reading.info.scan(reading.parameterSets)
    }
  }
}

/// The result of a walk, and the parameter sets. A class, because both are large: code that needs a part copies no
/// more.
final class AccessUnitReading<Codec: VideoCodecSyntax>: Sendable {
  let info: AccessUnitInfo<Codec>
  let parameterSets: Codec.ParameterSets

  init(_ info: AccessUnitInfo<Codec>, _ parameterSets: Codec.ParameterSets) {
    (self.info, self.parameterSets) = (info, parameterSets)
  }
}
