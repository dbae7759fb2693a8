// SPDX-License-Identifier: MPL-2.0

/// Numbers frames in the order of presentation. Both fields of a frame have its number.
struct FrameNumbering: Sendable {
  /// Frames so far.
  private(set) var count = 0
  /// Whether a field without its other one is the second in decoding order; `nil` without such a field.
  private var open: Bool?

  /// The number of the frame of the next picture, and whether a picture before it is of that frame.
  mutating func next(_ picture: PresentationRanks.Picture) -> (frame: Int, isOther: Bool) {
    if picture.isField, let open, open != picture.isSecondField {
      self.open = nil
      return (count - 1, true)
    }
    // Both fields may be in one sample of a container, and then none is the second.
    open = picture.isField ? picture.isSecondField : nil
    count += 1
    return (count - 1, false)
  }
}
