// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import FuzzDriver
import GStreamer
import HarnessSupport
public import TestSupport

/// A stream of random meaning through a decoder element in a harness. The input decides the stream, the element's
/// properties, and the events and changes of properties between two access units.
///
/// A finding is a trap, a sanitizer's report, or a warning of GLib or GStreamer (fatal here).
public enum DecodedStreamSubject<Stream: RandomStream> {
  private static var outputs: [String] {
    ["video/x-raw", "video/x-raw, format=NV12", "video/x-raw, format={I420, P010_10LE}"]
  }

  /// Properties that can be changed at any time.
  private static var changes: [(property: String, values: [String])] {
    [
      ("skip-frame", ["default", "non-reference", "bidirectional", "non-key"]), ("output-corrupt", ["true", "false"]),
      ("session-retries", ["0", "1", "5"]), ("low-delay", ["true", "false"]), ("max-errors", ["-1", "0", "3"]),
    ]
  }

  /// Drives a new element with one input.
  public static func run(_ input: Span<UInt8>, element: String, mediaType: String) {
    ElementSubject.registerElements()
    var decisions = ByteDecisions([UInt8](input, 0..<input.count))
    var stream = Stream(&decisions)
    guard let harness = try? Harness("\(element) max-threads=1") else { fatalError("\(element) cannot be made") }
    harness.collectMessages()
    harness.setOutputCaps(decisions.one(of: outputs))
    let isCut = decisions.oneIn(4)
    harness.setInputCaps("\(mediaType), stream-format=byte-stream, alignment=\(isCut ? "nal" : "au")")
    harness.play()
    push(stream.parameterSets, isCut, nil, to: harness)
    var time: UInt64 = 0
    while !decisions.isAtEnd && time < 200 {
      disturb(harness, &stream, &decisions)
      time += 1
      let pts = ClockTime(nanoseconds: 40_000_000 * (decisions.oneIn(30) ? UInt64(decisions.below(256)) : time))
      push(stream.nextAccessUnit(&decisions), isCut, decisions.oneIn(8) ? nil : pts, to: harness)
      while harness.tryPull() != nil {}
    }
    harness.endOfStream()
    while harness.tryPull() != nil {}
    _ = harness.takeMessages()
  }

  private static func push(_ nalUnits: [[UInt8]], _ isCut: Bool, _ pts: ClockTime?, to harness: Harness) {
    for part in isCut ? nalUnits.map({ [$0] }) : [nalUnits] { harness.push(MinimalStream.annexB(part), pts: pts) }
  }

  private static func disturb(_ harness: Harness, _ stream: inout Stream, _ decisions: inout ByteDecisions) {
    switch decisions.below(32) {
    case 31: harness.flush()
    case 30:
      harness.endOfStream()
      harness.flush()
    case 28, 29:
      let change = decisions.one(of: changes)
      harness.set(change.property, decisions.one(of: change.values))
    case 27: harness.setOutputCaps(decisions.one(of: outputs))
    case 26: harness.pushUpstream(qualityOfService(late: decisions.below(5)))
    case 25: harness.push(segment(&decisions))
    case 24: harness.pushUpstream(Event.reconfigure())
    case 23: stream = Stream(&decisions)
    default: break
    }
  }

  /// Downstream is late by so many seconds.
  private static func qualityOfService(late seconds: Int) -> Event {
    unsafe Event(
      owning: gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2, GstClockTimeDiff(seconds) * 1_000_000_000, 0))
  }

  /// A segment in time, forwards or backwards, with and without trick modes.
  private static func segment(_ decisions: inout ByteDecisions) -> Event {
    var segment = GstSegment()
    unsafe gst_segment_init(&segment, GST_FORMAT_TIME)
    let flags = [GST_SEGMENT_FLAG_NONE, GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS, GST_SEGMENT_FLAG_TRICKMODE]
    segment.flags = decisions.one(of: flags)
    segment.rate = decisions.one(of: [1, 2, -1])
    segment.stop = segment.rate < 0 ? 10_000_000_000 : guint64.max
    return unsafe Event(owning: gst_event_new_segment(&segment))
  }
}
