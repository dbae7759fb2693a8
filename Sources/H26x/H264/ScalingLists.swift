// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// One scaling list as sent in a parameter set (7.3.2.1.1.1).
  public enum ScalingList: Sendable, Hashable {
    /// Not sent: fall-back rule A (SPS) or B (PPS) of Table 7-2.
    case fallback
    /// `useDefaultScalingMatrixFlag`: the default list of Tables 7-3 and 7-4.
    case standard
    /// The list in zig-zag order, 16 or 64 entries of 1 to 255.
    case explicit([UInt8])

    init(_ reader: inout BitReader, _ flag: StaticString, count: Int) throws(BitstreamError) {
      guard try reader.flag(flag) else {
        self = .fallback
        return
      }
      var list: [UInt8] = []
      list.reserveCapacity(count)
      var last: UInt8 = 8
      var next: UInt8 = 8
      for index in 0..<count {
        if next != 0 {
          let delta = try reader.se(in: -128...127, "delta_scale", of: .scalingList)
          // (lastScale + delta_scale + 256) % 256 is addition modulo 2^8.
          next = last &+ UInt8(truncatingIfNeeded: delta)
          if index == 0, next == 0 {
            self = .standard
            return
          }
        }
        if next != 0 { last = next }
        list.append(last)
      }
      self = .explicit(list)
    }

    func write(to writer: inout BitWriter, count: Int) {
      switch self {
      case .fallback:
        writer.flag(false)
      case .standard:
        writer.flag(true)
        writer.se(-8)
      case .explicit(let list):
        writer.flag(true)
        // A next scale of 0 replaces a tail of equal entries.
        var length = min(list.count, count)
        while length > 1, list[length - 1] == list[length - 2] { length -= 1 }
        var last: UInt8 = 8
        for index in 0..<length {
          writer.se(Int32(Int8(truncatingIfNeeded: Int(list[index]) - Int(last))))
          last = list[index]
        }
        if length < count { writer.se(Int32(Int8(truncatingIfNeeded: 0 - Int(last)))) }
      }
    }

    /// Reads `number` lists, the first six of 4×4 and the others of 8×8.
    static func lists(
      _ reader: inout BitReader, _ flag: StaticString, number: Int
    ) throws(BitstreamError) -> [ScalingList] {
      var lists: [ScalingList] = []
      lists.reserveCapacity(number)
      for index in 0..<number { lists.append(try ScalingList(&reader, flag, count: index < 6 ? 16 : 64)) }
      return lists
    }

    static func write(_ lists: [ScalingList], to writer: inout BitWriter) {
      for (index, list) in lists.enumerated() { list.write(to: &writer, count: index < 6 ? 16 : 64) }
    }
  }
}
