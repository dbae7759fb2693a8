// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

/// Edits reach the operating points of layers and views, whose parameters are behind the SPS in a subset SPS.
@Suite struct SubsetEditTests {
  /// What an operating point has.
  private struct Point {
    var hasTiming = true
    var hasHRD = true
    var hasPictureStructure = true

    func write(to writer: inout BitWriter) {
      writer.flag(hasTiming)
      if hasTiming {
        writer.u(32, 1)
        writer.u(32, 50)
        writer.flag(true)
      }
      writer.flag(hasHRD)
      if hasHRD {
        writer.ue(0)
        writer.u(8, 0x35)
        writer.ue(7)
        writer.ue(999)
        writer.flag(true)
        for length: UInt32 in [31, 23, 7, 24] { writer.u(5, length) }
      }
      writer.flag(false)
      if hasHRD { writer.flag(true) }
      writer.flag(hasPictureStructure)
    }
  }

  /// A subset SPS whose SPS has no VUI.
  private static func subset(profile: UInt32, _ points: [Point]) -> [UInt8] {
    var writer = BitWriter()
    for byte: UInt32 in [0x6F, profile, 0, 30] { writer.u(8, byte) }
    for value: UInt32 in [5, 1, 0, 0] { writer.ue(value) }
    writer.u(2, 0)
    for value: UInt32 in [0, 2, 1] { writer.ue(value) }
    writer.flag(false)
    for value: UInt32 in [1, 1] { writer.ue(value) }
    writer.u(4, 0b1100)
    if profile == 83 {
      // Spatial scalability with offsets of its own, and a prediction of levels.
      writer.u(1 + 2 + 1 + 2 + 1 + 2, 0b1_01_1_01_1_10)
      for value: Int32 in [-3, 0, 4, 1] { writer.se(value) }
      writer.u(3, 0b111)
    } else {
      writer.flag(true)
      for value: UInt32 in [1, 0, 1] { writer.ue(value) }
      // One reference of the second view in anchor pictures, and one in others.
      for value: UInt32 in [1, 0, 0, 0, 1, 0] { writer.ue(value) }
      writer.ue(0)
      writer.u(8, 30)
      writer.ue(0)
      writer.u(3, 0)
      for value: UInt32 in [1, 0, 1, 1] { writer.ue(value) }
    }
    writer.flag(!points.isEmpty)
    if !points.isEmpty { writer.ue(UInt32(points.count) - 1) }
    for point in points {
      if profile == 83 {
        writer.u(10, 0b001_0010_011)
      } else {
        writer.u(3, 2)
        for value: UInt32 in [1, 0, 1] { writer.ue(value) }
      }
      point.write(to: &writer)
    }
    // additional_extension2_flag, and data behind it.
    writer.u(5, 0b1_0110)
    writer.trailingBits()
    return writer.bytes
  }

  private func edited(_ nalUnit: [UInt8], _ edit: StreamEdit) throws -> (nalUnit: [UInt8], changes: [String]) {
    var editor = StreamEditor<H264>([edit])
    let new = nalUnits(try editor.edited([0, 0, 0, 1] + nalUnit))[0]
    return (new, editor.changes.map(\.description))
  }

  @Test(arguments: [83, 118, 128] as [UInt32]) func removesHRDParametersOfLayers(profile: UInt32) throws {
    let whole = Self.subset(profile: profile, [Point(), Point(hasTiming: false), Point(hasHRD: false)])
    var bare = [Point(), Point(hasTiming: false), Point(hasHRD: false)]
    for index in bare.indices { bare[index].hasHRD = false }
    let withoutHRD = try edited(whole, .removeHRD)
    #expect(withoutHRD.nalUnit == Self.subset(profile: profile, bare))
    #expect(
      withoutHRD.changes.contains("subset SPS 5: nal_hrd_parameters_present_flag: 1, now 0"), "\(withoutHRD.changes)")
    for index in bare.indices { bare[index].hasPictureStructure = false }
    let withoutTiming = try edited(withoutHRD.nalUnit, .removeSEI(.pictureTiming))
    #expect(withoutTiming.nalUnit == Self.subset(profile: profile, bare))
    // Nothing to do.
    #expect(try edited(withoutTiming.nalUnit, .removeHRD).nalUnit == withoutTiming.nalUnit)
    let plain = Self.subset(profile: profile, [])
    #expect(try edited(plain, .removeHRD).nalUnit == plain)
  }

  /// Clock ticks of operating points are not those of the stream.
  @Test(arguments: [83, 118] as [UInt32]) func refusesARateIfLayersHaveTheirOwn(profile: UInt32) throws {
    #expect(throws: StreamEditError.self) {
      try edited(Self.subset(profile: profile, [Point(hasHRD: false)]), .frameRate(Ratio(25, 1)))
    }
    _ = try edited(Self.subset(profile: profile, [Point(hasTiming: false)]), .frameRate(Ratio(25, 1)))
    _ = try edited(Self.subset(profile: profile, []), .frameRate(Ratio(25, 1)))
  }

  /// An extension that ends too early stays, byte for byte.
  @Test func keepsADamagedExtension() throws {
    let whole = Self.subset(profile: 118, [Point()])
    for count in 12..<whole.count - 1 {
      let part = Array(whole[..<count]) + [0x80]
      #expect(try edited(part, .removeHRD).nalUnit == part, "\(count)")
    }
  }
}
