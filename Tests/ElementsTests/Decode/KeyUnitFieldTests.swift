// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Foundation
import GStreamer
import HarnessSupport
import Testing

/// Key-unit trick mode where pictures are coded in fields.
@Suite(.serialized, .enabled(if: Clip.vector("freh6.264") != nil, "no conformance vectors"))
struct KeyUnitFieldTests {
  /// The pictures of a stream, in key-unit trick mode or all.
  private func pictures(_ name: String, threads: Int, flags: GstSegmentFlags) throws -> [Int] {
    let path = try #require(Clip.vector(name))
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    let harness = try Harness.decoder("swifth264parse ! swifth264dec max-threads=\(threads)", input: "video/x-h264")
    var segment = GstSegment()
    unsafe gst_segment_init(&segment, GST_FORMAT_TIME)
    segment.flags = flags
    harness.push(unsafe Event(owning: gst_event_new_segment(&segment)))
    for start in stride(from: 0, to: bytes.count, by: 8192) {
      harness.push(Array(bytes[start..<min(start + 8192, bytes.count)]))
    }
    harness.endOfStream()
    return try harness.takePictures().map(\.fingerprint)
  }

  /// The second field of a keyframe is no sync point, and belongs to it all the same.
  @Test(arguments: ["freh6.264", "freh11.264"]) func keyframesHaveBothFields(_ name: String) throws {
    let all = try pictures(name, threads: 1, flags: GST_SEGMENT_FLAG_NONE)
    let keyframes = try pictures(name, threads: 1, flags: GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS)
    #expect(!keyframes.isEmpty && keyframes.count < all.count / 4)
    // The second field of a later one may refer to pictures that are left out.
    #expect(keyframes.first == all.first)
    #expect(try pictures(name, threads: 4, flags: GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS) == keyframes)
  }
}
