// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@testable import VideoDecoding

@Suite struct AccessUnitTests {
  @Test func accessUnitsKeepTheirValues() throws {
    let format = try H265Stream(media: "clip.h265").format
    let accessUnit = AccessUnit([1, 2], tag: 3, time: .seconds(4), doNotOutput: true, format: format)
    #expect(accessUnit.bytes == [1, 2] && accessUnit.tag == 3 && accessUnit.time == .seconds(4))
    #expect(accessUnit.doNotOutput && accessUnit.format == format)
    let plain = AccessUnit([1], tag: 0)
    #expect(plain.time == nil && !plain.doNotOutput && plain.format == nil)
  }

  /// The format comes with the first access unit, once.
  @Test func cutsAndNumbersStreams() throws {
    let units = try mediaAccessUnits("clip.h264")
    var cutter = StreamCutter<H264>()
    var cut: [AccessUnit] = []
    for unit in units {
      cutter.append(unit)
      while let accessUnit = cutter.next() { cut.append(accessUnit) }
    }
    #expect(!cutter.isAtEnd && cut.count == units.count - 1)
    cutter.end()
    while let accessUnit = cutter.next() { cut.append(accessUnit) }
    #expect(cutter.isAtEnd && cut.map(\.tag) == Array(0..<UInt64(units.count)) && cut.map(\.bytes) == units)
    #expect(cut.map { $0.format != nil } == [true] + Array(repeating: false, count: units.count - 1))
    #expect(cut.first?.format == (try streamFormat(units)))
  }
}
