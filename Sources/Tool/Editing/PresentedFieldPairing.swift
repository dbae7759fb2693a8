// SPDX-License-Identifier: MPL-2.0
import H26x

/// Which fields make up a frame, in the order of presentation (H.265 D.3.3). In decoding order, other pictures may be
/// between them.
struct PresentedFieldPairing: Sendable {
  /// Whether the frame of the last field may get another one.
  private var isOpen = false
  /// The last field; `nil` if it is not known.
  private var last: H265.PictureTiming.Structure?

  /// Takes a picture that is no field.
  mutating func takeFrame() { isOpen = false }

  /// Whether the next field in the order of presentation is the second one of a frame.
  ///
  /// - Parameter field: `nil` if it is not known. Then it pairs with any other one.
  mutating func isSecond(_ field: H265.PictureTiming.Structure?) -> Bool {
    let isSecond = isOpen && field?.isSecondField != false && isOppositeToLast(field)
    // A second field without its first one is alone.
    isOpen = !isSecond && field?.isSecondField != true
    last = field
    return isSecond
  }

  private func isOppositeToLast(_ field: H265.PictureTiming.Structure?) -> Bool {
    guard let parity = last?.isTopFirst, let other = field?.isTopFirst else { return true }
    return parity != other
  }
}
