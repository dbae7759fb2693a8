// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport

/// Writes the payload of an RPU with random syntax (ETSI GS CCM 001, 5.3), independently of the library's writer.
struct RandomRPU {
  private var writer = BitWriter(addsEmulationPrevention: false)
  private var generator: SeededGenerator
  /// Whether something was written whose syntax is not public.
  private(set) var isUnknown = false
  /// The blocks in both payloads.
  private(set) var blocks: [DolbyVision.MetadataBlock] = []

  /// The payload, emulation prevention bytes left out.
  private(set) var bytes: [UInt8] = []

  private struct Format {
    var coefficientBits = 0
    var isFloat = false
    var baseDepth = 8
    var enhancementDepth = 8
    var hasResidual = false
    var isCompressed = false
    var isComplete = false
  }

  /// - Parameters:
  ///   - seed: the same syntax for the same seed.
  ///   - allowsUnknown: whether the syntax may have something that the library does not know.
  init(seed: UInt64, allowsUnknown: Bool) {
    generator = SeededGenerator(state: seed)
    bytes = write(allowsUnknown: allowsUnknown)
  }

  /// The NAL unit of a payload.
  static func nalUnit(_ payload: [UInt8], _ codec: FormatDescription.Codec) -> [UInt8] {
    var writer = BitWriter()
    writer.append(codec == .h264 ? [0x7C] : [0x7C, 0x01])
    writer.append(payload)
    return writer.bytes
  }

  private mutating func number(_ range: ClosedRange<UInt32>) -> UInt32 { UInt32.random(in: range, using: &generator) }
  private mutating func isTrue(oneIn count: UInt32 = 2) -> Bool { number(1...count) == 1 }

  @discardableResult
  private mutating func random(_ bits: Int) -> UInt32 {
    let value = UInt32(truncatingIfNeeded: generator.next() & (1 << UInt64(bits) - 1))
    writer.u(bits, value)
    return value
  }

  private mutating func flag(_ value: Bool) -> Bool {
    writer.flag(value)
    return value
  }

  private mutating func write(allowsUnknown: Bool) -> [UInt8] {
    writer.u(8, 25)
    var format = Format()
    let usesPrevious = header(&format, allowsUnknown: allowsUnknown)
    let hasDisplayManagement = flag(!isTrue(oneIn: 5))
    if flag(usesPrevious) {
      writer.ue(number(0...15))
    } else {
      mapping(format, allowsUnknown: allowsUnknown)
      if !format.isComplete { isUnknown = true }
    }
    if hasDisplayManagement { displayManagement(format) }
    writer.align()
    if allowsUnknown, isTrue(oneIn: 4) { random(8 * Int(number(1...2))) }
    var check = UInt32.max
    for byte in writer.bytes.dropFirst() {
      for bit in (0..<8).reversed() {
        let isSet = check >> 31 != UInt32(byte >> UInt8(bit) & 1)
        check = check << 1 ^ (isSet ? 0x04C1_1DB7 : 0)
      }
    }
    writer.u(32, check)
    writer.u(8, 0x80)
    return writer.bytes
  }

  private mutating func header(_ format: inout Format, allowsUnknown: Bool) -> Bool {
    writer.u(6, 2)
    let hasLayers = !allowsUnknown || !isTrue(oneIn: 8)
    writer.u(11, hasLayers ? 18 : 0x112)
    random(8)
    guard flag(!allowsUnknown || !isTrue(oneIn: 8)) else { return isTrue() }
    format.isComplete = hasLayers
    random(1)
    format.isFloat = isTrue(oneIn: 4)
    writer.u(2, format.isFloat ? 1 : 0)
    format.coefficientBits = 32
    if !format.isFloat {
      let bits = number(0...32)
      writer.ue(bits)
      format.coefficientBits = Int(bits)
    }
    random(3)
    if hasLayers {
      let depths = (number(0...8), number(0...8))
      (format.baseDepth, format.enhancementDepth) = (Int(depths.0) + 8, Int(depths.1) + 8)
      writer.ue(depths.0)
      writer.ue(depths.1 + (isTrue(oneIn: 4) ? 256 * number(1...255) : 0))
      writer.ue(number(0...8))
      random(1)
      format.isCompressed = isTrue(oneIn: 5)
      writer.u(3, format.isCompressed ? 1 : 0)
      random(1)
      format.hasResidual = !flag(isTrue())
    }
    return isTrue(oneIn: 5)
  }

  private mutating func coefficient(_ format: Format, isSigned: Bool) {
    if !format.isFloat {
      switch number(0...8) {
      case 0: if isSigned { writer.se(.max) } else { writer.ue(.max - 1) }
      case 1: if isSigned { writer.se(.min + 1) } else { writer.ue(0) }
      default: if isSigned { writer.se(Int32(number(0...40)) - 20) } else { writer.ue(number(0...20)) }
      }
    }
    random(format.coefficientBits)
  }

  private mutating func mapping(_ format: Format, allowsUnknown: Bool) {
    for range: ClosedRange<UInt32> in [0...15, 0...3, 0...3] { writer.ue(number(range)) }
    var pieces: [UInt32] = []
    for _ in 0..<3 {
      let count = isTrue() ? 0 : number(0...7)
      writer.ue(count)
      for _ in 0..<count + 2 { random(format.baseDepth) }
      pieces.append(count + 1)
    }
    if format.hasResidual {
      let isOther = allowsUnknown && isTrue(oneIn: 10)
      if isOther { isUnknown = true }
      writer.u(3, isOther ? 1 : 0)
      for _ in 0..<2 { random(format.baseDepth) }
    }
    let isDivided = allowsUnknown && isTrue(oneIn: 10)
    if isDivided { isUnknown = true }
    writer.ue(isDivided ? 1 : 0)
    writer.ue(0)
    for count in pieces {
      for index in 1...count { piece(format, isLast: index == count, allowsUnknown: allowsUnknown) }
    }
    guard format.hasResidual else { return }
    for _ in 0..<3 {
      random(format.enhancementDepth)
      for _ in 0..<3 { coefficient(format, isSigned: false) }
    }
  }

  private mutating func piece(_ format: Format, isLast: Bool, allowsUnknown: Bool) {
    let kind = allowsUnknown && isTrue(oneIn: 20) ? 2 : number(0...1)
    writer.ue(kind)
    switch kind {
    case 0:
      let order = number(0...1)
      writer.ue(order)
      if order == 0, flag(isTrue(oneIn: 4)) {
        for _ in 0..<(isLast ? 2 : 1) { coefficient(format, isSigned: false) }
      } else {
        for _ in 0...order + 1 { coefficient(format, isSigned: true) }
      }
    case 1:
      let order = number(0...2)
      writer.u(2, order)
      for _ in 0..<1 + 7 * (order + 1) { coefficient(format, isSigned: true) }
    default: isUnknown = true
    }
  }

  private mutating func displayManagement(_ format: Format) {
    for range: ClosedRange<UInt32> in [0...15, 0...15, 0...1] { writer.ue(number(range)) }
    if !format.isCompressed {
      for _ in 0..<9 + 6 + 9 { random(16) }
      for bits in [16, 16, 16, 32, 5, 2, 2, 2, 12, 12, 10] { random(bits) }
    }
    list(atLeast: 0, [(1, 5), (2, 11), (4, 3), (5, 7), (6, 8), (255, 6), (7, 4), (1, 2)])
    if isTrue() {
      list(
        atLeast: 1,
        [
          (3, 5), (8, 10), (8, 12), (8, 13), (8, 16), (8, 19), (8, 25), (9, 1), (9, 17), (10, 5), (10, 21), (11, 4),
          (254, 2), (15, 6), (8, 40), (10, 3),
        ])
    }
  }

  private mutating func list(atLeast least: UInt32, _ levels: [(level: UInt8, length: UInt32)]) {
    let count = isTrue(oneIn: 6) ? least : number(1...6)
    writer.ue(count)
    writer.align()
    for _ in 0..<count {
      let (level, length) = levels.randomElement(using: &generator) ?? levels[0]
      var payload: [UInt8] = []
      writer.ue(length)
      writer.u(8, UInt32(level))
      for _ in 0..<length { payload.append(UInt8(random(8))) }
      blocks.append(.init(level: level, payload: payload))
    }
  }
}
