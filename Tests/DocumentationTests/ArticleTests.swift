// SPDX-License-Identifier: MPL-2.0
import Foundation
import GStreamer
import H26x
import StreamReport
import Testing
import VideoDecoding
import VideoFiles

@Suite struct ArticleTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static func files(in folder: String, _ ending: String) -> [URL] {
    FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)?
      .compactMap { $0 as? URL }.filter { $0.pathExtension == ending } ?? []
  }

  /// Every Swift code block of an article is part of a file that is compiled: here, in the template of plugin/new, or
  /// in the examples of elements.
  @Test func everyCodeBlockOfArticlesIsCompiled() throws {
    let folders = [
      "Tests/DocumentationTests", "plugin/template", "Tests/GStreamerTests/Elements/Examples", "Examples/Lines",
      "Examples/Runs", "Examples/Sounds", "Examples/Media",
    ]
    let compiled = try folders.flatMap { Self.files(in: $0, "swift") }
      .map { try String(contentsOf: $0, encoding: .utf8) }
    let articles = ["Sources", "Tests/HarnessSupport"].flatMap { Self.files(in: $0, "md") }
    #expect(articles.count >= 10)
    var count = 0
    for article in articles {
      let text = try String(contentsOf: article, encoding: .utf8)
      for block in text.components(separatedBy: "```swift\n").dropFirst() {
        let code = block.components(separatedBy: "```").first ?? ""
        count += 1
        #expect(compiled.contains { $0.contains(code) }, "\(article.lastPathComponent) has other code:\n\(code)")
      }
    }
    #expect(count >= 8)
  }

  /// Every top-level type and function of a library is listed on the library's page.
  @Test(arguments: [
    ("GStreamer", "Sources"), ("GStreamerAudio", "Sources"), ("GStreamerDiscovery", "Sources"), ("H26x", "Sources"),
    ("StreamReport", "Sources"), ("VideoDecoding", "Sources"),
    ("VideoFiles", "Sources"), ("HarnessSupport", "Tests"),
  ])
  func listsEveryPublicTypeOnTheFirstPage(module: String, folder: String) throws {
    func lines(_ path: String) throws -> [Substring] {
      try String(contentsOf: Self.root.appending(path: path), encoding: .utf8).split(separator: "\n")
    }
    let topics = Set(try lines("\(folder)/\(module)/\(module).docc/\(module).md"))
    let names = try lines("Tests/Scripts/PublicSurface/\(module).txt").compactMap { $0.split(separator: " ").first }
    let missing = names.filter { !$0.contains(".") && !topics.contains("- ``\($0)``") }
    #expect(names.count > 10 && missing.isEmpty)
  }

  private let stream: [UInt8]

  init() throws { stream = [UInt8](try Data(contentsOf: Self.root.appending(path: "Tests/Media/clip.h264"))) }

  @Test func cutsAStreamIntoAccessUnits() {
    let found = nalUnits(of: stream)
    #expect(found.count == 317)
    #expect(found.filter { $0.type == .sequenceParameterSet }.count >= 1)
    let sizes = accessUnitSizes(of: stream, inPiecesOf: 1000)
    #expect(sizes.count == 62)
    #expect(sizes.reduce(0, +) == stream.count)
    #expect(accessUnitSizes(of: stream, inPiecesOf: stream.count) == sizes)
  }

  @Test func packagesAStreamAsSamples() throws {
    let runs = try sampleRuns(of: stream)
    #expect(runs.count == 1 && runs.first?.samples.count == 62)
    // A set of the same id that differs begins a run of its own.
    let other = try #require(
      try StreamEditor<H264>.edited(stream, [.colour(ColourDescription(primaries: 9, transfer: 16, matrix: 9))]))
    let both = try sampleRuns(of: stream + other)
    let edited = try sampleRuns(of: other)
    #expect(both.map(\.samples.count) == [62, 62])
    #expect(both.first == runs.first && both.last == edited.first)
    for run in both {
      var count = 0
      let sets = run.record.sequenceParameterSets + run.record.pictureParameterSets
      try decode(run.samples, parameterSets: sets) { _ in count += 1 }
      #expect(count == 62)
    }
  }

  @Test func reportsALostCodec() async throws {
    let accessUnits = AccessUnits(of: stream, codec: .h264)
    let found = try await decode(accessUnits, losingCodecAt: 10, .recoverable)
    #expect(found.shown == 62 && found.missing == 0 && !found.codecWasLost)
    let lost = try await decode(accessUnits, losingCodecAt: 10, .lasting)
    #expect(lost.shown + lost.missing == 62 && lost.missing > 0 && lost.codecWasLost)
  }

  @Test func filterChangesTheFormat() async throws {
    try Tint.register(as: "articletint", typeName: "ArticleTint")
    let line = "videotestsrc pattern=white num-buffers=1 ! video/x-raw,format=GRAY8,width=6,height=2 ! articletint"
    let pipeline = try Pipeline("\(line) ! appsink name=out sync=false")
    var pictures = try pipeline.appSink("out").makeAsyncIterator()
    try await pipeline.play()
    let picture = try #require(try await pictures.next())
    #expect(picture.videoInfo?.format == .rgb && picture.videoInfo?.width == 6)
    let bytes = try picture.copiedBytes()
    #expect(bytes[0] > 200 && bytes[1] == bytes[0] / 2 && bytes[2] == 0)
    await pipeline.stop()
  }

  @Test func decodesUntrustedStreams() async throws {
    #expect(try await decode(AccessUnits(of: stream, codec: .h264), unless: Cancellation()) == 62)
  }

  @Test func theFirstPagesCodeWorks() async throws {
    let format = try #require(try firstFormat(of: stream))
    #expect(format.width == 320 && format.height == 180)
    let means = try await brightness(of: stream, .h264)
    #expect(means.count == 62 && means.allSatisfy { 16 < $0 && $0 < 235 })
  }

  @Test func decodesSamples() throws {
    var (parameterSets, samples): ([[UInt8]], [[UInt8]]) = ([], [])
    var start = 0
    for size in accessUnitSizes(of: stream, inPiecesOf: stream.count) {
      let bytes = stream[start..<start + size]
      start += size
      var (sample, nalUnits) = ([UInt8](), AnnexB.NALUnits(bytes.span))
      while let nalUnit = nalUnits.next() {
        let nalUnit = Array(
          bytes[bytes.startIndex + nalUnit.range.lowerBound..<bytes.startIndex + nalUnit.range.upperBound])
        for shift in [24, 16, 8, 0] { sample.append(UInt8(truncatingIfNeeded: nalUnit.count >> shift)) }
        sample += nalUnit
        if H264.NALUnitType(headerByte: nalUnit[0]).isParameterSet { parameterSets.append(nalUnit) }
      }
      samples.append(sample)
    }
    var count = 0
    try decode(samples, parameterSets: parameterSets) { _ in count += 1 }
    #expect(count == 62)
  }

  @Test func accountsForEveryAccessUnit() async throws {
    let whole = try await account(for: AccessUnits(of: stream, codec: .h264))
    #expect(whole.shown == 62 && whole.damaged == 0 && whole.dropped.isEmpty && whole.failed.isEmpty)
    var damaged = stream
    for index in 20_000..<20_400 { damaged[index] = 0x55 }
    let rest = try await account(for: AccessUnits(of: damaged, codec: .h264))
    #expect(rest.shown < 62 || rest.damaged > 0)
    let dropped = rest.dropped.values.reduce(0, +)
    #expect(rest.shown + rest.failed.count + dropped >= 58)
  }

  @Test func readsPicturesOfAFile() async throws {
    let clip = Self.root.appending(path: "Tests/Media/clip.mp4").path()
    #expect(try await pictureCount(inMP4At: clip, from: .zero) == 62)
    #expect(try await pictureCount(inMP4At: clip, from: .seconds(1)) == 37)
    #expect(try await darkestPicture(inMP4At: clip)?.time != nil)
    for (time, begins) in [(0, 0), (1010, 1000), (1040, 1040), (3000, 2440)] {
      #expect(try await picture(inMP4At: clip, at: .milliseconds(time))?.time == .milliseconds(begins))
    }
  }

  @Test func showsAFile() async throws {
    let clip = Self.root.appending(path: "Tests/Media/clip.mp4").path()
    let shown = URL.temporaryDirectory.appending(path: "shown-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: shown) }
    try await show(mp4At: clip, on: "filesink location=\(shown.path())")
    var expected: [UInt8] = []
    let accessUnits = try MP4AccessUnits(fileAt: clip)
    for try await picture in DecodedPictures(of: accessUnits, configuration: .semiPlanar) {
      expected += picture.copiedBytes()
      let sample = try sample(of: picture)
      #expect(sample.pts.map { Duration($0) } == picture.time)
      #expect(sample.videoInfo?.width == 320)
    }
    #expect(try [UInt8](Data(contentsOf: shown)) == expected)
    // Pictures of other formats than NV12 come as BGRA.
    var native = DecodedPictures(of: accessUnits).makeAsyncIterator()
    let first = try #require(try await native.next())
    #expect(try sample(of: first).copiedBytes() == PictureConverter(to: .bgra).convert(first).bytes)
  }

  /// README's lines are those of the page.
  @Test func readmeHasTheLinesOfThePage() throws {
    let readme = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
    let page = try String(
      contentsOf: Self.root.appending(path: "Sources/VideoFiles/VideoFiles.docc/VideoFiles.md"), encoding: .utf8)
    let code = try #require(
      page.components(separatedBy: "```swift\n").dropFirst().first?.components(separatedBy: "```").first)
    #expect(readme.contains(code))
  }

  @Test func reportsOnAFile() throws {
    let clip = FileInMemory(bytes: stream)
    let sound = try errors(in: clip)
    #expect(sound.accessUnits == 62 && sound.errors.isEmpty)
    var damaged = stream
    // The first NAL unit's forbidden_zero_bit, after its start code.
    damaged[4] |= 0x80
    #expect(try !errors(in: FileInMemory(bytes: damaged)).errors.isEmpty)
    #expect(throws: ReportFailure.self) { try errors(in: FileInMemory(bytes: [1, 2, 3])) }

    let lines = String(decoding: try document(of: clip, fields: false), as: UTF8.self).split(separator: "\n")
    #expect(lines.filter { $0.contains("\"accessUnit\"") }.count >= 62)
    #expect(try document(of: clip, fields: true).count > lines.map(\.utf8.count).reduce(0, +))
  }

  @Test func lowDelayHoldsNothingBackForThreads() async throws {
    var threads = SessionConfiguration()
    threads.threadType = .frame
    threads.threadCount = 3
    let accessUnits = AccessUnits(of: stream, codec: .h264)
    #expect(try await greatestDelay(of: accessUnits, liveConfiguration()) < greatestDelay(of: accessUnits, threads))
  }
}

extension StreamEditor {
  fileprivate static func edited(_ stream: [UInt8], _ edits: [StreamEdit]) throws -> [UInt8]? {
    var editor = StreamEditor(edits)
    return try editor.edit(stream.span, packaging: .annexB)
  }
}

extension SessionConfiguration {
  fileprivate static var semiPlanar: SessionConfiguration {
    var configuration = SessionConfiguration()
    configuration.outputLayout = .semiPlanar
    return configuration
  }
}
