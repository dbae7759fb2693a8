// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

@testable import Elements

/// The property `caption-meta-order` of repackagers.
@Suite(.serialized) struct CaptionMetaOrderTests {
  /// The places in display order of a group's pictures, in decoding order, and the reorder depth.
  struct Group: Sendable, CustomTestStringConvertible {
    var orders: [UInt32]
    var depth: UInt32
    var testDescription: String { "\(orders)" }

    static let all = [
      Group(orders: [0, 1, 2, 3], depth: 0), Group(orders: [0, 2, 1, 4, 3], depth: 1),
      Group(orders: [0, 4, 2, 1, 3, 8, 6, 5, 7], depth: 2), Group(orders: [0, 3, 1, 2, 6, 4, 5], depth: 1),
      Group(orders: [0, 8, 4, 2, 1, 3, 6, 5, 7], depth: 3),
    ]
  }

  private static let end = RepackEnd(format: .byteStream, alignment: "au")

  /// The access units of groups, in decoding order.
  private static func units(_ codec: StreamCodec, _ group: Group, groups: UInt32 = 3) -> [[[UInt8]]] {
    (0..<groups).flatMap { number in
      var references: UInt32 = 0
      return group.orders.enumerated().map { index, order in
        let isReference = index > 0 && order > group.orders[index - 1]
        let kind = index == 0 ? StreamCodec.Kind.idr : isReference ? .p : .b
        let picture = codec.picture(kind, number: references, order: order, group: number, size: 30)
        if kind != .b { references += 1 }
        return index == 0 ? codec.parameterSets(reorder: group.depth) + [picture] : [picture]
      }
    }
  }

  private static func harness(
    _ codec: StreamCodec, _ properties: String = "insert-captions=true caption-meta-order=display",
    alignment: String = "au"
  ) throws -> Harness {
    _ = Registration.succeeded
    let harness = try Harness("\(codec.element)repack \(properties)")
    harness.setOutputCaps("\(codec.mediaType), stream-format=byte-stream, alignment=au")
    harness.setInputCaps("\(codec.mediaType), stream-format=byte-stream, alignment=\(alignment), framerate=25/1")
    return harness
  }

  /// A buffer with the captions of a number, and the number as its time.
  private static func buffer(_ nalUnits: [[UInt8]], _ number: Int?, time: Int = 0) throws -> Buffer {
    var buffer = try RepackStream.buffer(end.pack(nalUnits))
    if let number { buffer.addCaptions(InsertCaptionsTests.triplets(number).span, format: .cea708Raw) }
    buffer.pts = .milliseconds(UInt64(time))
    return buffer
  }

  /// An output buffer.
  private struct Output: Equatable {
    var time: UInt64
    /// The number of the captions on the buffer; nil without any.
    var meta: Int?
    /// Whether the SEI has the same captions, or neither has any.
    var isWritten: Bool
  }

  /// - Parameter count: the triplets of a message, with padding: 24 at 25 frames a second.
  private static func pullAll(_ harness: Harness, _ codec: StreamCodec, count: Int = 24) throws -> [Output] {
    var result: [Output] = []
    while let buffer = harness.tryPull() {
      let captions = buffer.closedCaptions
      #expect(captions.count <= 1)
      let messages = end.unpack(try buffer.copiedBytes()).filter { codec.isCaptionSEI($0) }
      let number = captions.first.map { Int($0.bytes[1] & 0x1F) | Int($0.bytes[2] & 0x7F) << 5 }
      let expected = captions.map {
        InsertCaptionsTests.sei(
          String(codec.rawValue.dropFirst()), InsertCaptionsTests.padded($0.bytes, to: count))
      }
      result.append(
        Output(
          time: (buffer.pts ?? .zero).nanoseconds / 1_000_000, meta: number, isWritten: messages == expected))
    }
    return result
  }

  /// The output for units whose captions are numbered as they come: each picture's place in display order.
  private static func expected(_ group: Group, groups: Int = 3) -> [Output] {
    (0..<groups).flatMap { number in group.orders.map { $0 + UInt32(number * group.orders.count) } }.enumerated().map {
      Output(time: UInt64($0.offset), meta: Int($0.element), isWritten: true)
    }
  }

  @Test(arguments: StreamCodec.allCases, Group.all)
  func givesPicturesTheirPlaces(codec: StreamCodec, group: Group) throws {
    for alignment in ["au", "nal"] {
      let harness = try Self.harness(codec, alignment: alignment)
      for (number, unit) in Self.units(codec, group).enumerated() {
        for (index, nalUnits) in (alignment == "au" ? [unit] : unit.map { [$0] }).enumerated() {
          let buffer = try Self.buffer(nalUnits, index == 0 ? number : nil, time: number)
          #expect(harness.push(buffer) == 0)
        }
      }
      harness.endOfStream()
      #expect(try Self.pullAll(harness, codec) == Self.expected(group), "\(alignment)")
    }
  }

  /// By default each buffer's captions are its picture's, and nothing is held.
  @Test(arguments: StreamCodec.allCases) func decodingOrderIsTheDefault(codec: StreamCodec) throws {
    let harness = try Self.harness(codec, "insert-captions=true")
    for (number, unit) in Self.units(codec, Group.all[2]).enumerated() {
      #expect(harness.push(try Self.buffer(unit, number, time: number)) == 0)
      let output = Output(time: UInt64(number), meta: number, isWritten: true)
      #expect(try Self.pullAll(harness, codec) == [output])
    }
    #expect(harness.queryLatency() == .zero)
  }

  /// Only some buffers have captions: the others take their place, too.
  @Test(arguments: StreamCodec.allCases) func absentCaptionsCount(codec: StreamCodec) throws {
    let group = Group.all[2]
    let harness = try Self.harness(codec)
    for (number, unit) in Self.units(codec, group).enumerated() {
      #expect(harness.push(try Self.buffer(unit, number % 3 == 0 ? number : nil, time: number)) == 0)
    }
    harness.endOfStream()
    let expected = Self.expected(group).map { output in
      Output(time: output.time, meta: output.meta.flatMap { $0 % 3 == 0 ? $0 : nil }, isWritten: true)
    }
    #expect(try Self.pullAll(harness, codec) == expected)
  }

  /// The latency is the reorder depth, and then the longest hold.
  @Test(arguments: StreamCodec.allCases) func reportsTheDelay(codec: StreamCodec) throws {
    let harness = try Self.harness(codec)
    harness.collectMessages()
    harness.setUpstreamLatency(.milliseconds(5))
    let group = Group.all[4]
    var longest = 0
    for (number, unit) in Self.units(codec, group).enumerated() {
      #expect(harness.push(try Self.buffer(unit, number, time: number)) == 0)
      for output in try Self.pullAll(harness, codec) { longest = max(longest, number - Int(output.time)) }
      if number == 0 { #expect(harness.queryLatency() == .milliseconds(5 + 3 * 40)) }
    }
    // The picture that is shown last comes second, and the next group releases it.
    #expect(longest == group.orders.count - 1)
    #expect(harness.queryLatency() == .milliseconds(5 + 40 * UInt64(longest)))
    #expect(harness.takeAllMessages().contains { $0.hasPrefix("latency") })
  }

  /// Events keep their places among the access units.
  @Test(arguments: StreamCodec.allCases) func eventsKeepTheirPlaces(codec: StreamCodec) throws {
    let harness = try Self.harness(codec)
    let recording = HarnessRecording(harness)
    let units = Self.units(codec, Group.all[2], groups: 1)
    for (number, unit) in units.enumerated() {
      #expect(harness.push(try Self.buffer(unit, number, time: number)) == 0)
      let structure = unsafe gst_structure_new_empty("event\(number)")
      #expect(harness.push(unsafe Event(owning: gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, structure))))
    }
    harness.endOfStream()
    let entries = recording.entries.compactMap { entry -> String? in
      switch entry {
      case .buffer: "buffer"
      case .event(let text): text.hasPrefix("custom") || text == "eos" ? text : nil
      default: nil
      }
    }
    let expected = units.indices.flatMap { _ in ["buffer", "custom-downstream"] } + ["eos"]
    #expect(entries == expected)
  }

  /// An interruption releases all access units, in the order that they have so far.
  @Test(arguments: StreamCodec.allCases, ["caps", "segment", "gap", "discontinuity", "end", "stream"])
  func interruptionsReleaseEverything(codec: StreamCodec, interruption: String) throws {
    let group = Group.all[2]
    let harness = try Self.harness(codec)
    let units = Self.units(codec, group, groups: 1)
    for number in 0..<3 { #expect(harness.push(try Self.buffer(units[number], number, time: number)) == 0) }
    #expect(harness.received == 1)
    switch interruption {
    case "caps":
      harness.setInputCaps("\(codec.mediaType), stream-format=byte-stream, alignment=au, framerate=50/1")
    case "segment": harness.push(Event.segment(.time()))
    case "gap": harness.push(Event.gap(at: .zero, duration: .second))
    case "end": harness.endOfStream()
    case "stream": harness.push(Event.streamStart("second"))
    default:
      var buffer = try Self.buffer(units[3], 3, time: 3)
      buffer.flags.insert(.discontinuity)
      #expect(harness.push(buffer) == 0)
    }
    // Orders 0, 4 and 2.
    let outputs = try Self.pullAll(harness, codec)
    let first = [(0, 0), (1, 2), (2, 1)].map { Output(time: $0.0, meta: $0.1, isWritten: true) }
    #expect(Array(outputs.prefix(3)) == first)
  }

  /// A flush discards held access units, but not events. The next picture starts a new order.
  @Test(arguments: StreamCodec.allCases) func aFlushBeginsAnew(codec: StreamCodec) throws {
    let group = Group.all[4]
    let units = Self.units(codec, group)
    let harness = try Self.harness(codec)
    for round in 0..<3 {
      for number in 0..<5 { #expect(harness.push(try Self.buffer(units[number], number, time: number)) == 0) }
      _ = try Self.pullAll(harness, codec)
      let structure = unsafe gst_structure_new_empty("held")
      #expect(
        harness.push(unsafe Event(owning: gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, structure))))
      while harness.tryPullEvent() != nil {}
      harness.flush()
      for (number, unit) in units.enumerated() {
        #expect(harness.push(try Self.buffer(unit, number, time: number)) == 0)
      }
      harness.endOfStream()
      #expect(try Self.pullAll(harness, codec) == Self.expected(group), "\(round)")
      var events = 0
      while let event = harness.tryPullEvent() { if event.kind == .customDownstream { events += 1 } }
      #expect(events == 1)
      // An end of stream is over with a flush.
      harness.flush()
    }
  }

  /// A second run is as the first, and the property that is set in between takes effect with it.
  @Test(arguments: StreamCodec.allCases) func takesEffectInReady(codec: StreamCodec) throws {
    let group = Group.all[2]
    let harness = try Self.harness(codec)
    for order in ["display", "decode", "display"] {
      unsafe gst_element_set_state(harness.element, GST_STATE_READY)
      harness.set("caption-meta-order", order)
      harness.play()
      harness.push(Event.streamStart("stream"))
      harness.setInputCaps("\(codec.mediaType), stream-format=byte-stream, alignment=au, framerate=25/1")
      for (number, unit) in Self.units(codec, group).enumerated() {
        #expect(harness.push(try Self.buffer(unit, number, time: number)) == 0)
      }
      harness.endOfStream()
      let metas = try Self.pullAll(harness, codec).map(\.meta)
      let sorted = Self.expected(group).map(\.meta)
      #expect(metas == (order == "display" ? sorted : sorted.indices.map { $0 }), "\(order)")
    }
  }

  /// The two fields of a frame have the places of both, in access units of their own.
  @Test func fieldsHavePlacesOfTheirOwn() throws {
    typealias Stream = ParseStream
    let sets = [Stream.spsToOrder(frameOnly: false, reorder: 1), Stream.ppsToOrder()]
    func fields(_ order: UInt32, _ number: UInt32, idr: Bool = false, kind: UInt32, reference: UInt32) -> [[UInt8]] {
      [0, 1].map { field in
        Stream.slice(
          field == 0 ? kind : min(kind, 1), number: number, order: 2 * order + field, idr: idr && field == 0,
          reference: reference, field: field, frameOnly: false)
      }
    }
    let frames: [[[UInt8]]] = [
      fields(0, 0, idr: true, kind: 2, reference: 1), fields(2, 1, kind: 0, reference: 1),
      fields(1, 2, kind: 1, reference: 0), fields(4, 2, kind: 0, reference: 1), fields(3, 3, kind: 1, reference: 0),
    ]
    let harness = try Self.harness(.h264)
    for (number, field) in frames.joined().enumerated() {
      #expect(harness.push(try Self.buffer(number == 0 ? sets + [field] : [field], number, time: number)) == 0)
    }
    harness.endOfStream()
    let outputs = try Self.pullAll(harness, .h264, count: 1)
    let places = [0, 1, 4, 5, 2, 3, 8, 9, 6, 7]
    #expect(outputs == places.enumerated().map { Output(time: UInt64($0), meta: $1, isWritten: true) })
  }

  /// Pictures that cannot be read, and access units without one, keep their captions and are not held.
  @Test(arguments: StreamCodec.allCases) func unreadablePicturesKeepTheirCaptions(codec: StreamCodec) throws {
    let group = Group.all[2]
    let harness = try Self.harness(codec)
    let units = Self.units(codec, group, groups: 1)
    for number in 1..<4 { #expect(harness.push(try Self.buffer(units[number], number, time: number)) == 0) }
    let outputs = try Self.pullAll(harness, codec)
    #expect(outputs == (1..<4).map { Output(time: UInt64($0), meta: $0, isWritten: true) })
    for (number, unit) in units.enumerated() {
      #expect(harness.push(try Self.buffer(unit, number, time: number)) == 0)
    }
    let end = codec == .h264 ? [0x0A] : H265Stream.endOfSequence
    #expect(harness.push(try Self.buffer([end], 99, time: 99)) == 0)
    harness.endOfStream()
    let rest = try Self.pullAll(harness, codec)
    #expect(rest.dropLast() == Self.expected(group, groups: 1)[...] && rest.last?.meta == 99)
  }

  /// A picture that is never shown does not hold the stream for ever.
  @Test(arguments: StreamCodec.allCases) func holdsABoundedNumber(codec: StreamCodec) throws {
    let harness = try Self.harness(codec)
    let sets = codec.parameterSets(reorder: 2)
    var number = 0
    func push(_ nalUnits: [[UInt8]]) throws {
      #expect(harness.push(try Self.buffer(nalUnits, number & 255, time: number)) == 0)
      number += 1
    }
    try push(sets + [codec.picture(.idr, number: 0, order: 0, size: 30)])
    try push([codec.picture(.p, number: 1, order: 60, size: 30)])
    for _ in 0..<300 {
      try push([codec.picture(.b, number: 2, order: 1, size: 30)])
      #expect(number - harness.received <= CaptionOrder<H264>.limit + 1)
    }
    for _ in 0..<300 {
      let structure = unsafe gst_structure_new_empty("event")
      harness.push(unsafe Event(owning: gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, structure)))
    }
    #expect(harness.received > 300)
    harness.endOfStream()
    let times = try Self.pullAll(harness, codec).map(\.time)
    #expect(times == (0..<number).map { UInt64($0) })
  }
}

extension StreamCodec {
  /// Whether a NAL unit is SEI of registered user data alone.
  fileprivate func isCaptionSEI(_ nalUnit: [UInt8]) -> Bool {
    let header: [UInt8] = self == .h264 ? [6] : [0x4E, 1]
    return nalUnit.starts(with: header + [4])
  }
}
