// SPDX-License-Identifier: MPL-2.0

/// Reads the first packets of an MPEG transport stream (ISO/IEC 13818-1).
enum TransportStream {
  /// The positions of packets: their sync bytes come at one distance.
  struct Packets: Equatable {
    /// The place of the first sync byte.
    var first: Int
    /// Bytes from one sync byte to the next. 192 include a timestamp of 4 bytes in front of each packet, as in M2TS.
    /// 204 include parity bytes behind it.
    var size: Int

    static let sizes = [188, 192, 204]
    /// The fewest packets in a row that are not a coincidence, and the most that are inspected.
    private static let (fewest, most) = (5, 8)

    init(first: Int, size: Int) { (self.first, self.size) = (first, size) }

    /// Finds the first packets, which may be behind bytes of something else; `nil` without several in a row.
    init?(in bytes: [UInt8]) {
      for first in bytes.indices where bytes[first] == 0x47 {
        for size in Self.sizes {
          let count = min(Self.most, (bytes.count - first - 188) / size + 1)
          guard count >= Self.fewest, (0..<count).allSatisfy({ Self.isPacket(bytes, at: first + $0 * size) }) else {
            continue
          }
          self.init(first: first, size: size)
          return
        }
      }
      return nil
    }

    /// Whether the last of several packets in a row at the end of the bytes is incomplete.
    static func endsInsidePacket(_ bytes: [UInt8]) -> Bool {
      for size in sizes {
        /// Whether the last `rest` bytes begin with a sync byte, with packets in front of it.
        func ends(_ rest: Int) -> Bool {
          let last = bytes.count - rest
          guard last - (fewest - 1) * size >= 0, bytes[last] == 0x47 else { return false }
          return (1..<fewest).allSatisfy { isPacket(bytes, at: last - $0 * size) }
        }
        // In packets of 192 bytes, four bytes precede the sync byte.
        let whole = size == 192 ? 188 : size
        if ends(whole) { return false }
        if (1...size).contains(where: { $0 != whole && ends($0) }) { return true }
      }
      return false
    }

    /// Whether a header (2.4.3.2) can begin here: a sync byte, no error, and a payload or a fitting adaptation field.
    private static func isPacket(_ bytes: [UInt8], at place: Int) -> Bool {
      guard bytes[place] == 0x47, bytes[place + 1] & 0x80 == 0 else { return false }
      let control = bytes[place + 3] >> 4 & 3
      return control == 1 || control > 1 && bytes[place + 4] <= 183
    }
  }

  /// Whether the times of streams other than video go back, or ahead by many seconds; `nil` if these bytes have fewer
  /// than two times of such a stream. Program clock references (2.4.3.5) may come with the video alone, so they are
  /// ignored.
  static func clockJumps(in bytes: [UInt8], by seconds: Int64) -> Bool? {
    guard let packets = Packets(in: bytes) else { return nil }
    var latest: [Int: Int64] = [:]
    var isKnown = false
    for start in stride(from: packets.first, to: bytes.count - 187, by: packets.size) {
      guard let time = presentationTime(Array(bytes[start..<start + 188])) else { continue }
      let identifier = Int(bytes[start + 1] & 0x1F) << 8 | Int(bytes[start + 2])
      if let before = latest[identifier] {
        isKnown = true
        // Times wrap after 2^33 ticks of 90 kHz; going back is going ahead by nearly as many.
        if (time - before) & (1 << 33 - 1) > seconds * 90_000 { return true }
      }
      latest[identifier] = time
    }
    return isKnown ? false : nil
  }

  /// The PTS of a PES packet (2.4.3.6) of sound or data that begins in a packet; `nil` for another packet.
  private static func presentationTime(_ packet: [UInt8]) -> Int64? {
    guard packet[0] == 0x47, packet[1] & 0x40 != 0, packet[3] & 0x10 != 0 else { return nil }
    let start = 4 + (packet[3] & 0x20 != 0 ? 1 + Int(packet[4]) : 0)
    guard start + 14 <= packet.count, packet[start..<start + 3].elementsEqual([0, 0, 1]),
      !(0xE0...0xEF).contains(packet[start + 3]), packet[start + 7] & 0x80 != 0
    else { return nil }
    let time = packet[start + 9..<start + 14].map { Int64($0) }
    return (time[0] >> 1 & 7) << 30 | time[1] << 22 | (time[2] >> 1) << 15 | time[3] << 7 | time[4] >> 1
  }

  /// The program numbers in the order of the program association table (2.4.4.3); none if these bytes have no table.
  static func programs(in bytes: [UInt8]) -> [Int] {
    let found = Packets(in: bytes).map { [($0.first, $0.size)] } ?? []
    for (first, step) in [(0, 188), (4, 192), (0, 204)] + found {
      for start in stride(from: first, to: bytes.count - 187, by: step) {
        guard bytes[start] == 0x47 else { break }
        if let programs = table(bytes[start..<start + 188]) { return programs }
      }
    }
    return []
  }

  /// The program numbers of a packet in which a program association table begins; `nil` for another packet.
  private static func table(_ packet: ArraySlice<UInt8>) -> [Int]? {
    let packet = Array(packet)
    let (startsSection, identifier) = (packet[1] & 0x40 != 0, UInt16(packet[1] & 0x1F) << 8 | UInt16(packet[2]))
    guard startsSection, identifier == 0, packet[3] & 0x10 != 0 else { return nil }
    // After the header come the adaptation field, pointer_field and the section.
    let adaptation = packet[3] & 0x20 != 0 ? 1 + Int(packet[4]) : 0
    guard 4 + adaptation < packet.count else { return nil }
    let section = 5 + adaptation + Int(packet[4 + adaptation])
    guard section + 8 <= packet.count, packet[section] == 0 else { return nil }
    let length = Int(packet[section + 1] & 0x0F) << 8 | Int(packet[section + 2])
    // The last 4 bytes are the CRC. If the table is longer, only the part in this packet is read.
    let end = min(section + 3 + length - 4, packet.count)
    var programs: [Int] = []
    for entry in stride(from: section + 8, to: end - 3, by: 4) {
      let number = Int(packet[entry]) << 8 | Int(packet[entry + 1])
      // 0 names the network information table.
      if number != 0 { programs.append(number) }
    }
    return programs
  }
}
