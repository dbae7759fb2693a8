// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

@testable import Elements

/// `level=auto` in an element, which measures nothing: a level is lowered only where the headers prove it.
@Suite struct RepackLevelTests {
  init() throws {
    #expect(Registration.succeeded)
    let sps = MinimalStream.sps(nalBuffers: 1, vclBuffers: 1)
    hrd = try H264.SequenceParameterSet(nalUnit: sps.span).vui?.nalHRD
  }

  private static let end = RepackEnd(format: .byteStream, alignment: "au")

  /// The level of an H.264 stream after an edit, in its SPS and in the caps; and what is on the bus.
  private func level(
    _ edit: String = "level=auto", rate: String? = nil, _ change: (inout H264.SequenceParameterSet) -> Void
  ) throws -> (sps: String?, caps: String?, messages: [String]) {
    let plain = RepackStream.sps(profile: 77, constraints: 0, level: 40)
    var sps = try H264.SequenceParameterSet(nalUnit: plain.span)
    change(&sps)
    let harness = try Harness.repack("edit=\"\(edit)\"", to: "byte-stream")
    harness.collectMessages()
    harness.setInputCaps(
      RepackStream.caps("byte-stream", more: rate.map { ", framerate=\($0)" } ?? ""))
    let unit = [sps.nalUnit(), RepackStream.pps(), RepackStream.slice(0, isIDR: true)]
    #expect(harness.push(try RepackStream.buffer(Self.end.pack(unit))) == 0)
    let output = try EditTests.pullAll(harness, Self.end)
    let caps = try harness.outputCaps()
    let first = try #require(output.first)
    let name = try H264.SequenceParameterSet(nalUnit: first.span).level.name
    return (name, caps.first.string("level"), harness.takeMessages())
  }

  private func addRate(_ sps: inout H264.SequenceParameterSet) {
    sps.vui = sps.vui ?? H264.VUI()
    sps.vui?.timing = .init(unitsInTick: 1, timeScale: 50, isFixedFrameRate: true)
  }

  /// Hardly any bits a second, and a buffer of 512,000, which level 1.1 has room for.
  private func addHRD(_ sps: inout H264.SequenceParameterSet) {
    sps.vui = sps.vui ?? H264.VUI()
    sps.vui?.nalHRD = hrd
  }

  private let hrd: H264.HRDParameters?

  @Test func keepsTheLevelWithoutKnownRates() throws {
    let without = try level { _ in }
    #expect(without.sps == "4" && without.caps == "4" && without.messages == [])
    let rate = try level { addRate(&$0) }
    #expect(rate.sps == "4" && rate.caps == "4")
    let ofCaps = try level(rate: "25/1") { addHRD(&$0) }
    #expect(ofCaps.sps == "4" && ofCaps.caps == "4")
    // The bit rate that the headers had is gone.
    let removed = try level("level=auto,remove-hrd") {
      addRate(&$0)
      addHRD(&$0)
    }
    #expect(removed.sps == "4" && removed.messages == [])
  }

  @Test func lowersTheLevelWithKnownRates() throws {
    let both = try level {
      addRate(&$0)
      addHRD(&$0)
    }
    #expect(both.sps == "1.1" && both.caps == "1.1" && both.messages == [])
    let edited = try level("level=auto,frame-rate=25") { addHRD(&$0) }
    #expect(edited.sps == "1.1")
  }

  @Test func raisesALevelThatIsTooLow() throws {
    let size = try level {
      $0.levelIDC = 10
      ($0.widthInMacroblocks, $0.heightInMapUnits) = (45, 36)
    }
    #expect(size.sps == "2.2" && size.caps == "2.2" && size.messages == [])
    let rate = try level(rate: "50/1") {
      $0.levelIDC = 10
      ($0.widthInMacroblocks, $0.heightInMapUnits) = (45, 36)
    }
    #expect(rate.sps == "3.1" && rate.caps == "3.1")
  }

  /// Of H.265 the VPS may have the rate.
  @Test(arguments: [true, false]) func usesTheFrameRateOfTheVPS(hasRate: Bool) throws {
    let plain = H265Stream.sps()
    var sps = try H265.SequenceParameterSet(nalUnit: plain.span)
    sps.profileTierLevel.levelIDC = 153
    sps.vui = H265.VUIParameters()
    sps.vui?.timing = .init(unitsInTick: 0, timeScale: 0)
    var common = H265.HRDParameters.Common()
    common.hasNAL = true
    var layer = H265.HRDParameters.SubLayer(pictureRate: .fixed(elementalDuration: 1))
    layer.nal = [.init(bitRateValue: 10, sizeValue: 10, isConstantBitRate: false)]
    sps.vui?.timing?.hrdParameters = H265.HRDParameters(common: common, hasCommon: true, subLayers: [layer])
    let plainVPS = H265Stream.vps
    var vps = try H265.VideoParameterSet(nalUnit: plainVPS.span)
    vps.timing = hasRate ? .init(unitsInTick: 1, timeScale: 25) : nil
    let harness = try Harness("swifth265repack edit=level=auto")
    harness.setInputCaps("video/x-h265, stream-format=byte-stream, alignment=au")
    let unit = [vps.nalUnit(), sps.nalUnit(), H265Stream.pps(), H265Stream.slice(.idrWithRADL)]
    #expect(harness.push(try RepackStream.buffer(Self.end.pack(unit))) == 0)
    let output = try EditTests.pullAll(harness, Self.end)
    let edited = try #require(output.dropFirst().first)
    let level = try H265.SequenceParameterSet(nalUnit: edited.span).level.name
    #expect((level == "5.1") == !hasRate, "\(level ?? "")")
  }
}
