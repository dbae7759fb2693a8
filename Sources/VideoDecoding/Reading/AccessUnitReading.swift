// SPDX-License-Identifier: MPL-2.0
import H26x

/// The result of a walk, and the parameter sets. A class, because both are large: code that needs a part copies no
/// more.
final class AccessUnitReading<Codec: VideoCodecSyntax>: Sendable {
  let info: AccessUnitInfo<Codec>
  let parameterSets: Codec.ParameterSets

  init(_ info: AccessUnitInfo<Codec>, _ parameterSets: Codec.ParameterSets) {
    (self.info, self.parameterSets) = (info, parameterSets)
  }
}
