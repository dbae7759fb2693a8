// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import Testing
import VideoDecoding
import VideoFiles

@Suite struct FileAccessUnitsTests {
  private func path(_ name: String) -> String { media.appending(path: name).path() }

  private func all<Source: AsyncSequence>(_ source: Source) async throws -> [AccessUnit]
  where Source.Element == AccessUnit {
    var all: [AccessUnit] = []
    for try await accessUnit in source { all.append(accessUnit) }
    return all
  }

  /// A byte stream has the times that its container gives it, counted from the first decoding time.
  @Test(arguments: [("clip.h264", "clip.mp4"), ("clip.h265", "clip-h265.mp4")])
  func timesEqualThoseOfTheContainer(stream: String, file: String) async throws {
    let fromStream = try await all(try AccessUnits(fileAt: path(stream)))
    let fromFile = try await all(try MP4AccessUnits(fileAt: path(file)))
    let origin = try #require(fromFile.first?.decodingTime)
    #expect(fromStream.count == 62 && fromStream.map(\.tag) == fromFile.map(\.tag))
    #expect(fromStream.map(\.decodingTime) == fromFile.map { $0.decodingTime.map { $0 - origin } })
    #expect(fromStream.map(\.time) == fromFile.map { $0.time.map { $0 - origin } })
    #expect(fromStream.map(\.duration) == fromFile.map(\.duration))
    #expect(fromStream.map(\.isRandomAccessPoint) == fromFile.map(\.isRandomAccessPoint))
  }

  @Test func timesDoNotDependOnPieces() async throws {
    let stream = [UInt8](try Data(contentsOf: media.appending(path: "open-gop.h264")))
    let whole = try await all(AccessUnits(of: stream, codec: .h264))
    let pieces = AsyncStream { continuation in
      for start in stride(from: 0, to: stream.count, by: 777) {
        continuation.yield(Array(stream[start..<min(stream.count, start + 777)]))
      }
      continuation.finish()
    }
    let cut = try await all(AccessUnits(of: pieces, codec: .h264, times: .pictureOrder()))
    #expect(whole.count > 10 && cut.map(\.bytes) == whole.map(\.bytes))
    #expect(cut.map(\.time) == whole.map(\.time) && cut.map(\.decodingTime) == whole.map(\.decodingTime))
    #expect(whole.allSatisfy { $0.time != nil })
    for accessUnit in whole { #expect(try #require(accessUnit.decodingTime) <= #require(accessUnit.time)) }
  }

  /// The two fields of a frame are shown one after the other; the picture has the time of the first.
  @Test func fieldsOfAFrameAreShownOneAfterAnother() async throws {
    let accessUnits = try AccessUnits(fileAt: path("interlaced.h264"), times: .pictureOrder(fallbackRate: Ratio(25, 1)))
    var count = 0
    for try await picture in DecodedPictures(of: accessUnits) {
      #expect(picture.duration == .milliseconds(40) && picture.time != nil)
      count += 1
    }
    #expect(count > 3)
  }

  /// Without times nothing waits, and nothing is known.
  @Test func timesAreOptional() async throws {
    let plain = try await all(try AccessUnits(fileAt: path("clip.h264"), times: .none))
    #expect(plain.count == 62 && plain.allSatisfy { $0.time == nil && $0.decodingTime == nil && $0.duration == nil })
    #expect(plain.filter(\.isRandomAccessPoint).map(\.tag) == [0, 20, 42])
  }

  /// A stream that signals no frame rate has the times of the one that is given.
  @Test func applicationMaySetTheFrameRate() async throws {
    // The smallest stream: no VUI.
    let stream = [UInt8](try Data(contentsOf: media.appending(path: "wide.h264")))
    let signalled = try await all(AccessUnits(of: stream, codec: .h264)).first?.format?.frameRate
    let times = try await all(
      AccessUnits(of: stream, codec: .h264, times: .pictureOrder(fallbackRate: Ratio(50, 1))))
    let expected: Duration = signalled == nil ? .milliseconds(20) : .seconds(1) / Double(signalled!.numerator)
    #expect(times.first?.duration == expected)
  }

  @Test func aFileWithoutAStreamIsAnError() async throws {
    func error(_ path: String) -> String? {
      do throws(VideoFileError) {
        _ = try AccessUnits(fileAt: path)
        return nil
      } catch { return "\(error)" }
    }
    #expect(error(path("make-media.sh")) == "neither H.264 nor H.265")
    #expect(error(path("clip.mp4")) == "neither H.264 nor H.265")
    #expect(error("/nowhere") == "/nowhere: No such file or directory")
    // A codec that is given is not doubted: there are no parameter sets of it.
    #expect(try await all(try AccessUnits(fileAt: path("make-media.sh"), codec: .h265)).isEmpty)
  }

  /// Damage costs no more than the access units that it is in.
  @Test func damageLosesOnlyItsAccessUnits() async throws {
    let stream = [UInt8](try Data(contentsOf: media.appending(path: "clip.h265")))
    var random = UInt64(26)
    for _ in 0..<100 {
      var bytes = stream
      for _ in 0..<20 {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        bytes[Int(random >> 33) % bytes.count] = UInt8(truncatingIfNeeded: random >> 20)
      }
      let found = try await all(AccessUnits(of: bytes, codec: .h265))
      #expect(found.count <= 80)
    }
  }
}
