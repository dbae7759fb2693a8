// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

@testable import Elements

/// Large slices are not copied where only what stands in front of them changes.
@Suite(.serialized) struct RepackSharedMemoryTests {
  private static let padding = [UInt8](repeating: 0xA5, count: 40_000)

  /// The access unit with its last NAL unit, a slice, grown.
  private static func grown(_ accessUnit: [[UInt8]]) -> [[UInt8]] {
    var accessUnit = accessUnit
    if let last = accessUnit.popLast() { accessUnit.append(last + padding) }
    return accessUnit
  }

  /// The output for an access unit, and the number of its memories.
  private static func output(
    _ accessUnits: [[[UInt8]]], _ properties: String, _ sample: RepackSample, _ end: RepackEnd
  ) throws -> [(nalUnits: [[UInt8]], memories: UInt32)] {
    let harness = try sample.harness(properties, to: end)
    harness.setInputCaps(sample.caps(end))
    var output: [([[UInt8]], UInt32)] = []
    for accessUnit in accessUnits {
      #expect(harness.push(try RepackStream.buffer(end.pack(accessUnit))) == 0)
      let buffer = try harness.pull()
      // Reading them joins them.
      let memories = unsafe gst_buffer_n_memory(buffer.raw)
      output.append((end.unpack(try buffer.copiedBytes()), memories))
    }
    return output
  }

  @Test(arguments: [
    "edit=\"colour=bt709\"", "edit=\"colour=bt709,insert-sei=144=03e80190\"", "edit=\"colour=bt709,aud=insert\"",
    "insert-parameter-sets=keyframes", "drop=aud",
  ])
  func doesNotCopyLargeSlices(_ properties: String) throws {
    for sample in RepackSample.all {
      let plain = sample.accessUnits[0].filter { $0 != sample.delimiter }
      let unit =
        properties.hasPrefix("edit")
        ? sample.withSets[0] : properties.hasPrefix("drop") ? [sample.delimiter] + plain : plain
      for format in [RepackEnd.Format.byteStream, .inBand] {
        let end = RepackEnd(format: format, alignment: "au")
        let (small, large) = (unit, Self.grown(unit))
        let expected = try Self.output([sample.withSets[0], small], properties, sample, end)
        let found = try Self.output([sample.withSets[0], large], properties, sample, end)
        #expect(found[1].nalUnits == Self.grown(expected[1].nalUnits), "\(sample.codec) \(format)")
        #expect(expected[1].memories == 1)
        // Where something was dropped, nothing is left in front.
        #expect(found[1].memories == (properties.hasPrefix("drop") ? 1 : 2), "\(sample.codec) \(format)")
      }
    }
  }
}
