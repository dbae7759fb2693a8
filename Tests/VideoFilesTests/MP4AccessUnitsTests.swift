// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import StreamReport
import TestSupport
import Testing
import VideoDecoding

@testable import VideoFiles

let media = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "Media")

@Suite struct MP4AccessUnitsTests {
  /// 62 pictures at 25 a second, in ticks of 1/2500 s. The sync samples are 0, 20 and 42. An edit starts at tick 200.
  private let clip: [UInt8]
  private static let frame = Duration.milliseconds(40)

  init() throws { clip = [UInt8](try Data(contentsOf: media.appending(path: "clip.mp4"))) }

  private func all(_ accessUnits: MP4AccessUnits) async throws -> [AccessUnit] {
    var all: [AccessUnit] = []
    for try await accessUnit in accessUnits { all.append(accessUnit) }
    return all
  }

  /// The pictures' mean samples, in the order in which they come out.
  private func means<Source>(_ source: Source) async throws -> [Int]
  where Source: AsyncSequence, Source.Element == AccessUnit {
    var means: [Int] = []
    for try await picture in DecodedPictures(of: source) {
      let luma = picture.plane(0)
      var sum = 0
      for number in 0..<luma.rowCount {
        let row = luma.row(number)
        for column in row.indices { sum += Int(row[column]) }
      }
      means.append(sum)
    }
    return means
  }

  @Test func aFileGivesThePicturesOfItsStream() async throws {
    let path = media.appending(path: "clip.mp4").path()
    let fromFile = try await means(try MP4AccessUnits(fileAt: path))
    let fromStream = try await means(try AccessUnits(fileAt: media.appending(path: "clip.h264").path()))
    #expect(fromFile.count == 62 && fromFile == fromStream)
    let h265 = try await means(try MP4AccessUnits(fileAt: media.appending(path: "clip-h265.mp4").path()))
    #expect(h265.count == 62)
    #expect(try await h265 == means(try AccessUnits(fileAt: media.appending(path: "clip.h265").path())))
  }

  @Test func timesEqualThoseOfThePresentation() async throws {
    let accessUnits = try MP4AccessUnits(of: FileInMemory(bytes: clip))
    #expect(accessUnits.format.codec == .h264 && accessUnits.format.croppedSize.width == 320)
    #expect(accessUnits.duration == Self.frame * 62)
    let all = try await all(accessUnits)
    #expect(all.map(\.tag) == Array(0..<62))
    #expect(all.compactMap(\.time).sorted() == (0..<62).map { Self.frame * $0 })
    #expect(all.compactMap(\.decodingTime) == (-2..<60).map { Self.frame * $0 })
    #expect(all.allSatisfy { $0.duration == Self.frame && !$0.doNotOutput && !$0.isDiscontinuous })
    #expect(all.filter(\.isRandomAccessPoint).map(\.tag) == [0, 20, 42])
    #expect(all.map { $0.format != nil } == [true] + Array(repeating: false, count: 61))
  }

  /// With composition offsets below 0, samples are decoded after they are composed by the file's times.
  @Test func decodingTimesPrecedePresentation() async throws {
    var file = SmallMP4(bytes: clip)
    let table = try #require(file.box(["moov", "trak", "mdia", "minf", "stbl", "ctts"]))
    let places = stride(from: table.start + 20, to: table.start + table.size, by: 8)
    for place in places {
      let offset = file.bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      file.bytes.replaceSubrange(place..<place + 4, with: SmallMP4.word(offset - 200))
    }
    file.edit([(duration: 2480, mediaTime: 0)])
    let (shifted, plain) = try await (
      all(MP4AccessUnits(of: FileInMemory(bytes: file.bytes))), all(MP4AccessUnits(of: FileInMemory(bytes: clip)))
    )
    #expect(shifted.map(\.time) == plain.map(\.time))
    #expect(shifted.map(\.decodingTime) == plain.map(\.decodingTime))
  }

  /// Pictures have the times of their access units, in the order in which they are shown.
  @Test func picturesHaveTimes() async throws {
    var times: [Duration?] = []
    for try await picture in DecodedPictures(of: try MP4AccessUnits(of: FileInMemory(bytes: clip))) {
      times.append(picture.time)
      #expect(picture.duration == Self.frame)
    }
    #expect(times == (0..<62).map { Self.frame * $0 })
  }

  /// Pictures in front of an edit are decoded as far as they are needed, and not shown.
  @Test func editsHideWhatTheyLeaveOut() async throws {
    var file = SmallMP4(bytes: clip)
    file.edit([(duration: 2000, mediaTime: 200 + 30 * 100)])
    let accessUnits = try MP4AccessUnits(of: FileInMemory(bytes: file.bytes))
    #expect(accessUnits.duration == Self.frame * 20)
    let all = try await all(accessUnits)
    // From the sync sample at 20.
    #expect(all.first?.isRandomAccessPoint == true && all.first?.time == .milliseconds(-400))
    let shown = all.filter { !$0.doNotOutput }.compactMap(\.time)
    #expect(shown.sorted() == (0..<20).map { Self.frame * $0 })
    #expect(try await means(accessUnits) == Array(means(try MP4AccessUnits(of: FileInMemory(bytes: clip)))[30..<50]))
  }

  /// An edit that begins inside a picture shows the rest of that picture, even if it lasts longer than its sample. A part
  /// has the pictures that begin in it.
  @Test func editsShowThePictureThatTheyBeginInside() async throws {
    var file = SmallMP4(bytes: clip)
    file.edit([(duration: 2000, mediaTime: 200 + 30 * 100 + 50)])
    let accessUnits = try MP4AccessUnits(of: FileInMemory(bytes: file.bytes))
    let shown = try await all(accessUnits).filter { !$0.doNotOutput }
    let first = shown.first { $0.time == .zero }
    #expect(first?.duration == .milliseconds(20))
    #expect(shown.compactMap(\.time).sorted() == [.zero] + (0..<20).map { .milliseconds(20) + Self.frame * $0 })
    #expect(try await means(accessUnits) == Array(means(try MP4AccessUnits(of: FileInMemory(bytes: clip)))[30...50]))
    let part = accessUnits.part(from: .milliseconds(10))
    #expect(try await means(part).count == 20)
    #expect(try await means(accessUnits.part(from: .zero)).count == 21)
  }

  /// Several parts follow one another in the order of the edit list, an empty edit between them.
  @Test func partsFollowOneAnother() async throws {
    var file = SmallMP4(bytes: clip)
    file.edit([(500, 200 + 4500), (1000, 0xFFFF_FFFF), (500, 200 + 300)])
    let accessUnits = try MP4AccessUnits(of: FileInMemory(bytes: file.bytes))
    let all = try await all(accessUnits)
    let shown = all.filter { !$0.doNotOutput }.compactMap(\.time)
    #expect(shown.sorted() == (Array(0..<5) + Array(15..<20)).map { Self.frame * $0 })
    #expect(all.filter(\.isDiscontinuous).count == 1)
    #expect(accessUnits.duration == Self.frame * 20)
    let whole = try await means(try MP4AccessUnits(of: FileInMemory(bytes: clip)))
    #expect(try await means(accessUnits) == Array(whole[45..<50] + whole[3..<8]))
  }

  @Test func aPartBeginsAtTheSyncSampleBefore() async throws {
    let accessUnits = try MP4AccessUnits(of: FileInMemory(bytes: clip))
    let part = accessUnits.part(from: .seconds(1), to: .milliseconds(2001))
    let all = try await all(part)
    #expect(all.first?.isRandomAccessPoint == true && all.first?.format != nil)
    #expect(all.filter { !$0.doNotOutput }.compactMap(\.time).sorted() == (25...50).map { Self.frame * $0 })
    #expect(try await means(part) == Array(means(accessUnits)[25...50]))
    let within = part.part(from: .zero, to: .milliseconds(1040))
    #expect(try await means(within).count == 1)
    #expect(try await self.all(accessUnits.part(from: .seconds(1000))).isEmpty)
    #expect(try await self.all(accessUnits.part(from: .seconds(2), to: .seconds(1))).isEmpty)
    let most = Duration.seconds(Int64.max)
    #expect(try await self.all(accessUnits.part(from: .zero - most, to: most)).count == 62)
  }

  /// Whatever the tick of the track is: pictures begin at the start or later, and before the end.
  @Test func partsMayEndBetweenTicks() async throws {
    let accessUnits = try MP4AccessUnits(of: FileInMemory(bytes: clip))
    func times(_ start: Duration, _ end: Duration) async throws -> [Duration] {
      try await all(accessUnits.part(from: start, to: end)).filter { !$0.doNotOutput }.compactMap(\.time).sorted()
    }
    let short = Duration.nanoseconds(1)
    #expect(try await times(.zero, .microseconds(100)) == [.zero])
    #expect(try await times(.zero, short) == [.zero])
    #expect(try await times(.seconds(1), .seconds(1) + short) == [.seconds(1)])
    #expect(try await times(.seconds(1) + short, .milliseconds(1080)) == [.milliseconds(1040)])
    #expect(try await times(.seconds(1) - short, .seconds(1)) == [])
  }

  /// A session whose format has no `nalLengthSize` is for byte streams.
  @Test func samplesFailInAByteStreamSession() async throws {
    let accessUnits = try MP4AccessUnits(of: FileInMemory(bytes: clip))
    var format = accessUnits.format
    format.nalLengthSize = nil
    let session = try DecompressionSession(format: format)
    for try await var accessUnit in accessUnits {
      accessUnit.format = nil
      try session.decode(accessUnit)
    }
    session.drain()
    var failures = 0
    while let result = session.nextResult() {
      guard case .failed(_, let error) = result else { continue }
      failures += error.reason == .badData ? 1 : 0
    }
    #expect(failures == 62)
  }

  /// Files that are no MP4, and MP4 without video.
  @Test func errorsNameTheMissingPart() {
    func description(_ bytes: [UInt8]) -> String? {
      do throws(VideoFileError) {
        _ = try MP4AccessUnits(of: FileInMemory(bytes: bytes))
        return nil
      } catch { return "\(error)" }
    }
    #expect(description([]) == "neither MP4 nor MOV: there is no moov box")
    #expect(description([0x1A, 0x45, 0xDF, 0xA3] + [UInt8](repeating: 0, count: 60)) == "neither MP4 nor MOV")
    var sound = clip
    let entry = SmallMP4(bytes: clip).box(["moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1"])?.start ?? 0
    sound.replaceSubrange(entry + 4..<entry + 8, with: Array("mp4a".utf8))
    #expect(description(sound) == "no track of H.264 or H.265")
  }

  /// "avc3": the configuration record has no parameter sets, and the samples have them.
  @Test func parameterSetsMayBeInTheSamples() async throws {
    var file = SmallMP4(bytes: clip)
    let entry = ["moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1", "avcC"]
    file.replace(entry, with: SmallMP4.box("avcC", [1, 66, 0, 30, 0xFF, 0xE0, 0]))
    let accessUnits = try MP4AccessUnits(of: FileInMemory(bytes: file.bytes))
    #expect(accessUnits.format.croppedSize.width == 320 && accessUnits.format.nalLengthSize == .four)
    #expect(try await means(accessUnits).count == 62)
    // Where they have none either, nothing can be decoded: each SPS becomes filler data.
    for place in 48..<61_000 where file.bytes[place - 4..<place].elementsEqual([0, 0, 0, 28]) {
      if file.bytes[place] == 0x67 { file.bytes[place] = 12 }
    }
    do throws(VideoFileError) {
      _ = try MP4AccessUnits(of: FileInMemory(bytes: file.bytes))
      Issue.record("no error")
    } catch {
      guard case .format(let reason) = error else { throw error }
      #expect(reason.reason == .missingParameterSet)
    }
  }

  // MARK: Bad files

  /// What a truncated file has is decoded before the error.
  @Test func decodesATruncatedFileUpToTheError() async throws {
    var file = SmallMP4(bytes: clip)
    // The samples move to the end of the file, which then lacks the last of them.
    let offsets = try #require(file.box(["moov", "trak", "mdia", "minf", "stbl", "stco"]))
    file.bytes.replaceSubrange(
      offsets.start + 16..<offsets.start + 20, with: SmallMP4.word(file.bytes.count + 8))
    file.bytes += SmallMP4.word(61_056) + Array("mdat".utf8) + clip[48..<40_000]
    // The box is longer than the file.
    let size = file.bytes.count - clip.count
    file.bytes.replaceSubrange(clip.count..<clip.count + 4, with: SmallMP4.word(size))
    var pictures = DecodedPictures(of: try MP4AccessUnits(of: FileInMemory(bytes: file.bytes))).makeAsyncIterator()
    var count = 0
    do {
      while try await pictures.next() != nil { count += 1 }
      Issue.record("no error")
    } catch {
      guard case .source(.container(let reason)) = error else { throw error }
      #expect(reason.reason == .truncated && reason.box == FourCharacterCode("mdat"))
      #expect("\(error)".contains("truncated"))
    }
    #expect(count > 30 && count < 62)
    #expect(try await pictures.next() == nil)
  }

  @Test func aFileWithoutVideoIsAnError() async throws {
    func error(_ path: String) -> String? {
      do throws(VideoFileError) {
        _ = try MP4AccessUnits(fileAt: path)
        return nil
      } catch { return "\(error)" }
    }
    #expect(error("/nowhere") == "/nowhere: No such file or directory")
    #expect(error("/tmp") == "/tmp: not a regular file")
    let pipe = FileManager.default.temporaryDirectory.appending(path: "pipe-\(UUID().uuidString)").path()
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    defer { unsafe unlink(pipe) }
    #expect(error(pipe) == "\(pipe): not a regular file")
    #expect(error(media.appending(path: "clip.h264").path()) == "neither MP4 nor MOV")
  }

  /// No file, whatever is in it, makes the reader trap or run for ever.
  @Test func damagedFilesNeverTrapOrHang() async throws {
    let headers = try #require(SmallMP4(bytes: clip).box(["moov"]))
    var generator = SeededGenerator(state: 26)
    var (readable, errors) = (0, 0)
    for round in 0..<1500 {
      var bytes = clip
      if round % 3 == 0 { bytes.removeLast(Int.random(in: 1...2000, using: &generator)) }
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let place = Int.random(in: headers.start..<headers.start + headers.size, using: &generator)
        guard place < bytes.count else { continue }
        bytes[place] = [0, 0xFF, 0x7F, 0x80, .random(in: 0...255, using: &generator)].randomElement(using: &generator)!
      }
      do throws(VideoFileError) {
        let accessUnits = try MP4AccessUnits(of: FileInMemory(bytes: bytes))
        _ = accessUnits.duration
        var iterator = accessUnits.part(from: .milliseconds(round), to: .seconds(2)).makeAsyncIterator()
        while let accessUnit = try await iterator.next() { readable += accessUnit.bytes.isEmpty ? 0 : 1 }
      } catch { errors += 1 }
    }
    #expect(readable > 1000 && errors > 100)
  }

  /// Edits may claim any time.
  @Test func extremeEditTimesDoNotOverflow() async throws {
    for (duration, mediaTime) in [(0xFFFF_FFFF, 0x7FFF_FFFF), (1, 0x7FFF_FFFF), (0xFFFF_FFFF, 0), (0, 0)] {
      var file = SmallMP4(bytes: clip)
      file.edit(Array(repeating: (duration, mediaTime), count: 1024))
      let accessUnits = try MP4AccessUnits(of: FileInMemory(bytes: file.bytes))
      _ = accessUnits.duration
      var iterator = accessUnits.makeAsyncIterator()
      var count = 0
      while count < 200, try await iterator.next() != nil { count += 1 }
      #expect(count <= 200)
    }
  }

  @Test func timesAreConvertedWithoutOverflow() {
    for timescale in [1, 2500, 30_000, UInt32.max] {
      let time = TrackTime(timescale: timescale)
      for ticks in [Int64.min, .min + 1, -1, 0, 1, 100, .max - 1, .max] {
        let duration = time.duration(ticks)
        // At more than a tick a nanosecond the nearest nanosecond is that of several.
        #expect(timescale == .max || time.ticks(duration) == ticks)
      }
      #expect(time.ticks(.seconds(Int64.max) + .milliseconds(999)) == .max)
      #expect(time.ticks(.zero - .seconds(Int64.max)) == (timescale == 1 ? -.max : .min))
    }
  }
}
