// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@Suite struct HDR10PlusMetadataTests {
  private static let prefix: [UInt8] = [0x00, 0x3C, 0x00, 0x01, 0x04]

  private static func userData(_ digits: String) throws -> RegisteredUserData {
    RegisteredUserData(countryCode: 0xB5, data: try hexadecimal(digits))
  }

  /// As FFmpeg writes it.
  @Test func readsProfileB() throws {
    let userData = try Self.userData(
      "003c0001040140000c81388088b83a9800fa240801902803205004b0c806419007d2580962d00af2f80c83180e1000400000"
        + "24663353366a0099acdccf9a00")
    let metadata = try HDR10PlusMetadata(userData)
    #expect(metadata.version == 1 && metadata.windows.count == 1 && metadata.targetedMaximumLuminance == 400)
    #expect(metadata.targetedPeakLuminance == nil && metadata.masteringPeakLuminance == nil)
    let window = metadata.windows[0]
    #expect(window.region == nil && window.maximumComponents == [40_000, 35_000, 30_000])
    #expect(window.averageMaximum == 1000 && window.fractionBrightPixels == 0)
    #expect(window.distribution.map(\.percentage) == [1, 5, 10, 25, 50, 75, 90, 95, 99])
    #expect(window.distribution.map(\.luminance) == [100, 200, 300, 400, 500, 600, 700, 800, 900])
    #expect(
      window.toneMapping
        == .init(kneePointX: 0, kneePointY: 0, anchors: [102, 205, 307, 410, 512, 614, 717, 819, 922]))
    #expect(window.colourSaturationWeight == nil && metadata.profile == .b && metadata.profile?.name.description == "B")
    #expect(try metadata.userData() == userData)
    // The same metadata, made by hand.
    var made = HDR10PlusMetadata(targetedMaximumLuminance: 400)
    made.windows = metadata.windows
    #expect(try HDR10PlusMetadata(made.userData()).windows == metadata.windows)
  }

  /// As FFmpeg writes it.
  @Test func readsProfileA() throws {
    let userData = try Self.userData(
      "003c00010401400000002ee0138807d000c8240800c8280190500258c803219003ea5804b2d0057af806431807080000")
    let metadata = try HDR10PlusMetadata(userData)
    #expect(metadata.profile == .a && metadata.targetedMaximumLuminance == 0)
    let window = metadata.windows[0]
    #expect(window.maximumComponents == [6000, 5000, 4000] && window.averageMaximum == 800)
    #expect(window.distribution.map(\.luminance) == [50, 100, 150, 200, 250, 300, 350, 400, 450])
    #expect(window.toneMapping == nil)
    #expect(try metadata.userData() == userData)
  }

  @Test func metadataWithoutTheirPartsAreOfNoProfile() {
    var metadata = HDR10PlusMetadata(targetedMaximumLuminance: 400)
    #expect(metadata.profile == nil)
    metadata.windows[0].toneMapping = .init(kneePointX: 1, kneePointY: 1, anchors: [])
    #expect(metadata.profile == nil)
    metadata.windows[0].toneMapping?.anchors = [5]
    #expect(metadata.profile == .b)
    metadata.targetedMaximumLuminance = 0
    #expect(metadata.profile == nil)
    metadata.windows = []
    #expect(metadata.profile == nil)
  }

  /// Random syntax with every part, and the number of windows in it.
  private static func syntax(_ generator: inout SeededGenerator) -> (bits: BitWriter, windows: Int) {
    var writer = BitWriter(addsEmulationPrevention: false)
    func random(_ bits: Int) -> UInt32 { UInt32.random(in: 0...UInt32(1) << UInt32(bits) - 1, using: &generator) }
    func peaks() {
      let isSent = random(1)
      writer.u(1, isSent)
      guard isSent == 1 else { return }
      let (rows, columns) = (random(5), random(5))
      writer.u(5, rows)
      writer.u(5, columns)
      for _ in 0..<rows * columns { writer.u(4, random(4)) }
    }
    writer.append(prefix)
    writer.u(8, random(1))
    let count = UInt32.random(in: 1...3, using: &generator)
    writer.u(2, count)
    for _ in 1..<count {
      for _ in 0..<6 { writer.u(16, random(16)) }
      writer.u(8, random(8))
      for _ in 0..<3 { writer.u(16, random(16)) }
      writer.u(1, random(1))
    }
    writer.u(27, random(27))
    peaks()
    for _ in 0..<count {
      for _ in 0..<4 { writer.u(17, random(17)) }
      let percentiles = random(4)
      writer.u(4, percentiles)
      for _ in 0..<percentiles {
        writer.u(7, random(7))
        writer.u(17, random(17))
      }
      writer.u(10, random(10))
    }
    peaks()
    for _ in 0..<count {
      let hasCurve = random(1)
      writer.u(1, hasCurve)
      if hasCurve == 1 {
        writer.u(24, random(24))
        let anchors = random(4)
        writer.u(4, anchors)
        for _ in 0..<anchors { writer.u(10, random(10)) }
      }
      let hasWeight = random(1)
      writer.u(1, hasWeight)
      if hasWeight == 1 { writer.u(6, random(6)) }
    }
    return (writer, Int(count))
  }

  @Test func randomMetadataComeBack() throws {
    var generator = SeededGenerator(state: 54)
    for round in 0..<1000 {
      var (writer, windows) = Self.syntax(&generator)
      let end = writer.bitCount
      writer.align()
      // Bits of a later version.
      if round % 2 == 0 { writer.append((0..<round % 7).map { _ in UInt8.random(in: 0...255, using: &generator) }) }
      let userData = RegisteredUserData(countryCode: 0xB5, data: writer.bytes)
      let metadata = try HDR10PlusMetadata(userData)
      #expect(metadata.windows.count == windows && metadata.trailingBits.count == writer.bytes.count * 8 - end)
      #expect(try metadata.userData() == userData)
      for count in 0..<(end + 7) / 8 {
        let error = failure { () throws(BitstreamError) in
          _ = try HDR10PlusMetadata(RegisteredUserData(countryCode: 0xB5, data: Array(writer.bytes[..<count])))
        }
        #expect(error?.reason == (count < 5 ? .unsupported : .truncated))
      }
    }
  }

  @Test func otherMessagesAreErrors() {
    let cases: [(UInt8, [UInt8], BitstreamError.Reason)] = [
      (0xB4, Self.prefix + [1, 0x40], .unsupported), (0xB5, [0x00, 0x3C, 0x00, 0x01, 0x05, 1], .unsupported),
      (0xB5, Self.prefix + [2, 0x40], .unsupported), (0xB5, Self.prefix + [1, 0x3F], .valueOutOfRange),
    ]
    for (country, data, reason) in cases {
      let error = failure { () throws(BitstreamError) in
        _ = try HDR10PlusMetadata(RegisteredUserData(countryCode: country, data: data))
      }
      #expect(error?.reason == reason)
    }
  }

  @Test func refusesWhatTheSyntaxHasNoRoomFor() {
    let region = HDR10PlusMetadata.Region(
      upperLeft: .init(x: 0, y: 0), lowerRight: .init(x: 9, y: 9), centre: .init(x: 4, y: 4), internalSemimajorAxis: 1,
      externalSemimajorAxis: 2, externalSemiminorAxis: 2)
    let window = HDR10PlusMetadata.Window(region: region)
    let point = HDR10PlusMetadata.Percentile(percentage: 1, luminance: 1)
    let changes: [((inout HDR10PlusMetadata) -> Void, String)] = [
      ({ $0.windows = [] }, "num_windows"), ({ $0.windows += [window, window, window] }, "num_windows"),
      ({ $0.windows.append(.init()) }, "window_upper_left_corner_x"),
      ({ $0.windows[0].maximumComponents = [1, 2] }, "maxscl"),
      ({ $0.windows[0].distribution = [_](repeating: point, count: 16) }, "num_distribution_maxrgb_percentiles"),
      (
        { $0.windows[0].toneMapping = .init(kneePointX: 0, kneePointY: 0, anchors: [UInt16](1...16)) },
        "num_bezier_curve_anchors"
      ),
    ]
    for (change, element) in changes {
      var metadata = HDR10PlusMetadata()
      change(&metadata)
      let error = failure { () throws(BitstreamError) in _ = try metadata.userData() }
      #expect(error?.reason == .valueOutOfRange && error?.element.description == element)
    }
  }

  /// A second window, and peaks whose numbers and values do not fit together.
  @Test func writesWindowsAndPeaks() throws {
    let region = HDR10PlusMetadata.Region(
      upperLeft: .init(x: 1, y: 2), lowerRight: .init(x: 300, y: 200), centre: .init(x: 150, y: 100), rotationAngle: 45,
      internalSemimajorAxis: 20, externalSemimajorAxis: 40, externalSemiminorAxis: 30, isLayered: true)
    var second = HDR10PlusMetadata.Window(region: region)
    second.colourSaturationWeight = 63
    var metadata = HDR10PlusMetadata(
      version: 0, windows: [.init(), second], targetedPeakLuminance: .init(rows: 2, columns: 3, values: [1, 2, 3]),
      masteringPeakLuminance: .init(rows: 2, columns: 2, values: [1, 2, 3, 4, 5]))
    #expect(metadata.targetedPeakLuminance?.values == [1, 2, 3, 0, 0, 0])
    let read = try HDR10PlusMetadata(metadata.userData())
    metadata.trailingBits = read.trailingBits
    #expect(read == metadata && read.windows[1].region == region)
    metadata.targetedPeakLuminance?.rows = 4
    #expect(try HDR10PlusMetadata(metadata.userData()).targetedPeakLuminance?.values.count == 12)
  }
}
