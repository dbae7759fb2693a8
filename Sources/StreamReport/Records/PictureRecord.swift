// SPDX-License-Identifier: MPL-2.0

/// A picture's part of its ``AccessUnitRecord``, whose properties document these. It grows with each slice.
struct PictureRecord: Sendable {
  var exists = false
  var letter: UInt8?
  var keyframe = AccessUnitRecord.Keyframe.none
  var isReference = false
  var isField = false
  var isSecondField = false
  /// Whether the first field is in the same access unit, as both of a frame are in a sample of MP4.
  var isFieldPair = false
  /// Whether the access unit only has the second field of the frame before.
  var onlyCompletes: Bool { isSecondField && !isFieldPair }
  var sequence: UInt64 = 0
  var order: Int32?
  var quantizationParameter: Int?
  var references: [Int32] = []
  var decodedPictures: Int?

  /// Adds a slice: a picture with a B slice is B, else one with a P slice is P.
  mutating func add(_ slice: UInt8) {
    switch (letter, slice) {
    case (nil, _), (0x49, _), (_, 0x42): letter = slice
    default: break
    }
  }

  /// Adds POCs of pictures that a slice may refer to; each is listed once, 32 at most.
  mutating func add(reference order: Int32) {
    if references.count < 32, !references.contains(order) { references.append(order) }
  }
}
