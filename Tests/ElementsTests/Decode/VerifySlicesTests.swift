// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

@testable import Elements
@testable import VideoDecoding

/// The property `verify-slices`.
@Suite(.serialized) struct VerifySlicesTests {
  /// The clip with a cut slice in an access unit.
  private func unitsWithACutSlice(_ place: Int) throws -> [[UInt8]] {
    var units = try Clip.accessUnits("clip.h265", of: H265.self)
    units[place].removeLast(units[place].count / 3)
    return units
  }

  @Test(arguments: ["thread-type=none", "max-threads=3", "isolation=process max-threads=2"], [false, true])
  func flagsPicturesWithDamagedSlices(_ properties: String, _ isSet: Bool) throws {
    // An IDR picture without SEI behind its slice: the end of the access unit is the end of its slice.
    let units = try unitsWithACutSlice(0).map { unit in
      RepackStream.annexB(Clip.nalUnits(unit).filter { $0[0] >> 1 != 40 })
    }
    let harness = try Harness.decoder(
      "swifth265dec \(properties) verify-slices=\(isSet)", input: H265DecodeTests.byteStream)
    let pictures = try harness.decodeUntimed(units)
    #expect(pictures.count == units.count)
    #expect(pictures.contains { $0.flags.contains(.corrupted) } == isSet)
    #expect(((harness.statistic("corrupted") ?? 0) > 0) == isSet)
    #expect(harness.statistic("damaged-slices") == (isSet ? 1 : nil))
    #expect(harness.statisticText("last-damaged-slice")?.contains(" block ") == (isSet ? true : nil))
  }

  @Test(arguments: ["thread-type=none", "max-threads=3", "isolation=process max-threads=2"])
  func flagsNothingInAnUndamagedStream(_ properties: String) throws {
    let harness = try Harness.decoder(
      "swifth265dec \(properties) verify-slices=true", input: H265DecodeTests.byteStream)
    let pictures = try harness.decodeUntimed(try Clip.accessUnits("clip.h265", of: H265.self))
    #expect(checksum(pictures) == H265DecodeTests.clipChecksum)
    #expect(!pictures.contains { $0.flags.contains(.corrupted) })
    #expect(harness.statistic("damaged-slices") == 0 && harness.statisticText("last-damaged-slice") == nil)
  }

  /// The property is of both decoders, and takes effect with the next session.
  @Test(arguments: ["swifth264dec", "swifth265dec"]) func isOffByDefault(_ element: String) throws {
    var settings = DecoderSettings()
    #expect(!settings.verifiesSlices && !settings.sessionConfiguration(layout: .native, isLive: false).verifiesSlices)
    settings.verifiesSlices = true
    #expect(settings.sessionConfiguration(layout: .native, isLive: false).verifiesSlices)
    let input = element == "swifth264dec" ? Harness.byteStream : H265DecodeTests.byteStream
    let harness = try Harness.decoder("\(element) thread-type=none", input: input)
    #expect(harness.statistic("damaged-slices") == nil)
  }
}
