// SPDX-License-Identifier: MPL-2.0
import Dispatch
import GStreamer
import GStreamerDiscovery
import HarnessSupport
import Testing

@Suite struct DiscovererTests {
  private static let media: String =
    "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Media/"

  init() { Harness.initialise() }

  private func uri(_ file: String) throws -> String { try #require(Runtime.uri(ofFile: Self.media + file)) }

  @Test func findsDurationStreamsAndFormats() async throws {
    let media = try await Discoverer().media(at: uri("clip.mkv"))
    #expect(media.isSeekable && !media.isLive && media.missingElements.isEmpty)
    #expect(try #require(media.duration) > .seconds(1))
    #expect(media.streams.first?.content == .container)
    #expect(media.streams.first?.caps?.mediaType == "video/x-matroska")
    let video = try #require(media.videoStreams.first)
    guard case .video(let pictures) = video.content else {
      Issue.record("no video")
      return
    }
    #expect([pictures.width, pictures.height] == [320, 180] && !pictures.isInterlaced)
    #expect(pictures.pixelAspectRatio == Fraction(1, 1) && pictures.frameRate.numerator > 0)
    #expect(video.caps?.mediaType == "video/x-h264" && !video.id.isEmpty)
  }

  @Test func findsSubtitlesAndTheirLanguage() async throws {
    let media = try await Discoverer().media(at: uri("subtitles.mkv"))
    let texts = media.streams.filter { if case .subtitles = $0.content { true } else { false } }
    #expect(!texts.isEmpty)
  }

  @Test func everyURIHasItsResult() async throws {
    let uris = [try uri("clip.mp4"), "file:///there/is/none", "no URI", try uri("checksums.md5")]
    var results: [String] = []
    for await (uri, result) in Discoverer().media(at: uris) {
      switch result {
      case .success(let media): results.append("\(uri == media.uri) \(media.videoStreams.count)")
      case .failure(.failed(let failed, let reason)): results.append("\(uri == failed) \(reason.isEmpty)")
      case .failure(let error): results.append("\(error)")
      }
    }
    #expect(results == ["true 1", "true false", "“no URI” is not a URI", "true false"])
  }

  /// A protocol that no element takes is no reason to wait.
  @Test func anUnknownProtocolIsAnError() async throws {
    await #expect(throws: DiscoveryError.self) { try await Discoverer().media(at: "nonsense://somewhere") }
  }

  @Test func cancellingEndsADiscovery() async throws {
    try StallingSource.register(as: "teststallingsource", typeName: "GstTestStallingSource", rank: .primary)
    let discovery = Task {
      do throws(DiscoveryError) {
        _ = try await Discoverer(timeout: .seconds(3600)).media(at: "teststall://for/ever")
        return DiscoveryError?.none
      } catch { return error }
    }
    // It waits for data when it is cancelled.
    for await _ in StallingSource.stalls.stream {}
    discovery.cancel()
    #expect(await discovery.value == .cancelled)
  }
}

/// A source that nothing comes from.
private final class StallingSource: PushSource {
  static let stalls = AsyncStream.makeStream(of: Void.self)
  private let unlocked = DispatchSemaphore(value: 0)

  override class var padTemplates: [PadTemplate] { [.source("ANY")] }
  override class var uriHandler: URIHandler? {
    .source(of: ["teststall"]) { (_: StallingSource) in
      "teststall://for/ever"
    } set: { _, _ in
    }
  }
  override func nextBuffer() throws(FlowError) -> Buffer {
    Self.stalls.continuation.finish()
    unlocked.wait()
    throw .flushing
  }
  override func unlock() { unlocked.signal() }
}
