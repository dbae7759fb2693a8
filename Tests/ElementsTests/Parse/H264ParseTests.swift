// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// Behaviour of the parser that stock's tests do not cover.
@Suite(.serialized) struct H264ParseTests {
  typealias Stream = ParseStream

  private static let raw = "video/x-h264"
  private static let toBytes = "stream-format=byte-stream, alignment=au"

  private func frames(_ duration: Double, rate: Double = 25) -> ClockTime {
    ClockTime(nanoseconds: UInt64(duration * 1_000_000_000 / rate))
  }

  // MARK: Timestamps

  /// I P B B, twice: counts of 2 a frame, reordering by one frame.
  private static let reordered: [UInt8] =
    Stream.byteStream(
      Stream.spsToOrder(reorder: 1), Stream.ppsToOrder(), Stream.slice(2, number: 0, order: 0, idr: true),
      Stream.slice(0, number: 1, order: 6), Stream.slice(1, number: 2, order: 2, reference: 0),
      Stream.slice(1, number: 2, order: 4, reference: 0), Stream.slice(0, number: 2, order: 12),
      Stream.slice(1, number: 3, order: 8, reference: 0), Stream.slice(1, number: 3, order: 10, reference: 0))

  @Test(arguments: [1, 11, 100_000]) func aRawStreamGetsPresentationTimes(_ pieces: Int) throws {
    let harness = try Harness.parse(from: Self.raw, to: Self.toBytes)
    var rest = Self.reordered[...]
    while !rest.isEmpty {
      #expect(harness.push([UInt8](rest.prefix(pieces))) == 0)
      rest = rest.dropFirst(pieces)
    }
    harness.endOfStream()
    var last = ClockTime.zero
    for place in [0.0, 3, 1, 2, 6, 4, 5] {
      let buffer = try harness.pull()
      let decoding = buffer.dts ?? .zero
      let presentation = buffer.pts ?? .zero
      // Reordering by one frame: the first picture is decoded at 0 and shown at 1.
      #expect(presentation == frames(place + 1))
      #expect(decoding <= presentation)
      #expect(decoding >= last)
      #expect(buffer.duration == frames(1))
      last = decoding
    }
    #expect(harness.waiting == 0)
  }

  /// Constrained Baseline as cameras send it, without a signalled reorder depth, and streams that signal 0. The first
  /// picture is shown immediately, whatever the step of the POCs.
  @Test(
    arguments: [
      Stream.spsToOrder(profile: 66, constraints: 0xC0), Stream.spsToOrder(reorder: 0),
    ], [1, 2, 4] as [UInt32])
  func withoutBFramesPicturesAreShownInDecodingOrder(_ sps: [UInt8], step: UInt32) throws {
    let harness = try Harness.parse(from: Self.raw, to: Self.toBytes)
    var stream = Stream.byteStream(sps, Stream.ppsToOrder())
    for picture: UInt32 in 0..<6 {
      // Two groups of three pictures.
      let place = picture % 3
      stream += Stream.byteStream(
        Stream.slice(place == 0 ? 2 : 0, number: place, order: place * step, idr: place == 0, idrID: picture / 3))
    }
    #expect(harness.push(stream) == 0)
    harness.endOfStream()
    for picture in 0..<6 {
      let buffer = try harness.pull()
      #expect(buffer.pts == frames(Double(picture)))
      #expect(buffer.dts == frames(Double(picture)))
    }
  }

  @Test func aSecondSequenceFollowsOnTheFirst() throws {
    let harness = try Harness.parse(from: Self.raw, to: Self.toBytes)
    #expect(harness.push(Self.reordered + Self.reordered) == 0)
    harness.endOfStream()
    #expect(harness.received == 14)
    for _ in 0..<7 { _ = try harness.pull() }
    let second = try harness.pull()
    #expect(second.pts == frames(8))
  }

  @Test func keepsUpstreamPTSAndRebuildsDTS() throws {
    let harness = try Harness.parse(
      from: "video/x-h264, stream-format=byte-stream, alignment=au", to: Self.toBytes)
    let units = [
      Stream.byteStream(
        Stream.spsToOrder(reorder: 1), Stream.ppsToOrder(), Stream.slice(2, number: 0, order: 0, idr: true)),
      Stream.byteStream(Stream.slice(0, number: 1, order: 6)),
      Stream.byteStream(Stream.slice(1, number: 2, order: 2, reference: 0)),
    ]
    for (unit, time) in zip(units, [1000, 1120, 1040] as [UInt64]) {
      #expect(harness.push(unit, pts: ClockTime(nanoseconds: time * 1_000_000)) == 0)
    }
    for (presentation, decoding) in [(1000, 960), (1120, 1000), (1040, 1040)] as [(UInt64, UInt64)] {
      let buffer = try harness.pull()
      #expect(buffer.pts == ClockTime(nanoseconds: presentation * 1_000_000))
      #expect(buffer.dts == ClockTime(nanoseconds: decoding * 1_000_000))
    }
  }

  // MARK: Access units

  @Test func keepsSlicesInAnyOrderAndRedundantOnesTogether() throws {
    let harness = try Harness.parse(from: Self.raw, to: Self.toBytes)
    let pps = Stream.ppsToOrder(redundant: true)
    let picture = [1, 0, 3, 2].map {
      Stream.slice(2, number: 0, order: 0, idr: true, first: $0, redundant: 0)
    }
    let redundant = Stream.slice(2, number: 0, order: 0, idr: true, first: 0, redundant: 1)
    // The first slice of the second picture is lost.
    let second = Stream.slice(0, number: 1, order: 2, first: 2, redundant: 0)
    #expect(harness.push(Stream.byteStream(Stream.spsToOrder(), pps)) == 0)
    for nalUnit in picture + [redundant, second] { #expect(harness.push(Stream.byteStream(nalUnit)) == 0) }
    harness.endOfStream()
    #expect(harness.received == 2)
    let first = try harness.pull()
    #expect(
      first.size == 6 + Stream.byteStream(Stream.spsToOrder(), pps).count + 4 * 5
        + (picture + [redundant]).joined().count)
    #expect(!first.flags.contains(.deltaUnit))
    let last = try harness.pull()
    #expect(last.flags.contains(.deltaUnit))
  }

  @Test func fieldsAreAccessUnitsOfTheirOwn() throws {
    let harness = try Harness.parse(from: Self.raw, to: Self.toBytes)
    let sps = Stream.spsToOrder(frameOnly: false, reorder: 0)
    #expect(
      harness.push(
        Stream.byteStream(
          sps, Stream.ppsToOrder(), Stream.slice(2, number: 0, order: 0, idr: true, field: 0, frameOnly: false),
          Stream.slice(0, number: 0, order: 1, field: 1, frameOnly: false),
          Stream.slice(0, number: 1, order: 2, field: 0, frameOnly: false),
          Stream.slice(0, number: 1, order: 3, field: 1, frameOnly: false))) == 0)
    harness.endOfStream()
    #expect(harness.received == 4)
    for place in [0, 0.5, 1, 1.5] {
      let buffer = try harness.pull()
      #expect(buffer.pts == frames(place))
      #expect(buffer.duration == frames(0.5))
      #expect(buffer.flags.contains(.interlaced))
      #expect(!buffer.flags.contains(.oneField))
    }
    #expect(try harness.outputCapsText().contains("coded-picture-structure=(string)field,"))
  }

  @Test func dropsNALUnitTypesOfRTP() throws {
    let harness = try Harness.parse(from: Self.raw, to: Self.toBytes)
    #expect(
      harness.push(
        Stream.byteStream(
          Stream.sps, Stream.pps, [0x78, 1, 2, 3], Stream.idr, [0x7D, 4, 5, 6], Stream.delimiter, Stream.idr)) == 0)
    harness.endOfStream()
    #expect(
      try harness.pullAll() == [
        Stream.byteStream(Stream.delimiter, Stream.sps, Stream.pps, Stream.idr),
        Stream.byteStream(Stream.delimiter, Stream.idr),
      ])
  }

  // MARK: Parameter sets

  @Test func aRepeatedSPSSendsNoNewCaps() throws {
    let harness = try Harness.parse(from: Self.raw, to: "stream-format=avc, alignment=au")
    let unit = Stream.byteStream(Stream.sps, Stream.pps, Stream.idr)
    for _ in 0..<5 { #expect(harness.push(unit) == 0) }
    harness.endOfStream()
    #expect(harness.received == 5)
    #expect(capsEvents(harness) == 1)
  }

  @Test func aChangedSPSChangesCapsBeforeItsPicture() throws {
    let harness = try Harness.parse(from: Self.raw, to: Self.toBytes)
    for width: UInt32 in [2, 4, 2] {
      #expect(
        harness.push(
          Stream.byteStream(
            Stream.spsToOrder(width: width, reorder: 0), Stream.ppsToOrder(),
            Stream.slice(2, number: 0, order: 0, idr: true))) == 0)
    }
    harness.endOfStream()
    #expect(harness.received == 3)
    #expect(capsEvents(harness) == 3)
    #expect(try harness.outputCapsText().contains("width=(int)32,"))
  }

  private func capsEvents(_ harness: Harness) -> Int {
    var count = 0
    while let event = harness.tryPullEvent() {
      if event.kind == .caps { count += 1 }
    }
    return count
  }

  @Test func insertsParameterSetsAfterAFlush() throws {
    let harness = try Harness.parse(from: Self.raw, to: "stream-format=avc, alignment=au")
    #expect(harness.push(Stream.byteStream(Stream.sps, Stream.pps, Stream.idr)) == 0)
    harness.flush()
    #expect(harness.push(Stream.byteStream(Stream.idr, Stream.idr)) == 0)
    harness.endOfStream()
    let units = try harness.pullAll()
    #expect(units == [Stream.packet(Stream.sps, Stream.pps, Stream.idr), Stream.packet(Stream.idr)])
  }

  @Test func answersAKeyUnitRequestBeforeTheKeyframe() throws {
    let harness = try Harness.parse(
      from: "video/x-h264, stream-format=byte-stream, alignment=au", to: Self.toBytes)
    let first = Stream.byteStream(Stream.sps, Stream.pps, Stream.idr)
    #expect(harness.push(first, pts: .zero) == 0)
    unsafe harness.pushUpstream(
      Event(owning: gst_video_event_new_upstream_force_key_unit(GstClockTime.max, 1, 7)))
    #expect(harness.push(Stream.byteStream(Stream.idr), pts: .second) == 0)
    var answers = 0
    while let event = harness.tryPullEvent() {
      guard let request = ForceKeyUnit(event) else { continue }
      answers += 1
      #expect(request.count == 7)
      #expect(request.runningTime == .second)
    }
    #expect(answers == 1)
    _ = try harness.pull()
    #expect(
      try harness.pullBytes() == Stream.byteStream(Stream.delimiter, Stream.sps, Stream.pps, Stream.idr))
  }

  // MARK: Metas and flags

  @Test func keepsEachOfSeveralUserDataMessages() throws {
    let harness = try Harness.parse(from: Self.raw, to: Self.toBytes)
    let uuid = [UInt8](1...16)
    let information = seiNALUnit([(.userDataUnregistered, uuid + [7, 8]), (.userDataUnregistered, uuid)])
    #expect(harness.push(Stream.byteStream(Stream.sps, Stream.pps, information, Stream.idr)) == 0)
    harness.endOfStream()
    let buffer = try harness.pull()
    #expect(buffer.metaCount(gst_video_sei_user_data_unregistered_meta_api_get_type()) == 2)
    #expect(buffer.flags.contains(.header))
  }

  /// Before GStreamer 1.24.12, copying its own meta of 0 bytes is a critical warning, which is fatal here. Since that
  /// release its own meta is used, whose data is NULL.
  @Test func emptyUserDataCanBeCopied() throws {
    let harness = try Harness.parse(from: Self.raw, to: Self.toBytes)
    let information = seiNALUnit([(.userDataUnregistered, [UInt8](1...16))])
    #expect(harness.push(Stream.byteStream(Stream.sps, Stream.pps, information, Stream.idr)) == 0)
    harness.endOfStream()
    var buffer = try harness.pull()
    for _ in 0..<3 {
      guard let copy = buffer.region(0..<buffer.size, withMetadata: true) else { throw Harness.Failure.noBuffer }
      buffer = copy
    }
    let kind = gst_video_sei_user_data_unregistered_meta_api_get_type()
    #expect(buffer.metaCount(kind) == 1)
    let meta = try unsafe #require(gst_buffer_get_meta(buffer.raw, kind))
    let data = unsafe UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstVideoSEIUserDataUnregisteredMeta.self)
    var version: (guint, guint, guint, guint) = (0, 0, 0, 0)
    unsafe gst_version(&version.0, &version.1, &version.2, &version.3)
    let isOwn = cgst_takes_empty_user_data(version.0, version.1, version.2) == 0
    #expect(unsafe data.pointee.size == 0 && (data.pointee.data != nil) == isOwn)
    #expect(unsafe data.pointee.uuid.0 == 1 && data.pointee.uuid.15 == 16)
  }

  @Test func setsBufferFlagsByPictureType() throws {
    let harness = try Harness.parse(from: Self.raw, to: Self.toBytes)
    #expect(harness.push(Self.reordered) == 0)
    harness.endOfStream()
    let first = try harness.pull()
    #expect(first.flags.isSuperset(of: [.header, .marker]))
    #expect(!first.flags.contains(.deltaUnit))
    let second = try harness.pull()
    #expect(second.flags.isSuperset(of: [.deltaUnit, .marker]))
    #expect(!second.flags.contains(.droppable))
    let third = try harness.pull()
    #expect(third.flags.contains(.droppable))
  }

  @Test func aRecoveryPointIsARandomAccessPoint() throws {
    let harness = try Harness.parse(from: Self.raw, to: Self.toBytes)
    #expect(
      harness.push(
        Self.reordered
          + Stream.byteStream([0x06, 0x06, 0x01, 0xC4, 0x80], Stream.slice(2, number: 3, order: 14))) == 0)
    harness.endOfStream()
    #expect(harness.received == 8)
    for _ in 0..<7 { _ = try harness.pull() }
    let last = try harness.pull()
    #expect(!last.flags.contains(.deltaUnit))
  }

  // MARK: Bad input

  @Test(arguments: [
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D],
    ParseStream.byteStream(ParseStream.sps, ParseStream.pps), ParseStream.byteStream(ParseStream.idr, ParseStream.idr),
  ]) func inputWithoutAPictureEndsWithAnError(_ bytes: [UInt8]) throws {
    let harness = try Harness.parse(from: Self.raw, to: Self.toBytes)
    harness.collectMessages()
    #expect(harness.push(bytes) == 0)
    harness.endOfStream()
    let messages = harness.takeMessages()
    #expect(messages.first?.contains("no picture found in \(bytes.count) bytes") == true)
  }

  @Test func randomBytesNeverTrap() throws {
    var state: UInt64 = 88
    func random() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state >> 33
    }
    for round in 0..<150 {
      let output = ["stream-format=byte-stream, alignment=nal", "stream-format=avc, alignment=au", Self.toBytes][
        round % 3]
      let harness = try Harness.parse("config-interval=-1", from: Self.raw, to: output)
      var bytes = Self.reordered + Stream.byteStream(Stream.sps, Stream.pps, Stream.masteringDisplay, Stream.idr)
      for _ in 0..<(random() % 40) { bytes[Int(random()) % bytes.count] = UInt8(truncatingIfNeeded: random()) }
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = 1 + Int(random() % 60)
        _ = harness.push([UInt8](rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
      harness.endOfStream()
      // After the damage a good picture comes through.
      harness.flush()
      #expect(harness.push(Stream.byteStream(Stream.sps, Stream.pps, Stream.idr)) == 0)
      let before = harness.received
      harness.endOfStream()
      #expect(harness.received > before)
    }
  }

  @Test func countsAccessUnitsIDRPicturesAndGroups() throws {
    let harness = try Harness.parse(from: Self.raw, to: Self.toBytes)
    #expect(harness.push(Self.reordered + Self.reordered) == 0)
    harness.endOfStream()
    let stats = harness.text("stats").filter { $0 != "\\" }
    for field in ["access-units=(guint64)14", "idr-pictures=(guint64)2", "gop-length-max=(guint64)7"] {
      #expect(stats.contains(field))
    }
  }
}
