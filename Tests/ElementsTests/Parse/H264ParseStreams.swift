// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport

/// Small H.264 streams for tests of the parser. NAL units are without start codes.
enum ParseStream {
  /// 32 × 24, Main, level 2.1, with a frame rate that the level does not allow.
  static let sps: [UInt8] = [
    0x67, 0x4D, 0x40, 0x15, 0xEC, 0xA4, 0xBF, 0x2E, 0x02, 0x20, 0x00, 0x00, 0x03, 0x00, 0x2E, 0xE6, 0xB2, 0x80, 0x01,
    0xE2, 0xC5, 0xB2, 0xC0,
  ]
  static let pps: [UInt8] = [0x68, 0xEB, 0xEC, 0xB2]
  static let idr: [UInt8] = [
    0x65, 0x88, 0x84, 0x00, 0x10, 0xFF, 0xFE, 0xF6, 0xF0, 0xFE, 0x05, 0x36, 0x56, 0x04, 0x50, 0x96, 0x7B, 0x3F, 0x53,
    0xE1,
  ]
  static let delimiter: [UInt8] = [0x09, 0xF0]
  static let bufferingPeriod: [UInt8] = [0x06, 0x00, 0x01, 0xC0]
  static let contentLight: [UInt8] = [0x06, 0x90, 0x04, 0x03, 0xE8, 0x01, 0x90, 0x80]
  static let masteringDisplay: [UInt8] = [
    0x06, 0x89, 0x18, 0x84, 0xD0, 0x3E, 0x80, 0x33, 0x90, 0x86, 0xC4, 0x1D, 0x4C, 0x0B, 0xB8, 0x3D, 0x13, 0x40, 0x42,
    0x00, 0x98, 0x96, 0x80, 0x00, 0x00, 0x03, 0x00, 0x01, 0x80,
  ]
  /// The avcC record of `sps` and `pps`.
  static let codecData: [UInt8] = [0x01, 0x4D, 0x40, 0x15, 0xFF, 0xE1, 0x00, 0x17] + sps + [0x01, 0x00, 0x04] + pps

  // Two slices a picture: 128 × 128, Baseline.
  static let slicingSPS: [UInt8] = [
    0x67, 0x42, 0xC0, 0x0B, 0x8C, 0x8D, 0x41, 0x02, 0x24, 0x03, 0xC2, 0x21, 0x1A, 0x80,
  ]
  static let slicingPPS: [UInt8] = [0x68, 0xCE, 0x3C, 0x80]
  static let firstSlice: [UInt8] = [0x65, 0xB8, 0x00, 0x04, 0x00, 0x00, 0x11, 0xFF, 0xFF, 0xF8, 0x22, 0x8A, 0x1F, 0x1C]
  static let secondSlice: [UInt8] = [
    0x65, 0x04, 0x2E, 0x00, 0x01, 0x00, 0x00, 0x04, 0x7F, 0xFF, 0xFE, 0x08, 0xA2, 0x87, 0xC7, 0x00, 0x01, 0x02,
  ]

  /// NAL units with start codes of four bytes.
  static func byteStream(_ nalUnits: [UInt8]...) -> [UInt8] { nalUnits.flatMap { [0, 0, 0, 1] + $0 } }

  /// NAL units with length prefixes.
  static func packet(_ nalUnits: [UInt8]..., lengthSize: Int = 4) -> [UInt8] {
    nalUnits.flatMap { unit in
      (0..<lengthSize).map { UInt8(truncatingIfNeeded: unit.count >> (8 * (lengthSize - 1 - $0))) } + unit
    }
  }

  static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { (($0 < 16) ? "0" : "") + String($0, radix: 16) }.joined()
  }

  static func avcCaps(_ codecData: [UInt8] = codecData, format: String = "avc", more: String = "") -> String {
    "video/x-h264, stream-format=\(format), alignment=au, codec_data=(buffer)\(hexadecimal(codecData))\(more)"
  }

  // MARK: Made to order

  /// An SPS of 32 × 32 pixels, Main, picture order count type 0 with 4-bit frame numbers and 8-bit counts.
  static func spsToOrder(
    id: UInt32 = 0, profile: UInt32 = 77, constraints: UInt32 = 0, level: UInt32 = 30, width: UInt32 = 2,
    frameOnly: Bool = true, rate: UInt32? = 25, reorder: UInt32? = nil, hasPictureStructure: Bool = false
  ) -> [UInt8] {
    var writer = BitWriter()
    for byte in [0x67, profile, constraints, level] { writer.u(8, byte) }
    writer.ue(id)
    writer.ue(0)  // log2_max_frame_num_minus4
    writer.ue(0)
    writer.ue(4)  // log2_max_pic_order_cnt_lsb_minus4
    writer.ue(4)
    writer.flag(false)
    writer.ue(width - 1)
    writer.ue(frameOnly ? 1 : 0)
    writer.flag(frameOnly)
    if !frameOnly { writer.flag(false) }
    writer.flag(true)
    writer.flag(false)
    writer.flag(true)  // VUI
    for _ in 0..<4 { writer.flag(false) }
    writer.flag(rate != nil)
    if let rate {
      writer.u(32, 1)
      writer.u(32, 2 * rate)
      writer.flag(true)
    }
    writer.flag(false)
    writer.flag(false)
    writer.flag(hasPictureStructure)
    writer.flag(reorder != nil)
    if let reorder {
      writer.flag(true)
      for value: UInt32 in [0, 0, 10, 10, reorder, 4] { writer.ue(value) }
    }
    writer.trailingBits()
    return writer.bytes
  }

  static func ppsToOrder(id: UInt32 = 0, sps: UInt32 = 0, redundant: Bool = false) -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, 0x68)
    writer.ue(id)
    writer.ue(sps)
    writer.u(2, 0)
    for _ in 0..<3 { writer.ue(0) }
    writer.u(3, 0)
    for _ in 0..<3 { writer.se(0) }
    writer.flag(false)
    writer.flag(false)
    writer.flag(redundant)
    writer.trailingBits()
    return writer.bytes
  }

  /// A slice for `spsToOrder` and `ppsToOrder`.
  ///
  /// - Parameters:
  ///   - kind: 0 P, 1 B, 2 I.
  ///   - field: nil for a frame, 0 top, 1 bottom; of a stream that is not `frameOnly`.
  static func slice(
    _ kind: UInt32, number: UInt32, order: UInt32, idr: Bool = false, reference: UInt32 = 1, first: UInt32 = 0,
    pps: UInt32 = 0, idrID: UInt32 = 0, field: UInt32? = nil, frameOnly: Bool = true, redundant: UInt32? = nil,
    size: Int = 40
  ) -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, reference << 5 | (idr ? 5 : 1))
    writer.ue(first)
    writer.ue(kind)
    writer.ue(pps)
    writer.u(4, number & 15)
    if !frameOnly {
      writer.flag(field != nil)
      if let field { writer.flag(field == 1) }
    }
    if idr { writer.ue(idrID) }
    writer.u(8, order & 255)
    if let redundant { writer.ue(redundant) }
    for index in 0..<size { writer.u(8, UInt32(0x40 + index % 64)) }
    writer.trailingBits()
    return writer.bytes
  }
}

extension Harness {
  /// A `swifth264parse` with these properties, for input and output of these caps.
  static func parse(_ properties: String = "", from input: String? = nil, to output: String? = nil) throws -> Harness {
    initialise()
    _ = registered
    let harness = try Harness("swifth264parse \(properties)")
    if let output { harness.setOutputCaps("video/x-h264, parsed=true, \(output)") }
    if let input { harness.setInputCaps(input) }
    return harness
  }

  /// The output caps as text, with a comma after every field.
  func outputCapsText() throws -> String {
    let caps = try outputCaps()
    return caps.description + ","
  }

  /// The answer to a caps query with this filter at the sink pad, as text.
  func acceptableCaps(_ filter: String) -> String {
    let filter = Caps(parsing: filter)
    let caps = querySinkCaps(filter: filter)
    return caps.description
  }

  /// The bytes of all output buffers.
  func pullAll() throws -> [[UInt8]] {
    var result: [[UInt8]] = []
    while waiting > 0 { result.append(try pullBytes()) }
    return result
  }
}

extension Buffer {
  private borrowing func captionMeta() -> UnsafeMutablePointer<GstVideoCaptionMeta>? {
    guard let meta = unsafe gst_buffer_get_meta(raw, gst_video_caption_meta_api_get_type()) else { return nil }
    return unsafe UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstVideoCaptionMeta.self)
  }

  /// `GstVideoCaptionType` of the first closed captions, 0 without any.
  var captionType: UInt32 { unsafe captionMeta()?.pointee.caption_type.rawValue ?? 0 }

  /// The first closed captions.
  var captions: [UInt8] {
    guard let meta = unsafe captionMeta() else { return [] }
    return unsafe [UInt8](UnsafeBufferPointer(start: meta.pointee.data, count: Int(meta.pointee.size)))
  }

  /// The number of metas of an API type.
  func metaCount(_ type: GType) -> Int { unsafe Int(gst_buffer_get_n_meta(raw, type)) }
}
