// SPDX-License-Identifier: MPL-2.0
package import H26x

/// The result of a walk, with parameter sets and display metadata. A class, because all are large: code that needs a part copies no
/// more.
package final class AccessUnitReading<Codec: VideoCodecSyntax>: Sendable {
  let info: AccessUnitInfo<Codec>
  let parameterSets: Codec.ParameterSets

  /// The display metadata of the SEI messages up to the picture.
  let display: DisplayMetadata
  /// The access unit has changed them.
  let changesDisplay: Bool

  init(
    _ info: AccessUnitInfo<Codec>, _ parameterSets: Codec.ParameterSets, _ display: DisplayMetadata,
    changesDisplay: Bool
  ) {
    (self.info, self.parameterSets) = (info, parameterSets)
    (self.display, self.changesDisplay) = (display, changesDisplay)
  }
}
