// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

private typealias Stream = RepackStream

/// The property `qos` of repackagers, which is the base class's.
@Suite(.serialized) struct RepackQoSTests {
  /// Unchanged or converted.
  @Test(arguments: ["byte-stream", "avc"], [false, true])
  func dropsLateBuffersOnlyIfSet(_ format: String, _ isSet: Bool) throws {
    let harness = try Harness.repack("qos=\(isSet)", to: format)
    harness.setInputCaps(Stream.caps("byte-stream"))
    harness.push(Stream.annexB([Stream.sps(), Stream.pps(), Stream.slice(0, isIDR: true)]), pts: .zero)
    // Downstream answers that the buffer at 1 s is 1.5 s late.
    harness.pushUpstream(
      unsafe Event(owning: gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2, 1_500_000_000, 1_000_000_000)))
    for number in 1...4 {
      let flow = harness.push(Stream.annexB([Stream.slice(UInt32(number))]), pts: .seconds(UInt64(number)))
      #expect(flow >= 0)
    }
    harness.endOfStream()
    var times: [UInt64] = []
    while let buffer = harness.tryPull() { times.append((buffer.pts?.nanoseconds ?? 0) / 1_000_000_000) }
    #expect(times == (isSet ? [0, 3, 4] : [0, 1, 2, 3, 4]))
  }
}
