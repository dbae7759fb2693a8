// SPDX-License-Identifier: MPL-2.0

import H26x
import Slices
import TestSupport
import Testing

/// Slices made by hand that no encoder may write. Each yields one finding at its place.
@Suite struct H264BadSliceTests {
  private let settings: SliceSettings
  private let sets: H264.ParameterSets

  init() throws {
    settings = try SliceSettings(width: 4, height: 3)
    sets = try settings.parameterSets()
  }

  /// The damage of a slice whose data `body` writes.
  private func damage(
    _ settings: SliceSettings? = nil, firstMacroblock: Int = 0, _ body: (inout BitWriter) -> Void
  ) throws -> SliceDamage? {
    let settings = settings ?? self.settings
    var writer = settings.writer(firstMacroblock: firstMacroblock)
    body(&writer)
    var reader = H264.SliceReader()
    return reader.damage(writer.bytes, try settings.parameterSets())
  }

  @Test func skipRunPastTheEnd() throws {
    let damage = try damage {
      $0.ue(13)
      $0.trailingBits()
    }
    #expect(damage?.element.description == "mb_skip_run")
    #expect(damage?.reason == .valueOutOfRange)
    let behind = try self.damage(firstMacroblock: 6) {
      $0.ue(7)
      $0.trailingBits()
    }
    #expect(behind?.reason == .beyondPicture)
    #expect(behind?.block == 12)
  }

  @Test func firstMacroblockBeyondThePicture() throws {
    let damage = try damage(firstMacroblock: 12) { $0.trailingBits() }
    #expect(damage?.element.description == "first_mb_in_slice")
    // A pair of MBAFF: only half the numbers.
    var mbaff = settings
    mbaff.sps.isFrameOnly = false
    mbaff.sps.isMacroblockAdaptiveFrameField = true
    mbaff.sps.heightInMapUnits = 2
    let odd = try self.damage(mbaff, firstMacroblock: 8) { $0.trailingBits() }
    #expect(odd?.element.description == "first_mb_in_slice")
    #expect(odd?.reason == .valueOutOfRange)
  }

  @Test func mbaffSliceThatEndsInsideAPair() throws {
    var mbaff = settings
    mbaff.sps.isFrameOnly = false
    mbaff.sps.isMacroblockAdaptiveFrameField = true
    mbaff.sps.heightInMapUnits = 2
    let damage = try damage(mbaff) {
      $0.ue(3)
      $0.trailingBits()
    }
    #expect(damage?.reason == .truncated)
    #expect(damage?.block == 3)
  }

  @Test func overlappingSlices() throws {
    var reader = H264.SliceReader()
    var first = settings.writer(firstMacroblock: 0)
    first.ue(8)
    first.trailingBits()
    var second = settings.writer(firstMacroblock: 6)
    second.ue(6)
    second.trailingBits()
    #expect(reader.damage(first.bytes, sets) == nil)
    let damage = reader.damage(second.bytes, sets)
    #expect(damage?.reason == .codedTwice)
    #expect(damage?.block == 6)
    reader.beginPicture()
    #expect(reader.damage(second.bytes, sets) == nil)
  }

  /// A damaged slice goes too far; the one behind it is not to blame.
  @Test func readingContinuesBehindDamage() throws {
    var reader = H264.SliceReader()
    var first = settings.writer(firstMacroblock: 0)
    first.ue(8)
    first.ue(31)
    first.trailingBits()
    var second = settings.writer(firstMacroblock: 6)
    second.ue(6)
    second.trailingBits()
    #expect(reader.damage(first.bytes, sets)?.element.description == "mb_type")
    #expect(reader.damage(second.bytes, sets) == nil)
  }

  /// A thousand damaged slices that each cover the picture do not add up.
  @Test func workIsBounded() throws {
    var large = settings
    large.sps.widthInMacroblocks = 1024
    large.sps.heightInMapUnits = 1024
    let sets = try large.parameterSets()
    var writer = large.writer(firstMacroblock: 0)
    writer.ue(1024 * 1024)
    // The stop bit is missing.
    writer.u(8, 0)
    var reader = H264.SliceReader()
    var twice = 0
    for _ in 0..<1000 where reader.damage(writer.bytes, sets)?.reason == .codedTwice { twice += 1 }
    #expect(twice >= 994)
  }

  /// Neither do a hundred redundant pictures, sound or damaged.
  @Test func workForRedundantPicturesIsBounded() throws {
    var settings = settings
    settings.pps.isRedundantPictureCountPresent = true
    let sets = try settings.parameterSets()
    var reader = H264.SliceReader()
    var visitor = CollectingVisitor()
    var unreadCount = 0
    for count in 0..<128 {
      settings.redundantPictureCount = UInt8(count)
      var writer = settings.writer(firstMacroblock: 0)
      writer.ue(12)
      if count % 2 == 1 { writer.u(8, 0x55) }
      writer.trailingBits()
      do throws(SliceDamage) {
        _ = try reader.read([writer.bytes], sets, visitor: &visitor)
      } catch {
        if error.reason == .unsupported { unreadCount += 1 }
      }
    }
    #expect(visitor.macroblocks.count == 5 * 12)
    #expect(unreadCount == 123)
    reader.beginPicture()
    settings.redundantPictureCount = 0
    var writer = settings.writer(firstMacroblock: 0)
    writer.ue(12)
    writer.trailingBits()
    #expect(reader.damage(writer.bytes, sets) == nil)
  }

  @Test func endlessPrefixes() throws {
    let zeros = try damage { for _ in 0..<40 { $0.u(32, 0) } }
    #expect(zeros?.reason == .valueOutOfRange || zeros?.reason == .truncated)
    #expect(zeros?.element.description == "mb_skip_run")
    // Intra_16x16 with a level_prefix of 26 zeros.
    let level = try damage {
      $0.ue(0)
      $0.ue(5 + 1)
      $0.ue(0)
      $0.se(0)
      // TotalCoeff 1 without trailing ones.
      $0.u(6, 5)
      $0.u(32, 0)
      $0.u(32, 0xFFFF_FFFF)
      $0.trailingBits()
    }
    #expect(level?.element.description == "level_prefix")
    #expect(level?.reason == .illegalCode)
    #expect(level?.block == 0)
  }

  @Test func slicesOfOneByte() {
    var reader = H264.SliceReader()
    for type in 0..<32 as Range<UInt8> {
      let damage = reader.damage([type], sets)
      #expect(damage?.reason == .header || damage?.reason == .unsupported)
    }
  }

  @Test func everyTruncation() throws {
    for type in [H264.SliceHeader.SliceType.i, .p, .b] {
      var settings = settings
      settings.sliceType = type
      let nalUnit = RandomSlice(settings, addresses: Array(0..<12), seed: 3).nalUnits[0]
      var reader = H264.SliceReader()
      for count in 1..<nalUnit.count {
        reader.beginPicture()
        let part = Array(nalUnit.prefix(count))
        // A cut where another macroblock could end leaves a shorter slice, which the next slice's address betrays.
        var visitor = CollectingVisitor()
        do throws(SliceDamage) {
          #expect(try reader.read([part], sets, visitor: &visitor).blockCount < 12)
        } catch {
          #expect(error.bitOffset <= 8 * count)
        }
      }
    }
  }

  @Test func picturesThatContradict() throws {
    var reader = H264.SliceReader()
    var wide = settings
    wide.sps.widthInMacroblocks = 5
    var first = settings.writer(firstMacroblock: 0)
    first.ue(4)
    first.trailingBits()
    var second = wide.writer(firstMacroblock: 5)
    second.ue(5)
    second.trailingBits()
    #expect(reader.damage(first.bytes, sets) == nil)
    #expect(reader.damage(second.bytes, try wide.parameterSets())?.reason == .contradiction)
  }

  @Test func surplusData() throws {
    let damage = try damage {
      $0.ue(12)
      $0.u(8, 0x55)
      $0.trailingBits()
    }
    #expect(damage?.reason == .beyondPicture)
    #expect(damage?.block == 12)
  }
}
