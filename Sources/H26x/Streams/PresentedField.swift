// SPDX-License-Identifier: MPL-2.0

/// A field of a stream whose fields pair in the order of presentation (H.265 D.3.3).
package struct PresentedField: Sendable, Hashable {
  package let isTop: Bool
  /// Whether it completes a frame; nil if the stream does not say.
  package let isSecond: Bool?

  package init(isTop: Bool, isSecond: Bool?) { (self.isTop, self.isSecond) = (isTop, isSecond) }
}
