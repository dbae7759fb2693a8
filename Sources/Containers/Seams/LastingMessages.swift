// SPDX-License-Identifier: MPL-2.0
import H26x

/// SEI messages that apply to later pictures too, up to the end of their coded video sequence.
struct LastingMessages {
  private struct Message {
    /// Empty if the message ends those of its type.
    let payload: [UInt8]
    let presentation: Int64
    let decoding: Int64
  }

  /// By type, in the order in which they came.
  private var messages: [SEIPayloadType: [Message]] = [:]
  /// The decoding times of the first access units of sequences, ascending.
  private var beginnings: [Int64] = []

  /// More than pictures are decoded ahead of others.
  private static let limit = 64

  /// Begins a sequence with the access unit that is decoded then.
  mutating func beginSequence(at decoding: Int64) {
    guard !beginnings.contains(decoding) else { return }
    beginnings.insert(decoding, at: beginnings.firstIndex { $0 > decoding } ?? beginnings.endIndex)
    if beginnings.count > Self.limit { beginnings.removeFirst() }
  }

  /// Takes a message of an access unit.
  ///
  /// - Parameter payload: empty if the message ends those of its type.
  mutating func add(_ type: SEIPayloadType, _ payload: [UInt8], of accessUnit: MediaOutput.AccessUnit) {
    let message = Message(payload: payload, presentation: accessUnit.presentation, decoding: accessUnit.decoding)
    messages[type, default: []].append(message)
    if messages[type]?.count ?? 0 > Self.limit { messages[type]?.removeFirst() }
  }

  /// The messages that apply to a picture, also its own, sorted by their types.
  func messages(at presentation: Int64, decoding: Int64) -> [(type: SEIPayloadType, payload: [UInt8])] {
    let start = beginnings.last { $0 <= decoding } ?? .min
    let end = beginnings.first { $0 > decoding } ?? .max
    return messages.compactMap { type, all -> (type: SEIPayloadType, payload: [UInt8])? in
      let earlier = all.filter { start <= $0.decoding && $0.decoding < end && $0.presentation <= presentation }
      let latest = earlier.map(\.presentation).max()
      guard let payload = earlier.last(where: { $0.presentation == latest })?.payload, !payload.isEmpty else {
        return nil
      }
      return (type, payload)
    }
    .sorted { $0.type.rawValue < $1.type.rawValue }
  }
}
