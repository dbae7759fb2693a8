// SPDX-License-Identifier: MPL-2.0

/// The result of editing an SEI message.
public enum EditedSEIMessage: Sendable, Hashable {
  /// It stays as it is.
  case unchanged
  /// It has another payload.
  case replaced([UInt8])
  /// It is gone.
  case removed
}

extension SEIMessages {
  /// Edits the messages of an SEI NAL unit.
  ///
  /// - Parameters:
  ///   - nalUnit: the NAL unit with its header.
  ///   - headerLength: bytes of the header.
  ///   - edit: returns the result for a message.
  /// - Returns: the NAL unit; empty if no message is left, nil if none has changed.
  /// - Throws: errors of reading, and those of `edit`.
  static func edited(
    _ nalUnit: Span<UInt8>, headerLength: Int,
    _ edit: (borrowing Message) throws(BitstreamError) -> EditedSEIMessage
  ) throws(BitstreamError) -> [UInt8]? {
    var messages = SEIMessages(nalUnit, headerLength: headerLength)
    var left: [(type: SEIPayloadType, payload: [UInt8])] = []
    var isChanged = false
    while let message = try messages.next() {
      switch try edit(message) {
      case .unchanged: left.append((message.type, try message.payload()))
      case .replaced(let payload):
        left.append((message.type, payload))
        isChanged = true
      case .removed: isChanged = true
      }
    }
    guard isChanged else { return nil }
    guard !left.isEmpty else { return [] }
    return seiNALUnit(left, header: [UInt8](copying: nalUnit.extracting(first: headerLength)))
  }
}
