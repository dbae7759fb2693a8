// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Glibc
import H26x
import HarnessSupport
import Testing

/// The property `codec-memory-limit` of decoders.
@Suite(.serialized) struct CodecMemoryLimitTests {
  /// A sanitizer reserves more memory than any limit allows: `Tests/run.sh --sanitize` sets its options.
  private static let isSanitized = ["ASAN_OPTIONS", "TSAN_OPTIONS"].contains { (name: String) in
    unsafe getenv(name) != nil
  }

  private func decoder(_ codec: StreamCodec, limit: Int) throws -> Harness {
    let harness = try Harness.decoder(
      codec.chain("swifth264dec isolation=process max-threads=2 codec-memory-limit=\(limit)"),
      input: "\(codec.mediaType), stream-format=byte-stream, alignment=au")
    harness.collectMessages()
    return harness
  }

  /// The limit is too low for any decoder.
  @Test(.disabled(if: isSanitized), arguments: StreamCodec.allCases)
  func tooLowALimitIsAnError(_ codec: StreamCodec) throws {
    let units = codec.accessUnits(in: try Clip.read("clip.\(codec)"))
    let harness = try decoder(codec, limit: 1 << 20)
    #expect(harness.push(units[0]) == FlowError.error.rawValue)
    let faults = harness.takeFaults()
    #expect(faults.contains { $0.isError && $0.domain == "gst-resource-error-quark" })
    #expect(harness.received == 0)
  }

  @Test(.disabled(if: isSanitized), arguments: StreamCodec.allCases)
  func decodesBelowTheLimit(_ codec: StreamCodec) throws {
    let units = codec.accessUnits(in: try Clip.read("clip.\(codec)"))
    let harness = try decoder(codec, limit: 1 << 30)
    #expect(try harness.decodeUntimed(units).count == units.count)
    #expect(harness.statistic("processes-lost") == 0)
    #expect(harness.takeFaults().isEmpty)
  }
}
