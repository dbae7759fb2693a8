// SPDX-License-Identifier: MPL-2.0
import Foundation
import Glibc
import Testing

/// Makes RTP packets of byte streams (single NAL unit packets of RFC 6184 and RFC 7798), and sends them.
struct RTPSender {
  var sequence: UInt16 = 1000
  var timestamp: UInt32 = 4_000_000_000
  var source: UInt32 = 0x1122_3344

  /// A packet for each NAL unit of a file of `Tests/Media`, 25 pictures a second.
  ///
  /// - Parameter wanted: whether to make one of the NAL unit that begins with this byte.
  mutating func packets(of media: String, where wanted: (UInt8) -> Bool = { _ in true }) throws -> [[UInt8]] {
    let isH265 = media.contains("265")
    var packets: [[UInt8]] = []
    var hasSlice = false
    for unit in Self.split([UInt8](try Data(contentsOf: Program.media.appending(path: media)))) {
      let type = isH265 ? unit[0] >> 1 & 0x3F : unit[0] & 0x1F
      let isSlice = isH265 ? type < 32 : (1...5).contains(type)
      // The first slice of a picture, and what stands in front of it, has the next picture's time.
      if hasSlice, !isSlice || unit[isH265 ? 2 : 1] & 0x80 != 0 {
        timestamp &+= 3600
        hasSlice = false
      }
      hasSlice = hasSlice || isSlice
      if wanted(unit[0]) { packets.append(packet(unit)) }
    }
    timestamp &+= 3600
    return packets
  }

  /// A packet with a payload.
  mutating func packet(_ payload: [UInt8]) -> [UInt8] {
    func bytes(_ word: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
    defer { sequence &+= 1 }
    return [0x80, 96, UInt8(sequence >> 8), UInt8(truncatingIfNeeded: sequence)] + bytes(timestamp) + bytes(source)
      + payload
  }

  /// Sends packets to a port of this machine, a millisecond apart, some time after somebody listens there.
  static func send(_ packets: [[UInt8]], to port: Int, after delay: Duration = .milliseconds(500)) async throws {
    let number = String(port, radix: 16, uppercase: true)
    let name = ":" + String(repeating: "0", count: 4 - number.count) + number + " "
    for _ in 0..<1200 where try !String(contentsOfFile: "/proc/net/udp", encoding: .utf8).contains(name) {
      try await Task.sleep(for: .milliseconds(50))
    }
    try await Task.sleep(for: delay)
    let socket = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(socket) }
    var address = loopback(port: port)
    for packet in packets {
      let count = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
          unsafe packet.withUnsafeBytes {
            unsafe sendto(socket, $0.baseAddress, $0.count, 0, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
          }
        }
      }
      try #require(count == packet.count)
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  private static func split(_ bytes: [UInt8]) -> [[UInt8]] {
    var (units, start, zeros): ([[UInt8]], Int?, Int) = ([], nil, 0)
    for (index, byte) in bytes.enumerated() {
      if byte == 1, zeros >= 2 {
        if let start { units.append(Array(bytes[start..<index - zeros])) }
        start = index + 1
      }
      zeros = byte == 0 ? zeros + 1 : 0
    }
    if let start { units.append(Array(bytes[start...])) }
    return units
  }
}

/// A free port.
func freePort() throws -> Int {
  let socket = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
  defer { close(socket) }
  var address = loopback(port: 0)
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
      unsafe bind(socket, pointer, length) == 0 && getsockname(socket, pointer, &length) == 0
    }
  }
  try #require(isBound)
  return Int(UInt16(bigEndian: address.sin_port))
}

private func loopback(port: Int) -> sockaddr_in {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  address.sin_port = in_port_t(port).bigEndian
  return address
}
