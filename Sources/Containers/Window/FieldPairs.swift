// SPDX-License-Identifier: MPL-2.0
import H26x

/// A stage of a copy in front of the window. It finds the fields of each frame.
///
/// Access units come and leave in decoding order. Fields of H.265 pair in the order of presentation (D.3.3), so they
/// wait until all fields have come that are presented in front of them. Other access units leave at once.
struct FieldPairs {
  typealias AccessUnit = MediaOutput.AccessUnit

  private var pairing = PresentedFieldPairing()
  /// In decoding order.
  private var held: [(accessUnit: AccessUnit, isPaired: Bool)] = []
  private var unpairedCount = 0
  /// When the frame of the last access unit is presented, in the order in which fields pair.
  private var frameStart: Int64?
  /// Random access points up to now.
  private var entryCount = 0

  /// Takes the next access unit. Returns those whose frames are known now.
  mutating func take(_ next: AccessUnit) -> [AccessUnit] {
    if next.role.isRandomAccess { entryCount += 1 }
    guard next.role.isPresentedField || !held.isEmpty else { return [paired(next)] }
    // Decoders leave these out, and a frame begins with the random access point.
    let isSkipped = next.role.isSkippedLeading && entryCount < 2
    held.append((next, isPaired: isSkipped))
    unpairedCount += isSkipped ? 0 : 1
    if unpairedCount > Window.reorderLimit { pairEarliest() }
    // In a stream that contradicts its times, nothing waits forever.
    while held.count > 2 * Window.reorderLimit, held.first?.isPaired == false { pairEarliest() }
    return takePaired()
  }

  /// Takes the end of the source, or of a format. Returns the rest.
  mutating func finish() -> [AccessUnit] {
    while unpairedCount > 0 { pairEarliest() }
    return takePaired()
  }

  private mutating func pairEarliest() {
    let unpaired = held.indices.filter { !held[$0].isPaired }
    let earliest = unpaired.min { held[$0].accessUnit.presentation < held[$1].accessUnit.presentation }
    unpairedCount = max(unpaired.count - 1, 0)
    if let earliest { held[earliest] = (paired(held[earliest].accessUnit), isPaired: true) }
  }

  private mutating func takePaired() -> [AccessUnit] {
    let count = held.firstIndex { !$0.isPaired } ?? held.count
    defer { held.removeFirst(count) }
    return held[..<count].map(\.accessUnit)
  }

  /// Takes the next access unit in the order in which fields pair.
  private mutating func paired(_ next: AccessUnit) -> AccessUnit {
    var accessUnit = next
    if accessUnit.role.isPresentedField {
      accessUnit.role.isSecondField = pairing.isSecond(accessUnit.role.presentedField)
      // An intra picture without a promise.
      if accessUnit.role.isSecondField, !accessUnit.role.isRandomAccess { accessUnit.role.start = .none }
    } else {
      pairing.takeFrame()
    }
    if !accessUnit.role.isSecondField { frameStart = accessUnit.presentation }
    accessUnit.role.frameStart = frameStart
    return accessUnit
  }
}
