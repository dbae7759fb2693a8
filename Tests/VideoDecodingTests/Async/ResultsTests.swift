// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing
import VideoDecoding

@Suite struct ResultsTests {
  private func stream(_ name: String) throws -> [UInt8] {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    return try #require(readFile(folder + "/Media/" + name))
  }

  @Test func everyAccessUnitHasAResult() async throws {
    var accessUnits: [AccessUnit] = []
    for await accessUnit in AccessUnits(of: try stream("clip.h264"), codec: .h264) { accessUnits.append(accessUnit) }
    accessUnits[40].bytes = [0, 0, 0, 1, 0x09, 0x10]
    let source = AsyncStream { continuation in
      for accessUnit in accessUnits { continuation.yield(accessUnit) }
      continuation.finish()
    }
    var (frames, others): ([UInt64], [UInt64]) = ([], [])
    for try await result in DecodedPictures(of: source).results {
      if case .frame(let picture) = result { frames.append(picture.tag) } else { others.append(result.tag) }
    }
    #expect(others.contains(40) && (frames + others).sorted() == Array(0..<62))
  }

  /// An access unit that does not continue the stream starts another, in the same session. Nothing is lost in between.
  @Test func aDiscontinuityLosesNoPicture() async throws {
    var accessUnits: [AccessUnit] = []
    for await accessUnit in AccessUnits(of: try stream("open-gop.h265"), codec: .h265) {
      accessUnits.append(accessUnit)
    }
    let count = accessUnits.count
    let format = try #require(accessUnits[0].format)
    let session = try DecompressionSession(format: format)
    var tags: [UInt64] = []
    for round in 0..<2 {
      for accessUnit in accessUnits {
        var accessUnit = accessUnit
        accessUnit.tag += UInt64(round * count)
        accessUnit.isDiscontinuous = round == 1 && accessUnit.tag == UInt64(count)
        try session.decode(accessUnit)
        while let result = session.nextResult() { if case .frame = result { tags.append(result.tag) } }
      }
    }
    session.drain()
    while let result = session.nextResult() { if case .frame = result { tags.append(result.tag) } }
    let first = tags.prefix { $0 < count }
    #expect(first.count > 10 && tags.count == 2 * first.count)
    #expect(Array(tags.dropFirst(first.count)) == first.map { $0 + UInt64(count) })
    #expect(session.statistics.restarts == 0)
  }

  /// HDR10 metadata lasts to the end of the coded video sequence.
  @Test func picturesHaveHDR10Metadata() async throws {
    let mastering: [UInt8] = [
      137, 24, 0x21, 0x34, 0x9B, 0xAA, 0x19, 0x96, 0x08, 0xFC, 0x8A, 0x48, 0x39, 0x08, 0x3D, 0x13, 0x40, 0x42, 0, 0x98,
      0x96, 0x80, 0, 0, 3, 0, 0x32,
    ]
    let sei: [UInt8] =
      [0, 0, 0, 1, 0x4E, 1] + mastering + [0x80, 0, 0, 0, 1, 0x4E, 1, 144, 4, 0x03, 0xE8, 0x01, 0x90, 0x80]
    var (count, known) = (0, 0)
    let accessUnits = AccessUnits(of: try stream("clip.h265"), codec: .h265)
    var marked: [AccessUnit] = []
    for await accessUnit in accessUnits {
      var accessUnit = accessUnit
      if marked.isEmpty {
        // Behind the parameter sets, in front of the first slice.
        var nalUnits = AnnexB.NALUnits(accessUnit.bytes.span)
        var place: Int?
        while let nalUnit = nalUnits.next(), place == nil {
          let type = accessUnit.bytes[nalUnit.range.lowerBound] >> 1
          if type < 32 { place = nalUnit.startCodeOffset }
        }
        accessUnit.bytes.insert(contentsOf: sei, at: try #require(place))
      }
      marked.append(accessUnit)
    }
    let source = AsyncStream { continuation in
      for accessUnit in marked { continuation.yield(accessUnit) }
      continuation.finish()
    }
    for try await picture in DecodedPictures(of: source) {
      count += 1
      guard let display = picture.masteringDisplay, let light = picture.contentLightLevel else { continue }
      known += 1
      #expect(display.maximumLuminance == 10_000_000 && display.minimumLuminance == 50)
      #expect(light.maximum == 1000 && light.maximumPictureAverage == 400)
    }
    #expect(count == 62 && known > 20)
  }
}
