// SPDX-License-Identifier: MPL-2.0

/// A field of a stream whose fields pair in the order of presentation (H.265 D.3.3).
package struct PresentedField: Sendable, Hashable {
  package let isTop: Bool
  /// Whether it completes a frame; nil if the stream does not say.
  package let isSecond: Bool?

  package init(isTop: Bool, isSecond: Bool?) { (self.isTop, self.isSecond) = (isTop, isSecond) }
}

extension ElementCodecSyntax {
  /// The field that a picture is by its picture timing.
  ///
  /// - Parameters:
  ///   - accessUnit: its access unit.
  ///   - ranges: the SEI NAL units of that.
  ///   - sps: its SPS.
  /// - Returns: nil if the fields of a frame are neighbors in decoding order, or if it is not sent.
  package static func presentedField(
    _ accessUnit: Span<UInt8>, _ ranges: [Range<Int>], _ sps: borrowing SequenceParameterSet
  ) -> PresentedField? {
    for range in ranges {
      var messages = SEIMessages(accessUnit.extracting(range), headerLength: nalUnitHeaderLength)
      do throws(BitstreamError) {
        while let message = try messages.next() {
          if message.type == .pictureTiming { return presentedField(message, sps: sps) }
        }
      } catch { continue }
    }
    return nil
  }
}
