// SPDX-License-Identifier: MPL-2.0
import AVCodec
import AVFormat
import Foundation
import StreamReport
import TestSupport
import Testing

/// Our reader of MP4 finds what libavformat finds: samples, where they are, their times and which are sync samples.
@Suite(.enabled(if: FormatLibrary.isAvailable)) struct MP4ReaderTests {
  private struct Sample: Equatable {
    var offset: UInt64
    var size: Int
    var decoding: Int64
    var composition: Int64
    var isSync: Bool
  }

  /// The clips, and the files of the conformance vectors where they are.
  static let files: [String] = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let media = root.appending(path: "Media")
    let clips = ((try? FileManager.default.contentsOfDirectory(atPath: media.path)) ?? []).sorted()
      .map { media.appending(path: $0).path }
    return (clips + Vectors.rows.map(\.path)).filter { $0.hasSuffix(".mp4") || $0.hasSuffix(".mov") }
  }()

  @Test(arguments: files) func ownReaderAgreesWithLibavformat(_ path: String) throws {
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    var own = try MP4.VideoSamples(ArraySource(bytes))
    var settings = InputContext.Settings()
    (settings.demuxer, settings.parses, settings.probesStreams) = ("mov", false, false)
    settings.options[key: "ignore_editlist"] = "1"
    let input = try InputContext(MemoryFile(bytes), settings)
    let stream = try #require(input.streams.first { $0.id == Int(own.track.id) })
    #expect(stream.timeBase == TimeBase(1, Int32(own.track.timescale)))
    var theirs: [Sample] = []
    var packet = try MediaPacket()
    while try input.read(into: &packet) {
      guard packet.stream == stream.index, let decoding = packet.decoding else { continue }
      theirs.append(
        Sample(
          offset: UInt64(packet.position ?? -1), size: packet.copiedBytes().count, decoding: decoding,
          composition: packet.presentation ?? decoding, isSync: packet.isKey))
    }
    var ours: [Sample] = []
    while let sample = try own.next() {
      ours.append(
        Sample(
          offset: sample.range.lowerBound, size: Int(sample.range.upperBound - sample.range.lowerBound),
          decoding: sample.decodingTime, composition: sample.decodingTime + sample.compositionOffset,
          isSync: sample.isSync))
    }
    // libavformat decodes earlier where composition offsets are negative.
    let lead = (ours.first?.decoding ?? 0) - (theirs.first?.decoding ?? 0)
    #expect(lead >= 0)
    #expect(ours.count == theirs.count)
    let different = zip(ours, theirs).first { own, other in
      own.offset != other.offset || own.size != other.size || own.decoding != other.decoding + lead
        || own.composition != other.composition || own.isSync != other.isSync
    }
    #expect(different == nil, "\(String(describing: different))")
  }
}

/// Bytes for our reader.
private struct ArraySource: StreamReport.ByteSource {
  let bytes: [UInt8]
  init(_ bytes: [UInt8]) { self.bytes = bytes }
  var size: UInt64 { UInt64(bytes.count) }

  mutating func read(at offset: UInt64, count: Int) -> [UInt8] {
    guard let start = Int(exactly: offset), start < bytes.count else { return [] }
    return Array(bytes[start...].prefix(count))
  }
}
