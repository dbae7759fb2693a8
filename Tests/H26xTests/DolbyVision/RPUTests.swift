// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@Suite struct RPUTests {
  private typealias RPU = DolbyVision.RPU

  /// Samples that other software has made, with the profile that it finds in them.
  private static let samples: [(digits: String, codec: FormatDescription.Codec, profile: UInt8)] = [
    // Dolby's test patterns.
    (
      "7c01190809004061b6506f003ff801ffc00fffd0000008000006800000400000340000030200000301a2000031f06912"
        + "000fc5b04432000010bea57000000300008000000300800000042b9fea3fea3fea342b9fea3fea3fea342b9ffff00000"
        + "0300000300000300064207dce015083008007ffc0000c028215117ee42b80080040001805646f36ffede900100080003"
        + "00b01df6e009e2a002001000080800400220140000030000030000030048307d00019000000300004262c55680",
      .h265, 5
    ),
    // dovi_tool's, with content mapping 4.0, in a NAL unit of H.264.
    (
      "1c19080908406136506f003ff801ffc00fffd0000008000006800000400000340000030200000301a2566000035ea256"
        + "6f9fceb1c256644ca00000100000030080000003008000000301c36224301860a5e308e0514000001a63e5affff00000"
        + "0300000300000300060200f80e151c3008005ea3a500c028216067e552780080040001805646fb1000f2500100080003"
        + "00b01e00a001ff6002001000040280000003011708c0090603e80001041b011330301c0040031080b080180080080080"
        + "08008004120050b011000007fc0004339bed3580",
      .h264, 9
    ),
    // UHD Blu-ray discs', with a full and a minimal enhancement layer.
    (
      "7c011908090840613650ae20002008020080200802007f801ffc00ffc001fffa0000030100000300d000000800000680"
        + "0000400000340000030200000301a000001000000d0000030080000068000004000003034000002000000a8000008000"
        + "00e18618800000800000800000800000800000800000b0c30c8000008000008000008000008000008000009861868000"
        + "00800000800000800000800000540000040000040000070c30c400000400000400000400000400000400000586186400"
        + "0004000004000004000004000004000004c30c3400000400000400000400000401200001001001000003010048000040"
        + "0400400000401200001001001000001a2566000035ea2566f9fceb1c256644ca00000301000003000800000300080000"
        + "03001c36224301860a5e308e051400000301a63e5affff000003000003000003000060207dce01514030080041099981"
        + "0100000300040281e00f000003000009060fa000320000030000cface62380",
      .h265, 7
    ),
    (
      "7c011908090840613650af003ff801ffc00ffc001fffa000001000000d00000300800000680000040000030000400000"
        + "20000020000003000400000302000003020000030000400000200000200000392b300001af512b37cfe758e12b322650"
        + "0000080000030040000003004000000300e1b112180c3052f1847028a000000d31f2d7fff80000030000030000030003"
        + "0103ee700a8a300800410999810100000300040280000003000003000009060fa0003203e00078357edaf880",
      .h265, 7
    ),
  ]

  @Test func samplesAreReadWhole() throws {
    for sample in Self.samples {
      let nalUnit = try hexadecimal(sample.digits)
      let rpu = try RPU(nalUnit: nalUnit.span, codec: sample.codec)
      #expect(rpu.hasValidCRC && rpu.unreadBits == nil && rpu.trailingBytes.isEmpty)
      #expect(rpu.profile(sample.codec) == sample.profile)
      #expect(rpu.mapping?.curves.count == 3 && rpu.displayManagement?.blocks.isEmpty == false)
      #expect(rpu.displayManagement?.allBlocks.allSatisfy { $0.content != nil } == true)
      #expect(try rpu.nalUnit() == nalUnit)
    }
  }

  @Test func samplesOfDiscsBecomeProfile8() throws {
    var layers: [RPU.EnhancementLayer?] = []
    for sample in Self.samples where sample.profile == 7 {
      let nalUnit = try hexadecimal(sample.digits)
      let rpu = try RPU(nalUnit: nalUnit.span)
      layers.append(rpu.enhancementLayer)
      var converted = rpu
      try converted.convertToProfile8()
      let changed = try converted.nalUnit()
      let read = try RPU(nalUnit: changed.span)
      #expect(read.hasValidCRC && read.profile(.h265) == 8 && read == converted && changed.count < nalUnit.count)
      #expect(read.mapping?.curves == rpu.mapping?.curves)
      #expect(read.displayManagement?.allBlocks == rpu.displayManagement?.allBlocks)
    }
    #expect(layers == [.full, .minimal])
  }

  @Test func randomRPUsComeBack() throws {
    var unknown = 0
    for seed in UInt64(0)..<1500 {
      let random = RandomRPU(seed: seed, allowsUnknown: seed % 3 == 0)
      let codec: FormatDescription.Codec = seed % 2 == 0 ? .h265 : .h264
      let nalUnit = RandomRPU.nalUnit(random.bytes, codec)
      let rpu = try RPU(nalUnit: nalUnit.span, codec: codec)
      #expect(rpu.hasValidCRC, "\(seed)")
      #expect(try rpu.nalUnit() == nalUnit, "\(seed)")
      if random.isUnknown { unknown += 1 }
      #expect((rpu.unreadBits != nil) == random.isUnknown, "\(seed)")
      if !random.isUnknown { #expect(rpu.displayManagement?.allBlocks ?? [] == random.blocks, "\(seed)") }
    }
    #expect(unknown > 50)
  }

  /// Zero bytes behind the RPU: `cabac_zero_word`s, and those that muxers leave.
  @Test func zeroBytesComeBack() throws {
    let payload = RandomRPU(seed: 7, allowsUnknown: false).bytes
    for (inside, outside) in [(0, 1), (0, 5), (2, 0), (4, 0), (2, 3)] {
      var nalUnit = RandomRPU.nalUnit(payload + [UInt8](repeating: 0, count: inside), .h265)
      if inside > 0 { nalUnit.append(3) }
      nalUnit += [UInt8](repeating: 0, count: outside)
      let rpu = try RPU(nalUnit: nalUnit.span)
      #expect(rpu.hasValidCRC)
      #expect(try rpu.nalUnit() == nalUnit)
    }
  }

  /// A cut RPU is an error, unless its last byte happens to be that of a whole one.
  @Test func truncatedRPUsAreErrors() throws {
    for seed in UInt64(0)..<20 {
      let payload = RandomRPU(seed: seed, allowsUnknown: false).bytes
      for count in 0..<payload.count {
        // The last byte alone makes it whole.
        for end: [UInt8] in count < payload.count - 1 ? [[], [0x80]] : [[]] {
          let nalUnit = RandomRPU.nalUnit(payload[..<count] + end, .h265)
          let error = failure { () throws(BitstreamError) in
            let rpu = try RPU(nalUnit: nalUnit.span)
            same(rpu.hasValidCRC, false)
          }
          #expect(error != nil || nalUnit.last == 0x80)
        }
      }
    }
    for nalUnit: [UInt8] in [[], [0x7C], [0x7C, 0x01], [0x7C, 1, 25, 0x80], [0x7C, 1, 0, 0, 0], [0, 0, 0]] {
      #expect(failure { () throws(BitstreamError) in _ = try RPU(nalUnit: nalUnit.span) } != nil)
    }
    let other: [UInt8] = [0x7E, 0x01] + RandomRPU(seed: 1, allowsUnknown: false).bytes
    for codec: FormatDescription.Codec in [.h264, .h265] {
      let error = failure { () throws(BitstreamError) in _ = try RPU(nalUnit: other.span, codec: codec) }
      #expect(error?.reason == .wrongNALUnitType)
    }
  }

  /// A damaged RPU is an error, or comes back with its wrong CRC.
  @Test func damagedRPUsComeBack() throws {
    var readable = 0
    for seed in UInt64(0)..<5 {
      let payload = RandomRPU(seed: seed, allowsUnknown: false).bytes
      for bit in 8..<payload.count * 8 {
        var bytes = payload
        bytes[bit / 8] ^= 0x80 >> UInt8(bit % 8)
        let nalUnit = RandomRPU.nalUnit(bytes, .h265)
        _ = failure { () throws(BitstreamError) in
          let rpu = try RPU(nalUnit: nalUnit.span)
          readable += 1
          same(rpu.hasValidCRC, false)
          same(try rpu.nalUnit(), nalUnit)
          var converted = rpu
          same(failure { () throws(BitstreamError) in try converted.convertToProfile8() }?.reason, .unsupported)
          same(converted, rpu)
        }
      }
    }
    #expect(readable > 1000)
  }

  // MARK: Blocks

  @Test func fieldsOfBlocksComeBack() {
    var levels: Set<UInt8> = []
    for seed in UInt64(0)..<400 {
      for block in RandomRPU(seed: seed, allowsUnknown: false).blocks {
        guard let content = block.content else {
          #expect([7, 15].contains(block.level) || block.payload.count < 5)
          continue
        }
        levels.insert(block.level)
        #expect(content.level == block.level)
        var copy = block
        #expect(copy.replace(with: content) && copy == block)
        #expect(DolbyVision.MetadataBlock(content).content == content)
        #expect(DolbyVision.MetadataBlock(content).payload.count <= block.payload.count)
        #expect(!copy.replace(with: .level4(anchor: 1, power: 1)) || block.level == 4)
      }
    }
    #expect(levels == [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 254, 255])
  }

  @Test func blocksHaveTheirFields() {
    let cases: [(UInt8, [UInt8], DolbyVision.MetadataBlock.Content)] = [
      (1, [0x00, 0x1F, 0x00, 0x80, 0x0F], .level1(minimum: 1, maximum: 0xF00, average: 0x800)),
      (
        2, [0xAB, 0xC8, 0x00, 0x80, 0x08, 0x00, 0x80, 0x08, 0x00, 0xFF, 0xF8],
        .level2(targetMaximum: 0xABC, DolbyVision.Trim(), multiscaleWeight: -1)
      ),
      (5, [0, 8, 0, 0x80, 0x06, 0, 0x40], .level5(left: 1, right: 2, top: 3, bottom: 4)),
      (
        6, [0x03, 0xE8, 0, 1, 0x03, 0x20, 0, 0x64],
        .level6(maximumLuminance: 1000, minimumLuminance: 1, maximumContentLight: 800, maximumAverageLight: 100)
      ),
      (9, [2], .level9(primaryIndex: 2, nil)), (254, [0, 2], .level254(mode: 0, version: 2)),
      (
        10, [25, 0x80, 0x00, 0x3E, 2],
        .level10(displayIndex: 25, maximum: 0x800, minimum: 0x03E, primaryIndex: 2, nil)
      ),
    ]
    for (level, payload, content) in cases {
      let block = DolbyVision.MetadataBlock(level: level, payload: payload)
      if level == 1 {
        // The last four bits are no field.
        #expect(DolbyVision.MetadataBlock(content).payload == [0x00, 0x1F, 0x00, 0x80, 0x00])
      } else {
        #expect(DolbyVision.MetadataBlock(content) == block, "level \(level)")
      }
      #expect(block.content == content, "level \(level)")
    }
  }

  // MARK: Profiles

  /// The RPU of a disc: a polynomial for luma, and a residual.
  static func profile7(isMinimal: Bool) -> DolbyVision.RPU {
    var header = DolbyVision.Header(profile: 1, sequence: .init())
    header.sequence?.layers?.isEnhancementLayerScaled = true
    header.sequence?.layers?.isResidualDisabled = false
    let line = DolbyVision.Mapping.Piece.polynomial([.init(integer: 0), .init(integer: 1, fraction: 77)])
    let curve = DolbyVision.Mapping.Curve(pivots: [0, 1023], pieces: [line])
    let component = DolbyVision.Mapping.Residual.Component(
      offset: isMinimal ? 0 : 512, maximum: .init(integer: 1), slope: .init(integer: 0), threshold: .init(integer: 0))
    let mapping = DolbyVision.Mapping(
      curves: [curve, curve, curve],
      residual: .init(pivots: [0, 1023], components: [component, component, component]))
    var source = DolbyVision.DisplayManagement.Source(minimumPQ: 62, maximumPQ: 3696)
    (source.yccToRGB, source.colourSpace) = ([Int16](1...9), 2)
    var management = DolbyVision.DisplayManagement(source: source)
    management.blocks = [
      .init(.level1(minimum: 0, maximum: 2081, average: 819)), .init(level: 77, payload: [1, 2, 3]),
    ]
    management.newerBlocks = [.init(.level254(mode: 0, version: 2))]
    return RPU(header: header, mapping: mapping, displayManagement: management)
  }

  @Test func distinguishesProfiles() throws {
    for isMinimal in [true, false] {
      let nalUnit = try Self.profile7(isMinimal: isMinimal).nalUnit()
      let rpu = try RPU(nalUnit: nalUnit.span)
      #expect(rpu.hasValidCRC && rpu.profile(.h265) == 7 && rpu.profile(.h264) == 9)
      #expect(rpu.enhancementLayer == (isMinimal ? .minimal : .full))
      var eight = rpu.header
      eight.sequence?.layers?.outputDepthMinus8 = 2
      #expect(RPU(header: eight, mapping: nil, displayManagement: nil).profile(.h265) == 4)
    }
    var header = DolbyVision.Header(profile: 1, sequence: .init())
    #expect(RPU(header: header, mapping: nil, displayManagement: nil).profile(.h265) == 8)
    header = DolbyVision.Header(profile: 0, sequence: .init(isBaseLayerFullRange: true))
    #expect(RPU(header: header, mapping: nil, displayManagement: nil).profile(.h265) == 5)
    #expect(RPU(header: header, mapping: nil, displayManagement: nil).profile(.h264) == nil)
    header.sequence?.isBaseLayerFullRange = false
    #expect(RPU(header: header, mapping: nil, displayManagement: nil).profile(.h265) == nil)
    header.sequence = nil
    #expect(RPU(header: header, mapping: nil, displayManagement: nil).profile(.h265) == nil)
  }

  @Test func conversionToProfile8KeepsCurvesAndBlocks() throws {
    for isMinimal in [true, false] {
      let nalUnit = try Self.profile7(isMinimal: isMinimal).nalUnit()
      let rpu = try RPU(nalUnit: nalUnit.span)
      var converted = rpu
      try converted.convertToProfile8()
      let changed = try converted.nalUnit()
      let read = try RPU(nalUnit: changed.span)
      #expect(read.hasValidCRC && read.profile(.h265) == 8 && read.enhancementLayer == nil)
      #expect(read.mapping?.residual == nil && read.mapping?.curves == rpu.mapping?.curves)
      #expect(read.displayManagement?.allBlocks == rpu.displayManagement?.allBlocks)
      let layers = try #require(read.header.sequence?.layers)
      #expect(layers.isResidualDisabled && !layers.isEnhancementLayerScaled && layers.outputDepthMinus8 == 4)
      let source = try #require(read.displayManagement?.source)
      #expect(source.yccToRGB == [9574, 0, 13_802, 9574, -1540, -5348, 9574, 17_610, 0] && source.colourSpace == 0)
      #expect(source.yccToRGBOffset == [16_777_216, 134_217_728, 134_217_728])
      #expect(source.rgbToLMS == [7222, 8771, 390, 2654, 12_430, 1300, 0, 422, 15_962])
      #expect(source.minimumPQ == 62 && source.maximumPQ == 3696 && source.eotf == 0xFFFF)
      // Once is enough.
      #expect(failure { () throws(BitstreamError) in try converted.convertToProfile8() }?.reason == .unsupported)
    }
  }

  @Test func refusesStructuresThatDoNotFit() {
    let whole = Self.profile7(isMinimal: true)
    let changes: [((inout RPU) -> Void, String)] = [
      ({ $0.mapping?.residual = nil }, "disable_residual_flag"), ({ $0.mapping?.curves = [] }, "disable_residual_flag"),
      ({ $0.mapping = nil }, "use_prev_vdr_rpu_flag"), ({ $0.header.previousMappingID = 1 }, "use_prev_vdr_rpu_flag"),
      ({ $0.mapping?.curves[1].pieces = [] }, "num_pivots_minus2"),
      ({ $0.mapping?.curves[1].pieces = [.polynomial([])] }, "poly_order_minus1"),
      ({ $0.mapping?.curves[1].pieces = [.interpolation([.init(integer: 1)])] }, "linear_interp_flag"),
      (
        { $0.mapping?.curves[1].pieces = [.regression(constant: .init(integer: 1), coefficients: [])] },
        "MMR_order_minus1"
      ),
      ({ $0.mapping?.residual?.components = [] }, "NLQ_pred_pivot_value"),
      ({ $0.displayManagement?.source = nil }, "reserved_zero_3bits"),
      ({ $0.displayManagement?.source?.rgbToLMS = [] }, "ycc_to_rgb_coef"),
      (
        { $0.displayManagement?.blocks = [_](repeating: .init(level: 1, payload: []), count: 256) }, "num_ext_blocks"
      ),
      ({ $0.header.sequence = nil }, "vdr_seq_info_present_flag"),
    ]
    for (change, element) in changes {
      var rpu = whole
      change(&rpu)
      let error = failure { () throws(BitstreamError) in _ = try rpu.nalUnit() }
      #expect(error?.element.description == element)
    }
  }

  /// The vector of a telephone: profile 8.4, with curves of eight pieces and MMR.
  @Test(.enabled(if: Vectors.isAvailable)) func vectorsComeBack() throws {
    let file = try Vectors.bytes("h265/androidx_dolbyVision-hdr.MOV")
    let start: [UInt8] = [0x7C, 0x01, 0x19, 0x08, 0x09]
    var count = 0
    var rest = file[...]
    while let place = rest.firstRange(of: start) {
      let length = file[place.lowerBound - 4..<place.lowerBound].reduce(0) { $0 << 8 | Int($1) }
      let nalUnit = Array(file[place.lowerBound..<place.lowerBound + length])
      rest = rest[(place.lowerBound + length)...]
      let rpu = try RPU(nalUnit: nalUnit.span)
      #expect(rpu.hasValidCRC && rpu.profile(.h265) == 8 && rpu.unreadBits == nil && rpu.trailingBytes.isEmpty)
      #expect(rpu.mapping?.curves.map(\.pieces.count) == [8, 1, 1])
      #expect(try rpu.nalUnit() == nalUnit)
      count += 1
    }
    #expect(count == 5)
    let box = try #require(file.firstRange(of: Array("dvvC".utf8)))
    let bytes = Array(file[box.upperBound..<box.upperBound + 24])
    let record = try DolbyVision.Configuration(bytes.span)
    #expect(record.bytes == bytes && record.profile == 8 && record.compatibilityID == 4 && record.level == 2)
  }
}
