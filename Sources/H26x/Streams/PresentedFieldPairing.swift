// SPDX-License-Identifier: MPL-2.0

/// Which fields make up a frame, in the order of presentation (H.265 D.3.3). In decoding order, other pictures may be
/// between them.
package struct PresentedFieldPairing: Sendable {
  /// Whether the frame of the last field may get another one.
  private var isOpen = false
  /// The last field; nil if it is not known.
  private var last: PresentedField?

  package init() {}

  /// Takes a picture that is no field.
  package mutating func takeFrame() { isOpen = false }

  /// Whether the next field in the order of presentation is the second one of a frame.
  ///
  /// - Parameter field: nil if it is not known. Then it pairs with any other one.
  package mutating func isSecond(_ field: PresentedField?) -> Bool {
    let isSecond = isOpen && field?.isSecond != false && isOppositeToLast(field)
    // A second field without its first one is alone.
    isOpen = !isSecond && field?.isSecond != true
    last = field
    return isSecond
  }

  private func isOppositeToLast(_ field: PresentedField?) -> Bool {
    guard let last, let field else { return true }
    return last.isTop != field.isTop
  }
}
