// SPDX-License-Identifier: MPL-2.0

/// Puts what pictures have into presentation order. It holds the last pictures only.
package struct PresentationQueue<Element: Sendable>: Sendable {
  private var held: [(sequence: UInt64, order: Int32, element: Element)] = []
  /// No stream reorders more pictures.
  private static var limit: Int { 32 }

  package init() {}

  /// Takes the next picture in decoding order.
  ///
  /// - Parameters:
  ///   - sequence: ``AccessUnitRecord/sequence``.
  ///   - order: its picture order count.
  /// - Returns: the first in presentation order, once enough pictures are held.
  package mutating func add(_ element: Element, sequence: UInt64, order: Int32) -> Element? {
    var place = held.count
    while place > 0, (held[place - 1].sequence, held[place - 1].order) > (sequence, order) { place -= 1 }
    held.insert((sequence, order, element), at: place)
    return held.count > Self.limit ? held.removeFirst().element : nil
  }

  /// The others, in presentation order.
  package mutating func finish() -> [Element] {
    defer { held = [] }
    return held.map { $0.element }
  }
}
