// SPDX-License-Identifier: MPL-2.0
package import AVFormat
import GStreamer
package import H26x
package import StreamReport

/// The colour that a container states. The stream's description wins, as in libavcodec; the container has the rest.
extension StreamDescription.Colour {
  /// The code point of H.273 for "unspecified".
  private static let unspecified: UInt8 = 2

  /// Reads the `colr` box of MP4 and MOV; `nil` without one.
  package init?(_ box: MP4.VisualSampleDescription.Colour?) {
    guard let box else { return nil }
    func code(_ value: UInt16) -> UInt8 { UInt8(exactly: value) ?? Self.unspecified }
    self.init(
      primaries: code(box.primaries), transfer: code(box.transfer), matrix: code(box.matrix),
      isFullRange: box.isFullRange)
  }

  /// The stated colour without the parts that the stream describes; `nil` for nothing.
  package func rest(besides format: FormatDescription) -> Self? {
    let stream = format.colour
    func unless(_ stated: UInt8?, _ code: UInt8) -> UInt8 {
      stated ?? Self.unspecified == Self.unspecified ? code : Self.unspecified
    }
    let rest = Self(
      primaries: unless(stream?.primaries, primaries), transfer: unless(stream?.transfer, transfer),
      matrix: unless(stream?.matrix, matrix), isFullRange: format.isFullRange == nil ? isFullRange : nil)
    let isEmpty = [rest.primaries, rest.transfer, rest.matrix].allSatisfy { $0 == Self.unspecified }
    return isEmpty && rest.isFullRange == nil ? nil : rest
  }

  /// The caps field `colorimetry`; `nil` if nothing is known.
  package var capsText: String? {
    colorimetryName(isFullRange: isFullRange, primaries: primaries, transfer: transfer, matrix: matrix)
  }

  /// The caps field `colorimetry` of a stream in a container that states this colour.
  ///
  /// - Parameter transfer: the transfer characteristics that an SEI message prefers to the stream's.
  package static func capsText(_ colour: Self?, _ format: FormatDescription, preferringTransfer transfer: UInt8?)
    -> String?
  {
    let rest = colour?.rest(besides: format)
    guard format.isFullRange != nil || rest != nil else { return nil }
    func code(_ rest: UInt8?, _ streams: UInt8?) -> UInt8 {
      if let rest, rest != unspecified { rest } else { streams ?? unspecified }
    }
    return Self(
      primaries: code(rest?.primaries, format.colour?.primaries),
      transfer: transfer ?? code(rest?.transfer, format.colour?.transfer),
      matrix: code(rest?.matrix, format.colour?.matrix), isFullRange: format.isFullRange ?? rest?.isFullRange
    ).capsText
  }
}
