// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// Raw streams whose fields or frames are repeated (`pic_struct`): times agree with durations.
@Suite struct ParserPulldownTests {
  init() { #expect(Registration.succeeded) }

  /// `pic_struct` of frames in presentation order, and field periods of each.
  static let cadences: [[(structure: UInt8, periods: Int)]] = [
    [(5, 3), (4, 2), (6, 3), (3, 2)], [(7, 4)], [(8, 6)], [(0, 2)],
  ]

  @Test(arguments: StreamCodec.allCases, cadences.indices)
  func pulldownPicturesFollowOneAnotherWithoutGaps(codec: StreamCodec, index: Int) throws {
    let cadence = Self.cadences[index]
    var nalUnits = try Self.parameterSets(codec)
    // I, then P and two B-frames that are shown before it.
    let orders = [0] + stride(from: 3, through: 24, by: 3).flatMap { [$0, $0 - 2, $0 - 1] }
    var number: UInt32 = 0
    for order in orders {
      let kind: StreamCodec.Kind = order == 0 ? .idr : order % 3 == 0 ? .p : .b
      nalUnits.append(try Self.timing(cadence[order % cadence.count].structure, codec))
      nalUnits.append(codec.picture(kind, number: number % 16, order: UInt32(order), size: 60))
      if kind != .b { number += 1 }
    }
    let harness = try Harness("\(codec.element)parse")
    harness.setOutputCaps("\(codec.mediaType), stream-format=\(codec.outOfBand), alignment=au")
    harness.setInputCaps(codec.mediaType)
    #expect(harness.push(RepackStream.annexB(nalUnits)) == 0)
    harness.endOfStream()
    var times: [(start: UInt64, length: UInt64)] = []
    while let buffer = harness.tryPull() {
      times.append((buffer.pts?.nanoseconds ?? 0, buffer.duration?.nanoseconds ?? 0))
    }
    #expect(times.count == orders.count)
    for (time, order) in zip(times, orders) {
      #expect(time.length == UInt64(cadence[order % cadence.count].periods) * 20_000_000)
    }
    let shown = times.sorted { $0.start < $1.start }
    for (time, next) in zip(shown, shown.dropFirst()) { #expect(next.start == time.start + time.length) }
  }

  private static func parameterSets(_ codec: StreamCodec) throws -> [[UInt8]] {
    switch codec {
    case .h264: [ParseStream.spsToOrder(reorder: 1, hasPictureStructure: true), ParseStream.ppsToOrder()]
    case .h265: [H265Stream.vps, H265Stream.sps { $0.vui?.isPictureStructurePresent = true }, H265Stream.pps()]
    }
  }

  private static func timing(_ structure: UInt8, _ codec: StreamCodec) throws -> [UInt8] {
    switch codec {
    case .h264:
      let nalUnit = try parameterSets(codec)[0]
      let sps = try H264.SequenceParameterSet(nalUnit: nalUnit.span)
      let picture = try #require(H264.PictureTiming.Structure(rawValue: structure))
      return seiNALUnit([(.pictureTiming, H264.PictureTiming(structure: picture).payload(sps: sps))])
    case .h265:
      let nalUnit = try parameterSets(codec)[1]
      let sps = try H265.SequenceParameterSet(nalUnit: nalUnit.span)
      let display = H265.PictureTiming.Display(structure: .init(rawValue: structure))
      let payload = H265.PictureTiming(display: display).payload(sps: sps)
      return seiNALUnit([(.pictureTiming, payload)], header: [78, 1])
    }
  }
}
