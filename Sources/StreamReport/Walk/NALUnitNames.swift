// SPDX-License-Identifier: MPL-2.0
import H26x

/// The short names of NAL unit types.
package enum NALUnitNames {
  /// The names of both codecs.
  package static var all: [StaticString] { (UInt8(0)..<64).flatMap { [H264.shortName($0), H265.shortName($0)] } }
}
