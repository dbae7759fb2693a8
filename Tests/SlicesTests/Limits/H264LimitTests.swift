// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

@testable import Slices

/// Slices that can be read, and keep or break a limit by one.
@Suite struct H264LimitTests {
  /// Level 3.1, whose vectors are within ±512 samples vertically.
  private let settings: SliceSettings

  init() throws { settings = try SliceSettings(width: 4, height: 3) }

  private func check(_ settings: SliceSettings, _ body: (inout BitWriter) -> Void) throws -> LimitChecker {
    var writer = settings.writer(firstMacroblock: 0)
    body(&writer)
    writer.trailingBits()
    let (bytes, none, sets) = (writer.bytes, [UInt8](), try settings.parameterSets())
    var reader = H264.SliceReader()
    var checker = LimitChecker()
    try reader.check(bytes.span, partitionB: none.span, partitionC: none.span, parameterSets: sets, with: &checker)
    return checker
  }

  private func vector(_ settings: SliceSettings, _ x: Int32, _ y: Int32) throws -> (LimitViolation?, firstBit: Int) {
    var firstBit = 0
    let checker = try check(settings) {
      $0.ue(2)
      firstBit = $0.bitCount
      $0.ue(0)
      $0.se(x)
      $0.se(y)
      $0.ue(0)
      $0.ue(9)
    }
    return (checker.violation(of: .vectorDifference), firstBit)
  }

  @Test func vectorDifferencesOfFrames() throws {
    for (x, y) in [(16383, 4095), (-16383, -4095)] as [(Int32, Int32)] {
      #expect(try vector(settings, x, y).0 == nil)
    }
    for (x, y, most) in [(16384, 0, 16383), (-16384, 0, 16383), (0, 4096, 4095), (0, -4096, 4095)]
      as [(Int32, Int32, Int)]
    {
      let (found, firstBit) = try vector(settings, x, y)
      let violation = try #require(found)
      #expect(violation.block == 2 && violation.bitOffset == firstBit && violation.count == 1)
      #expect(violation.value == Int(x + y) && violation.most == most && violation.least == -most)
    }
  }

  @Test func vectorDifferencesByLevel() throws {
    for (level, most) in [(10, 511), (11, 1023), (20, 1023), (21, 2047), (30, 2047), (52, 4095)] as [(UInt8, Int32)] {
      var settings = settings
      settings.sps.levelIDC = level
      #expect(try vector(settings, 0, most).0 == nil, "\(level)")
      #expect(try vector(settings, 0, most + 1).0 != nil, "\(level)")
    }
    // Level 6 allows all that can be coded.
    var settings = settings
    settings.sps.levelIDC = 60
    #expect(try vector(settings, 32767, -32768).0 == nil)
  }

  /// The range is one of frame samples.
  @Test func vectorDifferencesOfFieldMacroblocks() throws {
    var settings = settings
    settings.sps.isFrameOnly = false
    settings.sps.isMacroblockAdaptiveFrameField = true
    settings.sps.heightInMapUnits = 2
    for (isField, y, isBroken) in [(true, 2047, false), (true, 2048, true), (false, 4095, false), (false, 4096, true)]
      as [(Bool, Int32, Bool)]
    {
      let checker = try check(settings) {
        $0.ue(0)
        $0.flag(isField)
        $0.ue(0)
        // ref_idx_l0: a field pair has two of them.
        if isField { $0.flag(true) }
        $0.se(0)
        $0.se(y)
        $0.ue(0)
        $0.ue(15)
      }
      #expect((checker.violation(of: .vectorDifference)?.block == 0) == isBroken)
    }
  }

  @Test func blocksAreCounted() throws {
    let checker = try check(settings) {
      for _ in 0..<3 {
        $0.ue(1)
        $0.ue(0)
        $0.se(20_000)
        $0.se(20_000)
        $0.ue(0)
      }
      $0.ue(6)
    }
    let violation = try #require(checker.violation(of: .vectorDifference))
    #expect(violation.block == 1 && violation.count == 3)
  }

  @Test func damagedSlicesHaveNoViolation() throws {
    var writer = settings.writer(firstMacroblock: 0)
    for _ in 0..<2 { writer.ue(0) }
    writer.se(20_000)
    for value in [0, 0, 0, 31] as [UInt32] { writer.ue(value) }
    writer.trailingBits()
    let (bytes, none, sets) = (writer.bytes, [UInt8](), try settings.parameterSets())
    var reader = H264.SliceReader()
    var checker = LimitChecker()
    do throws(SliceDamage) {
      try reader.check(bytes.span, partitionB: none.span, partitionC: none.span, parameterSets: sets, with: &checker)
      Issue.record("no damage")
    } catch {
      #expect(!checker.hasViolations && checker.violation(of: .vectorDifference) == nil)
    }
  }

  @Test func bipredictionBelow8x8() throws {
    // sub_mb_type, and its components of vectors.
    for (type, components) in [(3, 4), (4, 4), (8, 8), (9, 8), (10, 8), (12, 16)] as [(UInt32, Int)] {
      for level in [30, 31] as [UInt8] {
        var settings = settings
        settings.sliceType = .b
        settings.sps.levelIDC = level
        let checker = try check(settings) {
          $0.ue(1)
          for value in [22, 0, type, 0, 0] as [UInt32] { $0.ue(value) }
          for _ in 0..<components { $0.se(0) }
          $0.ue(0)
          $0.ue(10)
        }
        let violation = checker.violation(of: .bipredictionSize)
        let isForbidden = level == 31 && [8, 9, 12].contains(type)
        #expect(violation?.block == (isForbidden ? 1 : nil), "\(type) at level \(level)")
        #expect(violation?.value == (isForbidden ? Int(type) : nil))
      }
    }
  }

  /// 128 more than 384 samples have.
  @Test(arguments: [3200, 3201]) func bitsOfMacroblocks(_ bits: Int) throws {
    var settings = settings
    settings.sliceType = .i
    var firstBit = 0
    let checker = try check(settings) {
      $0.ue(25)
      $0.align()
      for _ in 0..<384 { $0.u(8, 1) }
      firstBit = $0.bitCount
      writeMacroblock(ofBits: bits, &$0)
      #expect($0.bitCount - firstBit == bits)
    }
    let violation = checker.violation(of: .blockBits)
    #expect((violation == nil) == (bits == 3200))
    guard let violation else { return }
    #expect(violation.block == 1 && violation.bitOffset == firstBit)
    #expect(violation.value == 3201 && violation.most == 3200)
  }

  /// An I_NxN macroblock of so many bits, behind one of PCM.
  private func writeMacroblock(ofBits bits: Int, _ writer: inout BitWriter) {
    for longLevels in 0...16 {
      for codedModes in 0...16 {
        for chromaMode in [0, 1, 3] as [UInt32] {
          var attempt = writer
          writeMacroblock(&attempt, longLevels: longLevels, codedModes: codedModes, chromaMode: chromaMode)
          guard attempt.bitCount - writer.bitCount == bits else { continue }
          writer = attempt
          return
        }
      }
    }
  }

  private func writeMacroblock(_ writer: inout BitWriter, longLevels: Int, codedModes: Int, chromaMode: UInt32) {
    writer.ue(0)
    for block in 0..<16 { if block < codedModes { writer.u(4, 0) } else { writer.flag(true) } }
    writer.ue(chromaMode)
    // coded_block_pattern 3: the upper half of luma.
    writer.ue(17)
    writer.se(0)
    for block in 0..<7 {
      // 16 coefficients beside blocks with as many; levels of 2 bits, and then of 28.
      writer.u(6, 0b111100)
      for level in 0..<16 {
        if block == 6, level < 16 - longLevels {
          writer.u(2, 0b10)
        } else {
          writer.u(16, 1)
          writer.u(12, 0)
        }
      }
    }
    writer.u(6, 0b11)
  }
}
