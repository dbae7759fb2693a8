// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

@testable import Elements

/// The repackager's stages that are values, by their results.
@Suite struct RepackStageTests {
  init() { Harness.initialise() }

  // MARK: Negotiation

  private static let questions = [
    "ANY", "EMPTY", "video/x-h264", "video/x-raw", "video/x-h264, stream-format=avc, alignment=au, width=32",
    "video/x-h264, stream-format=byte-stream, alignment=nal, codec_data=(buffer)01",
    "video/x-h264, stream-format={avc3, byte-stream}; video/x-h264, stream-format=avc, profile=main; audio/x-raw",
  ]

  /// The packagings that a repackager can convert to, and the choice among them.
  @Test(arguments: questions) func listsPossiblePackagings(_ question: String) throws {
    let caps = try Caps.of(question)
    let template = try Caps.of("video/x-h264, stream-format={avc, byte-stream}")
    let filter = try Caps.of("video/x-h264, stream-format={byte-stream, avc}, alignment={nal, au}")
    var found: [String] = []
    for side in [Pad.Direction.sink, .source] {
      let possible = RepackNegotiation<H264>.possibleCaps(caps, on: side, otherTemplate: template, filter: nil)
      found.append(possible.description)
      let filtered = Optional(filter.copy())
      let cut = RepackNegotiation<H264>.possibleCaps(caps, on: side, otherTemplate: template, filter: filtered)
      found.append(cut.description)
    }
    try RecordFile.elements.expect("possible \(question)", found)
  }

  @Test(
    arguments: [
      ("byte-stream, alignment=au", "stream-format=avc; video/x-h264, stream-format=byte-stream", "1 byte-stream au"),
      ("byte-stream, alignment=nal", "stream-format={avc, byte-stream}", "0 byte-stream nal"),
      ("byte-stream, alignment=nal", "stream-format=byte-stream, alignment=au", "0 byte-stream au"),
      ("byte-stream, alignment=nal", "stream-format={avc3, avc}", "0 avc3 au"),
      ("byte-stream, alignment=au", "stream-format=byte-stream, alignment=nal", "0 byte-stream nal"),
      ("avc3, alignment=au", "width=32", "0 avc3 au"), ("avc3, alignment=au", "stream-format=unheard", "0 avc au"),
      ("avc3, alignment=au", "stream-format=avc; video/x-h264, stream-format=avc3", "1 avc3 au"),
      ("avc3", "stream-format=byte-stream", "0 byte-stream au"),
      ("byte-stream", "stream-format=byte-stream", "0 byte-stream nal"),
    ])
  func choosesThePackaging(_ input: String, _ possible: String, _ expected: String) throws {
    let caps = try Caps.of("video/x-h264, stream-format=\(input)")
    let others = try Caps.of("video/x-h264, \(possible)")
    let format = try RepackFormat<H264>(CompressedCaps(caps))
    let choice = RepackNegotiation<H264>.choice(for: format, from: others)
    #expect("\(choice.index) \(choice.streamFormat.rawValue) \(choice.alignment.rawValue)" == expected)
  }

  @Test(
    arguments: [
      ("video/x-h265, stream-format=byte-stream", "expected video/x-h264, found video/x-h265"),
      (
        "video/x-h264, stream-format=unheard",
        "stream-format=unheard is unsupported; expected avc, avc3 or byte-stream"
      ),
      (
        "video/x-h264, stream-format=byte-stream, alignment=frame", "alignment=frame is unsupported; expected au or nal"
      ),
      (
        "video/x-h264, stream-format=byte-stream, codec_data=(buffer)01",
        "stream-format=byte-stream excludes codec_data, which is present"
      ),
    ])
  func refusesUnsupportedCapsWithAReason(_ text: String, _ reason: String) throws {
    let caps = try Caps.of(text)
    let read = CompressedCaps<H264>(caps)
    let error = #expect(throws: ElementError.self) { _ = try RepackFormat<H264>(read) }
    #expect(error?.code == .stream(.format) && error?.debug == reason)
    #expect(error?.message == "Unsupported caps: \(reason).")
  }

  @Test func unreadableCodecDataIsNoErrorYet() throws {
    let caps = try Caps.of("video/x-h264, stream-format=avc, codec_data=(buffer)0102, framerate=25/1")
    let read = CompressedCaps<H264>(caps)
    let format = try RepackFormat<H264>(read)
    #expect(format.packaging == nil && format.alignment == .accessUnit && format.codecData == [1, 2])
    #expect(format.frameRate == Fraction(25, 1))
    #expect(RepackFormat<H264>.unreadable(read).debug.hasPrefix("codec_data of 2 bytes is not an avcC: "))
  }

  // MARK: Dropped NAL units

  @Test(
    arguments: [
      ([], [], []), (.delimiters, [9], [35]), (.filler, [12], [38]), (.supplementalInformation, [6], [39, 40]),
      (.endOfSequence, [10, 11], [36, 37]), (.parameterSets, [7, 8, 13, 15], [32, 33, 34]),
      ([.delimiters, .filler, .endOfSequence], [9, 10, 11, 12], [35, 36, 37, 38]),
    ] as [(RepackSettings.Drop, [UInt8], [UInt8])])
  func typesToDrop(_ drop: RepackSettings.Drop, _ h264: [UInt8], _ h265: [UInt8]) {
    let (first, second) = (drop.types(of: H264.self), drop.types(of: H265.self))
    #expect((0..<32).filter { first.contains($0) } == h264)
    #expect((0..<64).filter { second.contains($0) } == h265)
  }

  // MARK: What is counted

  @Test func countsBuffersBytesAndInsertions() {
    var journal = RepackJournal()
    journal.count(input: 100, isPassedOn: false)
    journal.count(input: 10, isPassedOn: true)
    journal.count(output: 1000, .untouched)
    for _ in 0..<2 { journal.count(output: 2000, .inPlace) }
    for _ in 0..<3 { journal.count(output: 3000, .copied) }
    journal.count(dropped: 4)
    journal.count(insertedParameterSets: 5)
    for _ in 0..<6 { journal.countInsertedDelimiter() }
    for _ in 0..<7 { journal.countParameterSetChange() }
    for _ in 0..<8 { journal.noteMissingParameterSets() }
    let report = journal.takeReport(latency: nil)
    #expect(report.latency == nil && report.warnings.count == 1)
    let text = report.statistics.structure("numbers").words()
    for field in [
      "untouched=(guint64)2", "in-place=(guint64)2", "copied=(guint64)3", "bytes-in=(guint64)110",
      "bytes-out=(guint64)14010", "dropped-nal-units=(guint64)4", "inserted-parameter-sets=(guint64)5",
      "inserted-auds=(guint64)6", "parameter-set-changes=(guint64)7", "dropped-before-parameter-sets=(guint64)8",
      "unreadable-parameter-sets=(guint64)0", "damaged=(guint64)0", "lost=(guint64)0",
      "misplaced-start-codes=(guint64)0",
    ] {
      #expect(text.contains(field), "\(field)")
    }
  }

  /// Each kind of warning is posted once a stream.
  @Test func postsEachWarningOncePerStream() {
    var journal = RepackJournal()
    let kinds: [RepackJournal.Warning] = [
      .damage, .misplacedStartCodes, .noParameterSets, .unreadableParameterSet, .unreadableCodecData,
    ]
    func warn() -> Int {
      for kind in kinds { journal.warnOnce(kind) { ElementError(.stream(.format), "A warning.", debug: "") } }
      return journal.takeReport(latency: nil).warnings.count
    }
    let counts = [warn(), warn()]
    journal.beginStream()
    let anew = warn()
    #expect(counts == [5, 0] && anew == 5)
  }

  @Test func reportsLatencyWhenItChanges() {
    var journal = RepackJournal()
    let waiting = RepackLatency(accessUnits: 1, frameRate: Fraction(25, 1))
    let received = [waiting, waiting, nil, waiting, RepackLatency()].map { journal.takeReport(latency: $0).latency }
    #expect(received == [waiting, nil, nil, nil, RepackLatency()])
    #expect(waiting.time == .milliseconds(40) && RepackLatency(accessUnits: 1).time == nil)
    #expect(RepackLatency(frameRate: Fraction(25, 1)).time == nil)
  }

  // MARK: Damage

  private static func piece(_ bytes: [UInt8], flags: Buffer.Flags = []) throws -> RepackPiece<H264> {
    var buffer = try RepackStream.buffer(bytes)
    buffer.flags.formUnion(flags)
    var history = LengthPrefixed.PacketHistory()
    return try RepackPiece(buffer, packaging: .lengthPrefixed(.four), &history, .everywhere)
  }

  @Test func distinguishesDamage() throws {
    let slice = RepackStream.slice(0, isIDR: true)
    let good = try Self.piece(RepackStream.lengthPrefixed([slice]))
    let cut = try Self.piece(RepackStream.lengthPrefixed([slice]) + [0, 1, 0, 0, 9])
    let bad = try Self.piece([0, 1, 0, 0, 9])
    let codes = try Self.piece(RepackStream.lengthPrefixed([[6, 5, 1, 1, 0x80, 0, 0, 1] + slice]))
    var continuity = RepackContinuity<H264>()
    var journal = RepackJournal()
    func note(_ pieces: [RepackPiece<H264>], unreadable: Int = 0) -> Bool {
      var content = RepackedAccessUnit<H264>()
      for _ in 0..<unreadable {
        content.add(parameterSet: RepackStream.pps().span, .pictureParameterSet, .unreadable)
      }
      continuity.inspect(pieces, &content)
      journal.note(content, in: .outOfBand)
      return continuity.takeLoss()
    }
    let losses = [
      note([good]), note([cut]), note([bad]), note([good, bad]), note([codes], unreadable: 3), note([good]),
    ]
    #expect(losses == [false, false, true, false, false, false])
    let statistics = journal.takeReport(latency: nil).statistics
    #expect(statistics.damaged == 3 && statistics.lost == 1 && statistics.misplacedStartCodes == 1)
    #expect(statistics.unreadableParameterSets == 3)
  }

  @Test func searchesOnlyTheFirstSlices() throws {
    let good = try Self.piece(RepackStream.lengthPrefixed([RepackStream.slice(0, isIDR: true)]))
    let codes = try Self.piece(
      RepackStream.lengthPrefixed([[6, 5, 1, 1, 0x80, 0, 0, 1] + RepackStream.slice(0, isIDR: true)]))
    var continuity = RepackContinuity<H264>()
    func inspect(_ piece: RepackPiece<H264>, lateSets: [[UInt8]] = []) {
      var content = RepackedAccessUnit<H264>()
      for nalUnit in lateSets { content.add(lateParameterSet: nalUnit.span) }
      continuity.inspect([piece], &content)
    }
    func search(_ count: Int) -> NALUnitSearch {
      for _ in 0..<count { inspect(good) }
      return continuity.search(for: .byteStream, keepsPictures: false)
    }
    let before = [search(99), search(1), search(5)]
    #expect(before == [.everywhere, .outsideSlices, .outsideSlices])
    #expect(continuity.isSteady)
    #expect(continuity.search(for: .outOfBand, keepsPictures: true) == .outsideSlices)
    #expect(continuity.search(for: .outOfBand, keepsPictures: false) == .everywhere)
    #expect(continuity.search(for: nil, keepsPictures: false) == .everywhere)
    inspect(codes)
    #expect(!continuity.isSteady)
    let after = [search(99), search(1)]
    #expect(after == [.everywhere, .outsideSlices])
    continuity.noteLoss()
    let steady = (continuity.isSteady, continuity.takeLoss(), continuity.isSteady)
    #expect(steady == (false, true, true))
    inspect(good, lateSets: [RepackStream.pps()])
    let afterLate = [search(99), search(1)]
    #expect(afterLate == [.everywhere, .outsideSlices])
    continuity.beginFormat()
    let anew = search(0)
    #expect(anew == .everywhere)
  }

  /// Only a picture that concerns no other passes without being looked at.
  @Test func recognizesPlainPictures() {
    let parts = [RepackStream.slice(1), RepackStream.slice(1, firstMacroblock: 2)]
    let isPlain: [(Bool, [[UInt8]])] = [
      (true, []), (true, [RepackStream.delimiter]), (true, [RepackStream.delimiter, [6, 5, 1, 1, 0x80]]),
      (false, [RepackStream.delimiter, RepackStream.recoveryPoint]), (false, [RepackStream.pps()]),
      (false, [RepackStream.slice(0, isIDR: true)]), (false, [[0x6E, 0x40, 0x80, 0x07]]), (false, [[0x0C, 0x80]]),
    ]
    for (isPlain, front) in isPlain {
      for (keeps, back) in [
        (true, []), (true, [[0x0C, 0xFF] + [UInt8](repeating: 0xFF, count: 20) + [0x80]]),
        (false, [[0x0A]]), (false, [[0x0A], [0x0B]]),
      ] as [(Bool, [[UInt8]])] {
        let nalUnits = front + parts + back
        for codeLength in [3, 4] {
          let bytes = nalUnits.flatMap { [UInt8](repeating: 0, count: codeLength - 1) + [1] + $0 }
          let holds = PlainPicture<H264>.holds(bytes.span, packaging: .annexB)
          #expect(holds == (isPlain && keeps), "\(nalUnits)")
          // Start codes where lengths should be.
          let isMistaken = PlainPicture<H264>.holds(bytes.span, packaging: .lengthPrefixed(.four))
          #expect(!isMistaken, "\(nalUnits)")
        }
        for size in [NALLengthSize.two, .four] {
          let bytes = nalUnits.flatMap { unit in
            [UInt8](repeating: 0, count: size.byteCount - 1) + [UInt8(unit.count)] + unit
          }
          // NAL units behind the slices are read, because lengths lead to them.
          let expected = isPlain && back.isEmpty
          for end in [bytes.count, bytes.count - 1, bytes.count - back.joined().count - 1] {
            let holds = PlainPicture<H264>.holds(bytes.span.extracting(0..<end), packaging: .lengthPrefixed(size))
            #expect(holds == (expected && end == bytes.count), "\(nalUnits) \(end)")
          }
        }
      }
    }
  }

  /// An empty NAL unit in H.265, whose header would be the next start code, is no slice.
  @Test(arguments: [[0, 0, 1], [0, 0, 1, 0], [0, 0, 1, 0, 0, 1], []] as [[UInt8]])
  func emptyNALUnitsAreNoPictures(_ front: [UInt8]) {
    let slice: [UInt8] = [0, 0, 1, 0x02, 1, 0xD0, 0x80, 7, 7, 7]
    let idr: [UInt8] = [0, 0, 1, 0x26, 1, 0xAF, 0x80, 7, 7, 7]
    for (picture, isPlain) in [(slice, true), (idr, false)] {
      let holds = PlainPicture<H265>.holds((front + picture).span, packaging: .annexB)
      #expect(holds == (isPlain && front.isEmpty), "\(front) \(picture)")
    }
    for count in 0..<8 {
      let holds = PlainPicture<H265>.holds(slice.span.extracting(first: count), packaging: .annexB)
      #expect(!holds || count > 3)
    }
  }

  /// A cut is reported once, at the first random access point after it.
  @Test func reportsCuts() throws {
    let idr = try Self.piece(RepackStream.lengthPrefixed([RepackStream.slice(0, isIDR: true)]))
    let other = try Self.piece(RepackStream.lengthPrefixed([RepackStream.slice(1)]))
    let gap = try Self.piece(RepackStream.lengthPrefixed([RepackStream.slice(1)]), flags: .discontinuity)
    var continuity = RepackContinuity<H264>()
    func cuts(_ pieces: [RepackPiece<H264>]) -> [Bool] { pieces.map { continuity.takeCut([$0]) } }
    let first = cuts([idr, gap, other, idr, idr])
    #expect(first == [false, false, false, true, false])
    continuity.flush()
    let flushed = cuts([other, idr])
    continuity.noteLoss()
    let lost = cuts([idr])
    let isLost = (continuity.takeLoss(), continuity.takeLoss())
    #expect(flushed == [false, true] && lost == [true] && isLost == (true, false))
    continuity.noteLoss()
    continuity.beginStream()
    let forgotten = (continuity.takeLoss(), continuity.takeCut([idr]))
    continuity.noteLoss()
    continuity.flush()
    let afterFlush = continuity.takeLoss()
    #expect(forgotten == (false, false) && !afterFlush)
  }

  // MARK: Held events

  /// A live source may send gaps and events of its own for ever while parameter sets are missing.
  @Test func heldEventsAreBounded() {
    var held = HeldStream()
    for time in 0..<5 as Range<GstClockTime> { held.hold(unsafe Event(owning: gst_event_new_gap(time, 1))) }
    var segment = GstSegment()
    unsafe gst_segment_init(&segment, GST_FORMAT_TIME)
    held.hold(unsafe Event(owning: gst_event_new_segment(&segment)))
    for _ in 0..<2 * HeldStream.limit {
      held.hold(
        unsafe Event(owning: gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("x"))))
    }
    var kinds: [Event.Kind] = []
    while let event = held.takeEvent() { kinds.append(event.kind) }
    #expect(kinds.count == HeldStream.limit && kinds[0] == .segment)
    for time in 0..<5 as Range<GstClockTime> { held.hold(unsafe Event(owning: gst_event_new_gap(time, 1))) }
    var gaps = 0
    while let event = held.takeEvent() { if event.kind == .gap { gaps += 1 } }
    #expect(gaps == 1)
  }

  // MARK: Memory

  /// A buffer has the requested size, in memory of a power of two from 4 kB to 16 MB; larger ones have memory of their
  /// own size.
  @Test(
    arguments: [
      (0, 4096), (1, 4096), (4096, 4096), (4097, 8192), (65_536, 65_536), (65_537, 131_072), (1 << 24, 1 << 24),
      ((1 << 24) + 1, (1 << 24) + 1),
    ])
  func allocatesMemoryInFewSizes(_ size: Int, _ memory: Int) throws {
    var pool = SizedBufferPool()
    for _ in 0..<2 {
      let buffer = try pool.acquire(size)
      var maximum: gsize = 0
      unsafe gst_buffer_get_sizes(buffer.raw, nil, &maximum)
      #expect(buffer.size == size && Int(maximum) >= memory && Int(maximum) < memory + 4096)
    }
  }
}
