// SPDX-License-Identifier: MPL-2.0
import Foundation
import Glibc
import Testing

/// Makes RTP packets of byte streams (single NAL unit packets of RFC 6184 and RFC 7798), and sends them.
struct RTPSender {
  var sequence: UInt16 = 1000
  var timestamp: UInt32 = 4_000_000_000
  var source: UInt32 = 0x1122_3344
  /// Each packet is marked as the last one of its access unit.
  var marksAll = false

  /// A packet for each NAL unit of a file of `Tests/Media`, 25 pictures a second.
  ///
  /// - Parameter wanted: whether to make one of the NAL unit that begins with this byte.
  mutating func packets(of media: String, where wanted: (UInt8) -> Bool = { _ in true }) throws -> [[UInt8]] {
    packets(
      of: try Data(contentsOf: Program.media.appending(path: media)), isH265: media.contains("265"), where: wanted)
  }

  /// As ``packets(of:where:)``, of a byte stream.
  mutating func packets(
    of stream: Data, isH265: Bool, where wanted: (UInt8) -> Bool = { _ in true }
  ) -> [[UInt8]] {
    var packets: [[UInt8]] = []
    var hasSlice = false
    for unit in Self.split([UInt8](stream)) {
      let type = isH265 ? unit[0] >> 1 & 0x3F : unit[0] & 0x1F
      // Dolby Vision is behind the slices of its picture.
      if isH265, type > 61 {
        packets.append(packet(unit))
        continue
      }
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

  /// As ``packets(of:where:)``, with the parameter sets, SEI and slices of a picture in one NAL unit.
  mutating func joinedPackets(of media: String) throws -> [[UInt8]] {
    var joined: [(timestamp: UInt32, payload: [UInt8])] = []
    for packet in try packets(of: media) {
      let time = packet[4..<8].reduce(0) { $0 << 8 | UInt32($1) }
      let payload = packet[12...]
      if joined.last?.timestamp == time {
        joined[joined.count - 1].payload += [0, 0, 0, 1] + payload
      } else {
        joined.append((time, Array(payload)))
      }
    }
    let next = timestamp
    defer { timestamp = next }
    return joined.map { access in
      timestamp = access.timestamp
      return packet(access.payload)
    }
  }

  /// A packet with a payload.
  mutating func packet(_ payload: [UInt8]) -> [UInt8] {
    func bytes(_ word: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
    defer { sequence &+= 1 }
    return [0x80, marksAll ? 96 | 0x80 : 96, UInt8(sequence >> 8), UInt8(truncatingIfNeeded: sequence)]
      + bytes(timestamp) + bytes(source)
      + payload
  }

  /// Sends packets to a port of this machine, a millisecond apart, some time after somebody listens there.
  /// Afterwards none is left in the socket.
  ///
  /// On a thread of its own: in the concurrency pool, the packets that change places might be seconds apart.
  static func send(_ packets: [[UInt8]], to port: Int, after delay: Duration = .milliseconds(500)) async throws {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      Thread.detachNewThread {
        done.resume(with: Result { try sendAndWait(packets, to: port, after: delay) })
      }
    }
  }

  /// The number of bytes that wait in the socket of a port; `nil` while nobody listens.
  private static func waiting(at port: Int) throws -> Int? {
    let number = String(port, radix: 16, uppercase: true)
    let name = ":" + String(repeating: "0", count: 4 - number.count) + number
    for line in try String(contentsOfFile: "/proc/net/udp", encoding: .utf8).split(separator: "\n") {
      // sl local_address rem_address st tx_queue:rx_queue …
      let fields = line.split(separator: " ")
      guard fields.count > 4, fields[1].hasSuffix(name) else { continue }
      return fields[4].split(separator: ":").last.flatMap { Int($0, radix: 16) }
    }
    return nil
  }

  private static func sendAndWait(_ packets: [[UInt8]], to port: Int, after delay: Duration) throws {
    for _ in 0..<60_000 {
      if try waiting(at: port) != nil { break }
      usleep(10_000)
    }
    usleep(useconds_t(delay / .microseconds(1)))
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
      usleep(1000)
      // A socket has room for 200 KiB at least.
      if try waiting(at: port) ?? 0 > 50_000 { try waitUntilTaken(at: port) }
    }
    try waitUntilTaken(at: port)
  }

  private static func waitUntilTaken(at port: Int) throws {
    for _ in 0..<60_000 {
      if try waiting(at: port) ?? 0 == 0 { break }
      usleep(1000)
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
