// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Elements
import FuzzDriver
import GStreamer
import H26x
import HarnessSupport

/// An element in a harness. The input decides its properties, the caps on both sides, how the data is split
/// into buffers, and the events between them.
///
/// A finding is a trap, a sanitizer's report, a warning of GLib or GStreamer (fatal here), or an output
/// buffer with invalid memory. Errors on the bus and failed flows are no findings.
public struct ElementSubject: Sendable {
  /// The element's name.
  public var element: String
  /// Properties to choose from, as on a gst-launch-1.0 line.
  public var settings: [String]
  /// Downstream's caps to choose from.
  public var outputs: [String]

  /// Describes a subject.
  public init(element: String, settings: [String], outputs: [String]) {
    self.element = element
    self.settings = settings
    self.outputs = outputs
  }

  /// Drives a new element with one input.
  public func run(_ input: Span<UInt8>) {
    Self.registerElements()
    var choices = Choices(input)
    let setting = settings[choices.below(settings.count)]
    guard let harness = try? Harness("\(element) \(setting)") else {
      fatalError("\(element) cannot be made")
    }
    harness.collectMessages()
    harness.setOutputCaps(outputs[choices.below(outputs.count)])
    let source = InputStream(choices.data, isH265: element.contains("h265"), &choices)
    harness.setInputCaps(source.caps)
    if choices.below(4) == 3 { harness.push(Self.segment(GST_FORMAT_BYTES)) }
    harness.play()
    var time: UInt64 = 0
    for piece in source.pieces(&choices) {
      disturb(harness, source, &choices)
      let isTimed = choices.flag()
      time += 20_000_000
      let pts = ClockTime(nanoseconds: isTimed ? time : UInt64(choices.byte()) << 56)
      guard var buffer = Buffer(copying: piece.span) else { continue }
      buffer.pts = choices.below(3) == 0 ? nil : pts
      buffer.dts = choices.flag() ? pts : nil
      if setting.contains("captions") { Self.attachCaptions(to: &buffer, piece) }
      harness.push(buffer)
      drain(harness)
    }
    harness.endOfStream()
    drain(harness)
    _ = (harness.takeMessages(), harness.queryLatency(), harness.querySinkCaps(filter: nil).description)
  }

  /// Attaches the first bytes of a buffer as captions. Its size decides on their layout and number.
  private static func attachCaptions(to buffer: inout Buffer, _ bytes: [UInt8]) {
    let format = Buffer.CaptionFormat(rawValue: UInt32(bytes.count % 4 + 1)) ?? .cea708Raw
    let captions = [UInt8](bytes.prefix(bytes.count / 4 % 110))
    buffer.addCaptions(captions.span, format: format)
  }

  /// Registers the elements, once.
  static func registerElements() {
    struct Once {
      static let registered = {
        Harness.initialise()
        return Elements.register(in: nil)
      }()
    }
    require(Once.registered, "the elements cannot be registered")
  }

  /// An event between two buffers; mostly none.
  private func disturb(_ harness: Harness, _ source: InputStream, _ choices: inout Choices) {
    switch choices.below(32) {
    case 1: harness.flush()
    case 2: harness.push(unsafe Event(owning: gst_event_new_gap(0, 1_000_000)))
    case 3: harness.setInputCaps(source.caps)
    case 4: harness.push(Self.segment(GST_FORMAT_TIME))
    case 5: harness.pushUpstream(Event.reconfigure())
    case 6:
      let event = unsafe gst_video_event_new_upstream_force_key_unit(GstClockTime.max, gboolean(choices.byte() & 1), 1)
      if let event = unsafe event { harness.pushUpstream(unsafe Event(owning: event)) }
    case 7:
      let event = unsafe gst_video_event_new_downstream_force_key_unit(0, 0, 0, 1, 1)
      if let event = unsafe event { harness.push(unsafe Event(owning: event)) }
    case 8:
      harness.endOfStream()
      harness.flush()
    case 9: harness.setOutputCaps(outputs[choices.below(outputs.count)])
    default: break
    }
  }

  private static func segment(_ format: GstFormat) -> Event {
    var segment = GstSegment()
    unsafe gst_segment_init(&segment, format)
    return unsafe Event(owning: gst_event_new_segment(&segment))
  }

  /// Pulls all output and reads it, so that the sanitizer finds invalid memory.
  private func drain(_ harness: Harness) {
    while let buffer = harness.tryPull() {
      // Other elements may pass empty input buffers through.
      require(buffer.size > 0 || !element.hasSuffix("parse"), "an empty buffer came out")
      guard let map = try? buffer.map() else { continue }
      let bytes = map.bytes
      var sum: UInt8 = 0
      for index in stride(from: 0, to: bytes.count, by: 61) { sum &+= bytes[index] }
      if let last = bytes.indices.last { sum &+= bytes[last] }
      withExtendedLifetime(sum) {}
    }
  }
}
