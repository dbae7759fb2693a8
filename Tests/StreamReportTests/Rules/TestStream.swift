// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport

/// H.264 streams written element by element, correct except for what a test changes.
struct TestStream {
  struct Sequence {
    var id: UInt32 = 0
    var profile: UInt32 = 77
    var flags: UInt32 = 0
    var level: UInt32 = 30
    var width: UInt32 = 2
    var height: UInt32 = 2
    var references: UInt32 = 2
    var allowsGaps = false
    var depth: UInt32 = 8
    var chroma: UInt32 = 1
    var isFrameOnly = true
    var crop: UInt32?
    /// Written in place of `vui_parameters_present_flag` 0.
    var vui: ((inout BitWriter) -> Void)?
  }

  struct Slice {
    var isIDR = false
    /// 0 P, 1 B, 2 I.
    var type: UInt32 = 0
    var frameNumber: UInt32 = 0
    var order: UInt32 = 0
    var reference: UInt32 = 1
    var idrID: UInt32 = 0
    var first: UInt32 = 0
    var pps: UInt32 = 0
    var qp: Int32 = 0
    /// `abs_diff_pic_num_minus1` of list 0.
    var names: UInt32?
    /// MMCO 1 with this operand.
    var unmarks: UInt32?
    /// `long_term_reference_flag` of an IDR picture.
    var isLongTerm = false
    /// `no_output_of_prior_pics_flag` of an IDR picture.
    var discardsPriorPictures = false
    /// Adaptive marking without operations, so that no picture is unmarked.
    var keepsAll = false
    /// Whether it has `field_pic_flag`.
    var isInterlaced = false
    /// `bottom_field_flag` of a field; nil for a frame.
    var isBottom: Bool?
    /// `cabac_alignment_one_bit`, and its place in a slice without CABAC.
    var alignment = true
    /// 5 to 9 in place of 0 to 4.
    var isTypeOfWholePicture = false
    var payload = 2
    /// Slice data of CAVLC, in place of alignment and payload.
    var data: ((inout BitWriter) -> Void)?
  }

  var nalUnits: [[UInt8]] = []
  var bytes: [UInt8] { nalUnits.flatMap { [0, 0, 0, 1] + $0 as [UInt8] } }

  static func sps(_ s: Sequence = Sequence()) -> [UInt8] {
    var writer = BitWriter()
    for byte in [0x67, s.profile, s.flags, s.level] { writer.u(8, byte) }
    writer.ue(s.id)
    if s.profile >= 100 || s.profile == 44 {
      writer.ue(s.chroma)
      writer.ue(s.depth - 8)
      writer.ue(s.depth - 8)
      writer.u(2, 0)
    }
    for value in [0, 0, 4, s.references] { writer.ue(value) }
    writer.flag(s.allowsGaps)
    writer.ue(s.width - 1)
    writer.ue(s.height - 1)
    writer.flag(s.isFrameOnly)
    if !s.isFrameOnly { writer.flag(false) }
    writer.flag(true)
    writer.flag(s.crop != nil)
    if let crop = s.crop { for value in [crop, 0, 0, 0] { writer.ue(value) } }
    if let vui = s.vui { vui(&writer) } else { writer.flag(false) }
    writer.trailingBits()
    return writer.bytes
  }

  static func pps(
    id: UInt32 = 0, sps: UInt32 = 0, isCABAC: Bool = false, weightedBiprediction: UInt32 = 0, initialQS: Int32 = 0
  ) -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, 0x68)
    writer.ue(id)
    writer.ue(sps)
    writer.flag(isCABAC)
    writer.flag(false)
    for _ in 0..<3 { writer.ue(0) }
    writer.flag(false)
    writer.u(2, weightedBiprediction)
    for value in [0, initialQS, 0] { writer.se(value) }
    writer.u(3, 0)
    writer.trailingBits()
    return writer.bytes
  }

  static func slice(_ s: Slice) -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, s.reference << 5 | (s.isIDR ? 5 : 1))
    for value in [s.first, s.type + (s.isTypeOfWholePicture ? 5 : 0), s.pps] { writer.ue(value) }
    writer.u(4, s.frameNumber)
    if s.isInterlaced {
      writer.flag(s.isBottom != nil)
      if let isBottom = s.isBottom { writer.flag(isBottom) }
    }
    if s.isIDR { writer.ue(s.idrID) }
    writer.u(8, s.order)
    if s.type == 1 { writer.flag(true) }
    if s.type != 2 {
      writer.flag(false)
      writer.flag(s.names != nil)
      if let names = s.names {
        writer.ue(0)
        writer.ue(names)
        writer.ue(3)
      }
      if s.type == 1 { writer.flag(false) }
    }
    if s.reference != 0 {
      if s.isIDR {
        writer.flag(s.discardsPriorPictures)
        writer.flag(s.isLongTerm)
      } else {
        writer.flag(s.unmarks != nil || s.keepsAll)
        if let unmarks = s.unmarks { for value in [1, unmarks] { writer.ue(value) } }
        if s.unmarks != nil || s.keepsAll { writer.ue(0) }
      }
    }
    writer.se(s.qp)
    if let data = s.data {
      data(&writer)
    } else {
      while !writer.isByteAligned { writer.flag(s.alignment) }
      for _ in 0..<s.payload { writer.u(8, 0xAB) }
    }
    writer.trailingBits()
    return writer.bytes
  }

  /// Slice data of intra macroblocks without coefficients (`I_16x16_2_0_0`).
  static func intra(_ count: Int) -> (inout BitWriter) -> Void {
    { writer in
      for _ in 0..<count {
        writer.ue(3)
        writer.ue(0)
        writer.se(0)
        writer.flag(true)
      }
    }
  }

  /// Slice data of skipped macroblocks.
  static func skipped(_ count: UInt32) -> (inout BitWriter) -> Void { { writer in writer.ue(count) } }

  /// Slice data of a P_L0_16x16 macroblock with a vector difference, behind `before` skipped ones.
  static func moved(_ x: Int32, _ y: Int32, before: UInt32 = 0, behind: UInt32) -> (inout BitWriter) -> Void {
    { writer in
      writer.ue(before)
      writer.ue(0)
      writer.se(x)
      writer.se(y)
      writer.ue(0)
      writer.ue(behind)
    }
  }

  /// Slice data of a B_8x8 macroblock with one B_Bi_8x4, and three skipped ones.
  static func bipredicted(_ writer: inout BitWriter) {
    for value in [0, 22, 8, 0, 0, 0] as [UInt32] { writer.ue(value) }
    for _ in 0..<8 { writer.se(0) }
    writer.ue(0)
    writer.ue(3)
  }

  /// Slice data of an I_NxN macroblock with 16 levels of 28 bits in each luma block, behind three of PCM.
  static func crowded(_ writer: inout BitWriter) {
    for _ in 0..<3 {
      writer.ue(25)
      writer.align()
      for _ in 0..<384 { writer.u(8, 1) }
    }
    writer.ue(0)
    for _ in 0..<16 { writer.flag(true) }
    writer.ue(0)
    // coded_block_pattern 15.
    writer.ue(2)
    writer.se(0)
    for _ in 0..<16 {
      writer.u(6, 0b111100)
      for _ in 0..<16 {
        writer.u(16, 1)
        writer.u(12, 0)
      }
    }
  }

  /// Slice data with arithmetic coding of an I_NxN macroblock. The 64 levels of its first quarter are 15. These are 1173
  /// bins: 14 of a level cost next to nothing.
  static func dense(_ writer: inout BitWriter) {
    while !writer.isByteAligned { writer.flag(true) }
    writer.append([
      0xB8, 0x15, 0x5A, 0x0F, 0x28, 0x1F, 0xE6, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0x73, 0x35, 0xC0, 0, 0, 0, 0, 0, 0,
      0x29, 0x27, 0xD8, 0, 0, 0, 0, 0, 0xC2, 0x3F, 0x40, 0, 0, 0, 0x0E,
    ])
    writer.u(4, 2)
  }

  /// An IDR picture of macroblocks that have too many bins, each in a slice of its own.
  static func dense(_ count: UInt32) -> TestStream {
    var stream = TestStream(.init(width: count, height: 1), isCABAC: true)
    stream.nalUnits.removeLast()
    for first in 0..<count { stream.nalUnits.append(slice(.init(isIDR: true, type: 2, first: first, data: dense))) }
    return stream
  }

  /// An IDR picture whose slice data are legal, unless others are given.
  static func readable(
    _ data: @escaping (inout BitWriter) -> Void = intra(4), in sequence: Sequence = Sequence()
  ) -> TestStream {
    var stream = TestStream(sequence)
    stream.nalUnits[2] = slice(.init(isIDR: true, type: 2, data: data))
    return stream
  }

  /// An IDR picture with its parameter sets.
  init(_ sequence: Sequence = Sequence(), isCABAC: Bool = false) {
    nalUnits = [
      Self.sps(sequence), Self.pps(isCABAC: isCABAC),
      Self.slice(Slice(isIDR: true, type: 2, isInterlaced: !sequence.isFrameOnly)),
    ]
  }

  func adding(_ slices: Slice...) -> TestStream {
    var stream = self
    stream.nalUnits += slices.map(Self.slice)
    return stream
  }

  func adding(_ nalUnits: [UInt8]...) -> TestStream {
    var stream = self
    stream.nalUnits += nalUnits
    return stream
  }
}

/// The items of a report.
func report(_ bytes: [UInt8], _ options: ReportOptions = ReportOptions()) throws -> [ReportItem] {
  var reporter = try StreamReporter(BytesSource(bytes), options: options)
  var items: [ReportItem] = []
  while let item = reporter.next() { items.append(item) }
  return items
}

/// The findings of a report.
func findings(_ bytes: [UInt8], isDeep: Bool = false) throws -> [Finding] {
  var options = ReportOptions()
  options.readsSliceData = isDeep
  return try report(bytes, options).compactMap { if case .finding(let finding) = $0 { finding } else { nil } }
}
