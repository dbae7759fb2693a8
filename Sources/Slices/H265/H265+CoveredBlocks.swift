// SPDX-License-Identifier: MPL-2.0

internal import H26x

extension H265 {
  /// The coding tree blocks of a picture that have been read, by address in tile scan.
  struct CoveredBlocks {
    /// `colour_plane_id`, 0 to 2.
    var plane = 0
    private var words: [UInt64] = []
    /// The words that may not be 0.
    private var used = 0..<0

    /// Forgets all blocks.
    mutating func removeAll() {
      for index in used where index < words.count { words[index] = 0 }
      used = 0..<0
    }

    /// Adds a block. Returns false if it has been added before.
    mutating func insert(_ address: Int, of settings: borrowing SliceSettings) -> Bool {
      let count = settings.widthInTreeBlocks &* settings.heightInTreeBlocks
      let needed = ((settings.hasSeparatePlanes ? 3 &* count : count) &+ 63) &>> 6
      if words.count < needed {
        words.reserveCapacity(needed)
        while words.count < needed { words.append(0) }
      }
      let place = address &+ (settings.hasSeparatePlanes ? plane &* count : 0)
      let index = place &>> 6
      guard address >= 0, address < count, index < words.count else { return false }
      let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: place & 63)
      guard words[index] & bit == 0 else { return false }
      words[index] |= bit
      if used.isEmpty {
        used = index..<index &+ 1
      } else if index < used.lowerBound {
        used = index..<used.upperBound
      } else if index >= used.upperBound {
        used = used.lowerBound..<index &+ 1
      }
      return true
    }

    /// Removes blocks of the plane.
    mutating func remove(_ addresses: Range<Int>, of settings: borrowing SliceSettings) {
      let count = settings.widthInTreeBlocks &* settings.heightInTreeBlocks
      let base = settings.hasSeparatePlanes ? plane &* count : 0
      for address in addresses.clamped(to: 0..<count) {
        let place = address &+ base
        let index = place &>> 6
        guard index < words.count else { return }
        words[index] &= ~(1 &<< UInt64(truncatingIfNeeded: place & 63))
      }
    }
  }
}
