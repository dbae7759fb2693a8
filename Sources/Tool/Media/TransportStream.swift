// SPDX-License-Identifier: MPL-2.0

/// What the first packets of an MPEG transport stream say (ISO/IEC 13818-1).
enum TransportStream {
  /// The numbers of its programmes, in the order of the program association table (2.4.4.3); none where no table is
  /// found in these bytes.
  static func programs(in bytes: [UInt8]) -> [Int] {
    // Packets may have a time of four bytes in front.
    for (first, step) in [(0, 188), (4, 192)] {
      for start in stride(from: first, to: bytes.count - 187, by: step) {
        guard bytes[start] == 0x47 else { break }
        if let programs = table(bytes[start..<start + 188]) { return programs }
      }
    }
    return []
  }

  /// The programmes of a packet that begins a program association table.
  private static func table(_ packet: ArraySlice<UInt8>) -> [Int]? {
    let packet = Array(packet)
    let (startsSection, identifier) = (packet[1] & 0x40 != 0, UInt16(packet[1] & 0x1F) << 8 | UInt16(packet[2]))
    guard startsSection, identifier == 0, packet[3] & 0x10 != 0 else { return nil }
    // An adaptation field, the pointer to the section, the section.
    let adaptation = packet[3] & 0x20 != 0 ? 1 + Int(packet[4]) : 0
    guard 4 + adaptation < packet.count else { return nil }
    let section = 5 + adaptation + Int(packet[4 + adaptation])
    guard section + 8 <= packet.count, packet[section] == 0 else { return nil }
    let length = Int(packet[section + 1] & 0x0F) << 8 | Int(packet[section + 2])
    // Four bytes of checksum at the end. A longer table goes on in the next packet.
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
