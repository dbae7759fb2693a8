// SPDX-License-Identifier: MPL-2.0
import AVCodec
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

@testable import Elements
@testable import VideoDecoding

/// The decoder's stages that are values, by their results.
@Suite struct DecoderStageTests {
  init() { Harness.initialise() }

  // MARK: Messages

  @Test(
    arguments: [
      (.badData, .stream(.decode), "A picture could not be decoded.", -12909),
      (
        .unsupportedFeature, .stream(.notImplemented), "The stream uses a feature that cannot be decoded.", -12910
      ),
      (.malfunction, .resource(.failed), "The codec failed and could not be replaced.", -12911),
      (.allocationFailed, .resource(.noSpaceLeft), "No memory for decoding.", -12904),
      (.decoderNotFound, .stream(.codecNotFound), "libavcodec has no H.264 decoder.", -12906),
      (.invalidFormatDescription, .stream(.format), "The stream's format cannot be decoded.", -12712),
      (.formatChangeNotSupported, .stream(.format), "The stream's format cannot be decoded.", -12916),
      (.invalidSession, .library(.failed), "The decompression session was misused.", -12903),
      (.invalidArgument, .library(.failed), "The decompression session was misused.", -12902),
    ] as [(DecodeError.Reason, ElementError.Code, String, Int)])
  func reportsFailures(_ reason: DecodeError.Reason, _ code: ElementError.Code, _ text: String, _ status: Int) {
    let message = DecoderMessage<H264>(DecodeError(reason), before: "that follows")
    #expect(message.error.code == code && message.error.message == text)
    #expect(message.error.debug == "\(DecodeError(reason).message); that follows")
    let details = message.details.words()
    #expect(details.hasPrefix("swifth264dec-error,"))
    for field in ["reason=(string)\(reason)", "videotoolbox-status=(int)\(status)", "averror=(int)0"] {
      #expect(details.contains(field))
    }
    #expect(!details.contains("nal-unit") && !details.contains("frame-number") && !details.contains("pts"))
  }

  @Test func messagesNameTheFailedPicture() {
    let error = DecodeError(.badData, code: .invalidData, tag: 3, accessUnitNumber: 4, nalUnitType: 5)
    let fault = PictureFault<H264>(error: error, frameNumber: 7, pts: ClockTime(nanoseconds: 42))
    #expect(fault.description.hasPrefix("picture 7 at 42 ns, NAL unit type 5 ("))
    #expect(fault.description.contains("): \(error.message) (libavcodec: "))
    let message = DecoderMessage(fault, prefix: "the last: ")
    #expect(message.error.debug == "the last: \(fault.description)")
    let details = message.details.words()
    for field in [
      "nal-unit-type=(uint)5", "frame-number=(uint)7", "pts=(guint64)42", "averror=(int)\(error.libavcodecCode)",
      "averror-text=",
    ] {
      #expect(details.contains(field), "\(field) in \(details)")
    }
    let plain = PictureFault<H265>(error: DecodeError(.badData), frameNumber: 8, pts: nil)
    #expect(plain.description == "picture 8: \(DecodeError(.badData).message)")
  }

  @Test func messagesWithoutAnAccessUnitHaveReasonAndStatus() {
    for (code, reason, status) in [
      (.stream(.format), "invalidFormatDescription", -12712), (.resource(.noSpaceLeft), "allocationFailed", -12904),
      (.core(.negotiation), "formatChangeNotSupported", -12916),
    ] as [(ElementError.Code, String, Int)] {
      let details = DecoderMessage<H265>(ElementError(code, "A text.", debug: "")).details.words()
      #expect(details.hasPrefix("swifth265dec-error,"))
      #expect(details.contains("reason=(string)\(reason)") && details.contains("videotoolbox-status=(int)\(status)"))
    }
    let begun = DecoderMessage<H264>.noRandomAccessPoint
    #expect(begun.error.code == .stream(.decode))
    let details = begun.details.words()
    #expect(details.contains("reason=(string)referenceMissing") && details.contains("status=(int)-17694"))
  }

  // MARK: Settings

  @Test func passesSettingsToTheSession() {
    var settings = DecoderSettings()
    func configuration(isLive: Bool = false) -> SessionConfiguration {
      settings.sessionConfiguration(layout: .semiPlanar, isLive: isLive)
    }
    #expect(configuration().outputLayout == .semiPlanar && configuration().outputCorrupt)
    #expect(configuration().threadType == .automatic && configuration(isLive: true).threadType == .slice)
    #expect(configuration().unknownReordering == .expect && configuration(isLive: true).unknownReordering == .adapt)
    #expect(configuration().retries == 5 && configuration().threadCount == 0 && !configuration().lowDelay)
    #expect(!configuration().verifiesPictureHash && configuration().skipFrames == .none)
    settings.lowDelay = true
    settings.outputCorrupt = false
    settings.sessionRetries = 3
    settings.verifiesPictureHash = true
    settings.skipFrame = .nonKey
    #expect(configuration().lowDelay && configuration().unknownReordering == .adapt)
    #expect(!configuration().outputCorrupt && configuration().retries == 3 && configuration().verifiesPictureHash)
    #expect(configuration().skipFrames == .nonKey)
    for (threads, expected) in [(0, 0), (63, 63), (64, 64), (65, 64), (Int32.max, 64)] as [(Int32, Int)] {
      settings.maximumThreads = threads
      #expect(configuration().threadCount == expected)
    }
    let threadings: [(DecoderSettings.ThreadType, SessionConfiguration.ThreadType)] = [
      (.frame, .frame), (.slice, .slice), (.frameAndSlice, .automatic), (.none, .none),
    ]
    for (type, expected) in threadings {
      settings.threadType = type
      #expect(configuration(isLive: true).threadType == expected && configuration().threadType == expected)
    }
    for (compliance, urgent, other) in [
      (.automatic, true, false), (.veryStrict, false, false), (.strict, false, false), (.normal, true, true),
      (.unofficial, true, true), (.experimental, true, true),
    ] as [(DecoderSettings.Compliance, Bool, Bool)] {
      #expect((compliance.sessionValue(isUrgent: true) == .adapt) == urgent)
      #expect((compliance.sessionValue(isUrgent: false) == .adapt) == other)
    }
  }

  @Test func lateRequestsSkipNonReferencePictures() {
    var settings = DecoderSettings()
    var request = FrameRequest(decoding: DecodeRequest(tag: 0))
    #expect(settings.skipFrames(for: request) == .none)
    request.isLate = true
    #expect(settings.skipFrames(for: request) == .nonReference)
    (request.isLate, request.trickMode.allowsSkipping) = (false, true)
    #expect(settings.skipFrames(for: request) == .nonReference)
    for (wanted, expected) in [
      (.bidirectional, .bidirectional), (.nonKey, .nonKey), (.nonReference, .nonReference),
    ] as [(DecoderSettings.SkipFrame, SessionConfiguration.SkipFrames)] {
      settings.skipFrame = wanted
      #expect(settings.skipFrames(for: request) == expected)
    }
  }

  // MARK: Statistics

  @Test func addsUpTheStatisticsOfSessions() {
    var one = SessionStatistics()
    (one.submitted, one.output, one.dropped, one.failed, one.corrupted, one.concealed) = (1, 2, 3, 4, 5, 6)
    (one.hashMismatches, one.restarts, one.replayed, one.resynchronisations) = (7, 8, 9, 10)
    (one.allocatorMisses, one.lost, one.outOfOrder) = (11, 12, 13)
    one.lastError = DecodeError(.badData)
    var sum = one
    var other = one
    other.lastError = nil
    other.submitted = 100
    sum.add(other)
    #expect(sum.submitted == 101 && sum.output == 4 && sum.dropped == 6 && sum.failed == 8 && sum.corrupted == 10)
    #expect(sum.concealed == 12 && sum.hashMismatches == 14 && sum.restarts == 16 && sum.replayed == 18)
    #expect(
      sum.outOfOrder == 26 && sum.resynchronisations == 20 && sum.allocatorMisses == 22
        && sum.lastError?.reason == .badData)
    other.lastError = DecodeError(.malfunction)
    sum.add(other)
    #expect(sum.lastError?.reason == .malfunction)
    let statistics = DecoderStatistics(session: sum, refused: 1000, copied: 77, lastFault: "picture 3")
    let text = statistics.structure(of: "swifth264dec").words()
    #expect(text.hasPrefix("application/x-swifth264dec-stats,"))
    for field in [
      "frames-in=(guint64)1201", "frames-out=(guint64)6", "dropped=(guint64)1009", "lost=(guint64)1036",
      "failed=(guint64)12",
      "corrupted=(guint64)15", "concealed=(guint64)18", "hash-mismatches=(guint64)21", "out-of-order=(guint64)39",
      "session-restarts=(guint64)24",
      "replayed=(guint64)27", "resynchronisations=(guint64)30", "copied=(guint64)77", "last-error=(string)",
    ] {
      #expect(text.contains(field), "\(field)")
    }
  }

  // MARK: Formats

  /// GStreamer's names as of 1.20, whatever newer versions have.
  private static let names = [
    "I420", "NV12", "Y42B", "Y444", "GRAY8", "GRAY16_LE", "I420_10LE", "I420_12LE", "P010_10LE", "P012_LE", "P016_LE",
    "I422_10LE", "I422_12LE", "Y444_10LE", "Y444_12LE", "GBR", "GBR_10LE", "GBR_12LE", "RGBx", "BGRA", "ARGB", "AYUV",
    "YUY2", "UYVY", "YV12", "NV21", "NV16", "NV24", "v210", "v216", "RGB", "RGB16", "A420", "Y41B", "RGB8P", "GBRA",
  ]

  private static func candidates(_ native: VideoFormat, _ downstream: String?) -> [String] {
    let caps = downstream.flatMap { Caps(parsing: $0) }
    return RawFormatChoice.candidates(for: native, allowed: caps).map(\.name)
  }

  /// The order in which downstream's formats are tried, for each format that libavcodec decodes to.
  @Test func triesRawFormatsInOrderOfLoss() throws {
    let all = "video/x-raw, format={ \(Self.names.joined(separator: ", ")) }"
    for native in PixelFormat.allCases.compactMap(\.videoFormat) {
      let others = all.replacing(" \(native.name),", with: "")
      let candidates = Self.candidates(native, others)
      try RecordFile.decoders.expect("candidates \(native.name)", [candidates.joined(separator: " ")])
      #expect(Self.candidates(native, all) == [native.name])
    }
  }

  @Test func usesTheDecodersFormatByDefault() throws {
    let native = try #require(VideoFormat(name: "I420"))
    for (text, expected) in [
      ("ANY", ["I420"]), ("video/x-raw", ["I420"]), (nil, ["I420"]), ("EMPTY", []),
      ("video/x-raw, format=NV12; video/x-raw, width=32", ["I420"]),
      ("video/x-raw, format=NV12; video/x-raw, format={RGB8P, NV12, Y444, I420}", ["I420"]),
      ("video/x-raw, format=NV12; video/x-raw, format={RGB8P, NV12, Y444}", ["NV12", "Y444"]),
    ] as [(String?, [String])] {
      #expect(Self.candidates(native, text) == expected)
    }
    #expect(RawFormatChoice.offered.prefix(2).map(\.name) == ["I420", "NV12"])
    #expect(!RawFormatChoice.offered.contains { $0.hasPalette } && RawFormatChoice.offered.count > 40)
  }

  /// The format that libavcodec decodes a stream to, by chroma format, bit depth and matrix.
  @Test func findsTheRawFormatOfEveryStreamFormat() throws {
    let sets = [H265Stream.vps, H265Stream.sps(), H265Stream.pps()]
    var format = try FormatDescription(h265ParameterSets: sets)
    for chroma in ChromaFormat.allCases {
      var found: [String] = []
      for depth in 7...15 {
        for (chromaDepth, completes, matrix) in [
          (depth, true, 1), (depth, false, 1), (depth, false, 0), (depth + 1, false, 1),
        ] as [(Int, Bool, UInt8)] {
          (format.chromaFormat, format.lumaBitDepth, format.chromaBitDepth) = (chroma, depth, chromaDepth)
          format.colour = ColourDescription(primaries: 1, transfer: 1, matrix: matrix)
          found.append(PictureLayout(format, completesMonochrome: completes)?.pixelFormat.rawValue ?? "-")
        }
      }
      try RecordFile.decoders.expect("pictures \(chroma.name)", [found.joined(separator: " ")])
    }
    format.colour = nil
    (format.chromaFormat, format.lumaBitDepth, format.chromaBitDepth) = (.yuv444, 8, 8)
    #expect(PictureLayout(format, completesMonochrome: true)?.pixelFormat == .yuv444p)
  }

  @Test func paddingHoldsWhatLibavcodecWrites() throws {
    let sets = [H265Stream.vps, H265Stream.sps(), H265Stream.pps()]
    var format = try FormatDescription(h265ParameterSets: sets)
    format.codedSize = VideoSize(width: 200, height: 104)
    format.cropRectangle = CropRectangle(left: 6, top: 4, width: 180, height: 90)
    let layout = try #require(PictureLayout(format, completesMonochrome: true))
    #expect(layout.crop == PictureCrop(left: 6, right: 14, top: 4, bottom: 10))
    #expect(layout.width == 180 && layout.height == 90)
    let alignment = layout.videoAlignment
    #expect(alignment.left == 6 && alignment.top == 4 && alignment.strideMask == 63)
    // 224 × 128 samples, and two rows.
    #expect(alignment.right == 38 && alignment.bottom == 36)
    let whole = PictureLayout(pixelFormat: .yuv420p, codedWidth: 64, codedHeight: 32, crop: PictureCrop())
    #expect(whole.videoAlignment.right == 0 && whole.videoAlignment.bottom == 2)
  }

  private static func request(
    _ format: PixelFormat = .yuv420p, width: Int = 200, height: Int = 104,
    crop: PictureCrop = PictureCrop(left: 6, right: 14, top: 4, bottom: 10)
  ) -> PictureRequest {
    PictureRequest(
      pixelFormat: format, codedWidth: width, codedHeight: height, crop: crop, alignedWidth: 224, alignedHeight: 130,
      strideAlignment: 64)
  }

  @Test func takesOnlyPicturesOfItsLayoutIntoAPool() {
    let layout = PictureLayout(
      pixelFormat: .yuv420p, codedWidth: 200, codedHeight: 104,
      crop: PictureCrop(left: 6, right: 14, top: 4, bottom: 10))
    #expect(layout.fits(Self.request()))
    #expect(!layout.fits(Self.request(.yuv422p)) && !layout.fits(Self.request(width: 202)))
    #expect(!layout.fits(Self.request(height: 106)) && !layout.fits(Self.request(crop: PictureCrop())))
  }

  /// Buffers of a pool with this padding, and of one without, where libavcodec's writes around the picture would
  /// overwrite the next plane.
  @Test func poolBuffersNeedPaddingAroundThePicture() throws {
    let i420 = try #require(VideoFormat(name: "I420"))
    let info = try #require(VideoInfo(format: i420, width: 180, height: 90))
    let crop = PictureCrop(left: 0, right: 20, top: 4, bottom: 10)
    let request = Self.request(crop: crop)
    let layout = PictureLayout(pixelFormat: .yuv420p, codedWidth: 200, codedHeight: 104, crop: crop)
    // The distances of the planes from the first, and their strides.
    func picture(_ alignment: VideoAlignment, _ request: PictureRequest) throws -> [[Int]]? {
      let pool = BufferPool.video()
      var padded = info
      padded.align(alignment)
      var configuration = BufferPool.Configuration(size: UInt32(padded.size), minimum: 0, maximum: 0)
      configuration.alignmentMask = 63
      configuration.videoMeta = true
      configuration.videoAlignment = alignment
      #expect(pool.configure(configuration, caps: info.caps()) && pool.setActive(true))
      defer { pool.setActive(false) }
      let map = try VideoFrameMap(try pool.acquire(), info: info, for: .readingAndWriting)
      guard let planes = unsafe PooledPicture.planes(of: map, for: request) else { return nil }
      let start = unsafe planes[0].start
      var (distances, strides): ([Int], [Int]) = ([], [])
      for index in unsafe planes.indices {
        unsafe distances.append(planes[index].start - start)
        unsafe strides.append(planes[index].stride)
      }
      return [distances, strides]
    }
    let found = try #require(try picture(layout.videoAlignment, request))
    #expect(found[1] == [256, 128, 128])
    #expect(found[0][0] == 0 && found[0][1] >= 256 * 104 && found[0][2] - found[0][1] >= 128 * 52)
    #expect(try picture(VideoAlignment(), request) == nil)
    var low = layout.videoAlignment
    low.bottom = 8
    #expect(try picture(low, request) == nil)
    // Padding of six samples on the left, which is not needed: GStreamer aligns the rows' addresses.
    let cropped = PictureLayout(pixelFormat: .yuv420p, codedWidth: 200, codedHeight: 104, crop: Self.request().crop)
    #expect(try picture(cropped.videoAlignment, Self.request()) == nil)
    // One entry for each plane of the format.
    #expect(try picture(layout.videoAlignment, Self.request(.nv12, crop: crop)) == nil)
  }

  // MARK: The queue

  @Test func queuesAccessUnitsInOrder() {
    var queue = AccessUnitQueue()
    #expect(queue.first == nil)
    queue.removeFirst()
    for number in 1...3 as ClosedRange<FrameNumber> { queue.append(number) }
    queue.prepare(.planning)
    #expect(queue.first?.number == 1)
    queue.removeFirst()
    #expect(queue.first?.number == 2)
    if case .done = queue.preparation {} else { Issue.record("prepared for another") }
    queue.prepare(.planning)
    let rest = queue.removeAll()
    #expect(rest == [2, 3] && queue.first == nil)
    if case .done = queue.preparation {} else { Issue.record("prepared for none") }
  }

  // MARK: Packing

  /// Widths that vector instructions do not divide, in luma and in chroma.
  @Test(arguments: [2, 30, 32, 34, 62, 66, 98], [("I420_10LE", "P010_10LE", 6), ("I420_12LE", "P012_LE", 4)])
  func packsSamplesAtAnyWidth(_ width: Int, _ formats: (String, String, Int)) throws {
    let (planar, packed) = (try #require(VideoFormat(name: formats.0)), try #require(VideoFormat(name: formats.1)))
    let source = try #require(VideoInfo(format: planar, width: width, height: 4))
    let target = try #require(VideoInfo(format: packed, width: width, height: 4))
    let packing = try #require(SemiPlanarPacking(from: planar, to: packed))
    var samples = [UInt8](repeating: 0, count: source.size)
    for index in samples.indices { samples[index] = UInt8(truncatingIfNeeded: index &* 37 >> (index % 2 * 4)) & 0x0F }
    let from = try RepackStream.buffer(samples)
    let into = try RepackStream.buffer([UInt8](repeating: 0, count: target.size))
    do {
      let decoded = try VideoFrameMap(from, info: source, for: .reading)
      var frame = try VideoFrameMap(into, info: target, for: .writing)
      packing.pack(decoded, into: &frame)
    }
    func values(_ buffer: borrowing Buffer, _ info: VideoInfo, plane: Int) throws -> [[UInt16]] {
      let map = try VideoFrameMap(buffer, info: info, for: .reading)
      return (0..<map.rowCount(ofPlane: plane)).map { row in
        let bytes = map.row(row, ofPlane: plane)
        return stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8 }
      }
    }
    let (luma, cb, cr) = (
      try values(from, source, plane: 0), try values(from, source, plane: 1), try values(from, source, plane: 2)
    )
    let shift = UInt16(formats.2)
    let (packedLuma, packedChroma) = (try values(into, target, plane: 0), try values(into, target, plane: 1))
    #expect(packedLuma == luma.map { row in row.map { $0 << shift } })
    var chroma: [[UInt16]] = []
    for (first, second) in zip(cb, cr) {
      chroma.append(first.indices.flatMap { [first[$0] << shift, second[$0] << shift] })
    }
    #expect(packedChroma == chroma)
    guard let unpacking = SemiPlanarPacking(from: packed, to: planar) else {
      #expect(formats.0 != "I420_10LE")
      return
    }
    let back = try RepackStream.buffer([UInt8](repeating: 0, count: source.size))
    do {
      let decoded = try VideoFrameMap(into, info: target, for: .reading)
      var frame = try VideoFrameMap(back, info: source, for: .writing)
      unpacking.pack(decoded, into: &frame)
    }
    for plane in 0...2 {
      let tenBits = [luma, cb, cr][plane].map { row in row.map { $0 & 0x3FF } }
      #expect(try values(back, source, plane: plane) == tenBits)
    }
  }
}
