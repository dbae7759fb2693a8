// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport

/// Small H.264 streams: 32×32 pixels, frames only, POC type 2.
enum RepackStream {
  static func sps(_ id: UInt32 = 0, profile: UInt32 = 66, constraints: UInt32 = 0xC0, level: UInt32 = 30) -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, 0x67)
    writer.u(8, profile)
    writer.u(8, constraints)
    writer.u(8, level)
    writer.ue(id)
    if profile >= 100 {
      writer.ue(2)  // 4:2:2
      writer.ue(2)  // 10 bits luma
      writer.ue(1)  // 9 bits chroma
      writer.u(2, 0)
    }
    writer.ue(0)  // log2_max_frame_num_minus4
    writer.ue(2)
    writer.ue(1)
    writer.flag(false)
    writer.ue(1)
    writer.ue(1)
    writer.u(4, 0b1100)  // frame_mbs_only_flag, direct_8x8_inference_flag, no cropping, no VUI
    writer.trailingBits()
    return writer.bytes
  }

  static func pps(_ id: UInt32 = 0, sps: UInt32 = 0, qp: Int32 = 0) -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, 0x68)
    writer.ue(id)
    writer.ue(sps)
    writer.u(2, 0)
    for _ in 0..<3 { writer.ue(0) }
    writer.u(3, 0)
    writer.se(qp)
    writer.se(0)
    writer.se(0)
    writer.u(3, 0)
    writer.trailingBits()
    return writer.bytes
  }

  /// `seq_parameter_set_extension_rbsp()` without an auxiliary picture.
  static func spsExtension(_ id: UInt32 = 0) -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, 0x6D)
    writer.ue(id)
    writer.ue(0)
    writer.flag(false)
    writer.trailingBits()
    return writer.bytes
  }

  /// A slice whose header can be read, with a payload of `size` bytes.
  static func slice(
    _ frame: UInt32, isIDR: Bool = false, pps: UInt32 = 0, firstMacroblock: UInt32 = 0, size: Int = 20,
    isReference: Bool = true
  ) -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, (isReference ? 0x60 : 0) | (isIDR ? 5 : 1))
    writer.ue(firstMacroblock)
    writer.ue(isIDR ? 7 : 5)
    writer.ue(pps)
    writer.u(4, isIDR ? 0 : frame & 15)
    if isIDR { writer.ue(frame & 1) }
    writer.u(5, 0)
    writer.trailingBits()
    writer.append((0..<size).map { UInt8(truncatingIfNeeded: 0x40 + $0 * 7) | 4 })
    return writer.bytes
  }

  static let delimiter: [UInt8] = [0x09, 0xF0]
  static let filler: [UInt8] = [0x0C, 0xFF, 0xFF, 0x80]
  static let endOfSequence: [UInt8] = [0x0A]
  /// User data unregistered.
  static let sei: [UInt8] = [0x06, 0x05, 0x11] + [UInt8](repeating: 0x42, count: 17) + [0x80]
  /// A recovery point, 0 frames away.
  static let recoveryPoint: [UInt8] = [0x06, 0x06, 0x01, 0xC4, 0x80]

  static func annexB(_ nalUnits: [[UInt8]], startCode: Int = 4) -> [UInt8] {
    nalUnits.flatMap { [UInt8](repeating: 0, count: startCode - 1) + [1] + $0 }
  }

  static func lengthPrefixed(_ nalUnits: [[UInt8]], _ size: Int = 4) -> [UInt8] {
    nalUnits.flatMap { unit in (0..<size).reversed().map { UInt8(truncatingIfNeeded: unit.count >> ($0 * 8)) } + unit }
  }

  /// An avcC record (ISO/IEC 14496-15, 5.3.3.1), written without the code under test.
  static func avcC(_ sets: [[UInt8]], pps: [[UInt8]], size: Int = 4, high: [UInt8] = []) -> [UInt8] {
    let first = sets.first ?? sps()
    var record: [UInt8] = [1, first[1], first[2], first[3], 0xFC | UInt8(size - 1), 0xE0 | UInt8(sets.count)]
    record += lengthPrefixed(sets, 2)
    record.append(UInt8(pps.count))
    return record + lengthPrefixed(pps, 2) + high
  }

  static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
  }

  /// A buffer of these bytes.
  static func buffer(_ bytes: [UInt8]) throws -> Buffer {
    guard let buffer = Buffer(copying: bytes.span) else { throw Harness.Failure.noBuffer }
    return buffer
  }

  /// Caps of this packaging.
  static func caps(_ format: String, _ alignment: String = "au", codecData: [UInt8]? = nil, more: String = "") -> String
  {
    var text = "video/x-h264, stream-format=\(format), alignment=\(alignment)" + more
    if let codecData { text += ", codec_data=(buffer)\(hexadecimal(codecData))" }
    return text
  }
}

extension Harness {
  /// A `swifth264repack` with these properties, whose downstream accepts only this packaging.
  static func repack(_ properties: String = "", to format: String, _ alignment: String = "au") throws -> Harness {
    initialise()
    _ = Registration.succeeded
    let harness = try Harness("swifth264repack \(properties)")
    harness.setOutputCaps("video/x-h264, stream-format=\(format), alignment=\(alignment)")
    return harness
  }

  static let registered = Registration.succeeded

  /// `codec_data` of the output's caps.
  func outputCodecData() throws -> [UInt8] {
    let caps = try outputCaps()
    guard let buffer = caps.first.buffer("codec_data") else { return [] }
    return try buffer.copiedBytes()
  }

  /// A field of `stats` as a number.
  func statistic(_ name: String) -> Int? {
    let text = text("stats").filter { $0 != "\\" }
    guard let range = text.firstRange(of: " \(name)=(guint64)") ?? text.firstRange(of: " \(name)=(int)") else {
      return nil
    }
    return Int(text[range.upperBound...].prefix { $0.isNumber })
  }
}
