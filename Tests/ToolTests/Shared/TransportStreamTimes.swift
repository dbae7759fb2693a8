// SPDX-License-Identifier: MPL-2.0

/// The times of an MPEG transport stream (ISO/IEC 13818-1) of packets of 188 bytes: PTS and DTS of PES packets, and the base
/// of PCR, which have 33 bits.
struct TransportStreamTimes {
  /// The first PTS, and the last one in the order of the stream.
  let (first, last): (UInt64?, UInt64?)

  init(_ stream: [UInt8]) {
    var stream = stream
    var (first, last): (UInt64?, UInt64?)
    Self.change(&stream) { value, isPresentation in
      if isPresentation { (first, last) = (first ?? value, value) }
      return value
    }
    (self.first, self.last) = (first, last)
  }

  /// The stream with all times later by as many ticks, of which 33 bits are left.
  static func moved(_ stream: [UInt8], by ticks: UInt64) -> [UInt8] {
    var stream = stream
    change(&stream) { value, _ in (value &+ ticks) & ((1 << 33) - 1) }
    return stream
  }

  /// Replaces each time.
  private static func change(_ stream: inout [UInt8], _ new: (UInt64, _ isPresentation: Bool) -> UInt64) {
    for packet in stride(from: 0, to: stream.count - 187, by: 188) where stream[packet] == 0x47 {
      let (startsUnit, control) = (stream[packet + 1] & 0x40 != 0, stream[packet + 3] >> 4 & 3)
      var payload = packet + 4
      if control & 2 != 0 {
        payload += 1 + Int(stream[packet + 4])
        if stream[packet + 4] >= 7, stream[packet + 5] & 0x10 != 0 { changeClock(&stream, at: packet + 6, new) }
      }
      guard control & 1 != 0, startsUnit, payload + 19 <= packet + 188,
        stream[payload..<payload + 3].elementsEqual([0, 0, 1]),
        // Sound and video.
        (0xBD...0xEF).contains(stream[payload + 3])
      else { continue }
      let flags = stream[payload + 7] >> 6
      if flags & 2 != 0 { changeTime(&stream, at: payload + 9, isPresentation: true, new) }
      if flags == 3 { changeTime(&stream, at: payload + 14, isPresentation: false, new) }
    }
  }

  private static func changeClock(_ stream: inout [UInt8], at place: Int, _ new: (UInt64, Bool) -> UInt64) {
    let old = stream[place..<place + 5].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let value = new(old >> 7, false) << 7 | old & 0x7F
    for index in 0..<5 { stream[place + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * (4 - index))) }
  }

  private static func changeTime(
    _ stream: inout [UInt8], at place: Int, isPresentation: Bool, _ new: (UInt64, Bool) -> UInt64
  ) {
    let bytes = stream[place..<place + 5].map { UInt64($0) }
    let old = (bytes[0] >> 1 & 7) << 30 | bytes[1] << 22 | (bytes[2] >> 1) << 15 | bytes[3] << 7 | bytes[4] >> 1
    let value = new(old, isPresentation)
    stream[place] = stream[place] & 0xF1 | UInt8(value >> 30 & 7) << 1
    stream[place + 1] = UInt8(value >> 22 & 255)
    stream[place + 2] = UInt8(value >> 15 & 127) << 1 | 1
    stream[place + 3] = UInt8(value >> 7 & 255)
    stream[place + 4] = UInt8(value & 127) << 1 | 1
  }
}
