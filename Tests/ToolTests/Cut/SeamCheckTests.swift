// SPDX-License-Identifier: MPL-2.0
import AVCodec
import Foundation
import H26x
import SystemPackage
import TestSupport
import Testing

@testable import Containers

/// Seams are decoded, and compared with the source, before they are written.
@Suite struct SeamCheckTests {
  /// A video whose access units have length prefixes.
  private struct Clip {
    let format: MediaOutput.VideoFormat
    /// In decoding order.
    var accessUnits: [MediaOutput.AccessUnit] = []

    init(_ name: String) throws {
      let input = try InputFile(FilePath(CutTests.media(name)))
      let reader = try ContainerReader.reader(ContainerFile(input, ReadingStatus()))
      var copy = try #require(SampleCopy(reader.track))
      format = copy.format
      var roles = format.roleReader(hasStartCodes: false)
      while let sample = try reader.next() {
        var accessUnit = try copy.accessUnit(sample)
        accessUnit.role = roles.role(of: accessUnit.bytes)
        accessUnits.append(accessUnit)
      }
    }

    /// The access units of an exact cut, from the picture of a number on.
    func cut(from picture: Int) throws -> [MediaOutput.AccessUnit] {
      let times = accessUnits.map(\.presentation).sorted()
      var window = Window(Window.Bounds(start: times[picture] - times[0], mode: .exact))
      var leaving: [MediaOutput.AccessUnit] = []
      for accessUnit in accessUnits { leaving += try window.take(accessUnit) }
      return try leaving + window.finish()
    }

    /// The access units that a seam writes.
    func written<Codec: SeamSyntax>(_ accessUnits: [MediaOutput.AccessUnit], _ codec: Codec.Type) throws
      -> [MediaOutput.AccessUnit]
    {
      var seam = Seam<Codec>(quality: 18, hasStartCodes: false)
      var format = format
      seam.describe(&format)
      var written: [MediaOutput.AccessUnit] = []
      for accessUnit in accessUnits { written += try seam.take(accessUnit, format, beginsAnew: true) }
      return try written + seam.finishRange()
    }

    /// Whether pictures can be encoded.
    func hasEncoder<Codec: SeamSyntax>(_ codec: Codec.Type) -> Bool {
      var seam = Seam<Codec>(quality: 18, hasStartCodes: false)
      return seam.obstacle(format, under: accessUnits.first?.role.parameterSets ?? []) == nil
    }
  }

  // MARK: The check

  /// A change of access units that are copied.
  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let apply: @Sendable (inout [MediaOutput.AccessUnit]) -> Void

    init(_ name: String, _ apply: @escaping @Sendable (inout [MediaOutput.AccessUnit]) -> Void) {
      (testDescription, self.apply) = (name, apply)
    }
  }

  static let changes = [
    Change("a reference picture less") { $0.remove(at: 1) }, Change("the last picture less") { $0.removeLast() },
    Change("a picture twice") { $0.insert($0[4], at: 4) },
    Change("exchanged times") { units in
      let time = units[3].presentation
      units[3].presentation = units[4].presentation
      units[4].presentation = time
    }, Change("exchanged pictures") { $0.swapAt(3, 4) },
    Change("other samples") { units in
      let middle = units[5].bytes.count / 2
      units[5].bytes[middle] ^= 0x10
    }, Change("nothing") { $0 = [] },
  ]

  /// The pictures of access units.
  private static func pictures(_ clip: Clip, _ accessUnits: [MediaOutput.AccessUnit]) throws -> [SeamCheck.Picture] {
    let coder = try SeamCoder(nil, clip.format, hasStartCodes: false, SeamCheck(clip.format, hasStartCodes: false))
    for accessUnit in accessUnits { try coder.copy(accessUnit) }
    let pictures = try coder.finish()
    #expect(coder.copiedCount == accessUnits.count && coder.takePackets().isEmpty)
    #expect(pictures.map(\.presentation) == accessUnits.map(\.presentation).sorted())
    return pictures
  }

  /// Whether access units show these pictures.
  private static func passes(
    _ accessUnits: [MediaOutput.AccessUnit], _ clip: Clip, _ pictures: [SeamCheck.Picture], count: Int? = nil
  ) throws -> Bool {
    let check = try SeamCheck(clip.format, hasStartCodes: false)
    for accessUnit in accessUnits { check.take(accessUnit) }
    return check.passes(pictures, accessUnitCount: count ?? accessUnits.count)
  }

  @Test(arguments: ["clip.mp4", "clip-h265.mp4"]) func comparesNumberOrderTimesAndSamples(name: String) throws {
    let clip = try Clip(name)
    let accessUnits = Array(clip.accessUnits.prefix(20))
    let pictures = try Self.pictures(clip, accessUnits)
    #expect(try Self.passes(accessUnits, clip, pictures))
    for change in Self.changes {
      var changed = accessUnits
      change.apply(&changed)
      #expect(try !Self.passes(changed, clip, pictures), "\(name): \(change)")
    }
  }

  /// Behind the first access units, the source may be damaged.
  @Test func comparesNothingBehindTheCount() throws {
    let clip = try Clip("clip.mp4")
    let accessUnits = Array(clip.accessUnits.prefix(20))
    let times = Set(accessUnits.prefix(12).map(\.presentation))
    let pictures = try Self.pictures(clip, accessUnits).filter { times.contains($0.presentation) }
    var damaged = accessUnits
    damaged[14].bytes[damaged[14].bytes.count / 2] ^= 0x10
    #expect(try Self.passes(damaged, clip, pictures, count: 12))
    #expect(try !Self.passes(damaged, clip, pictures))
  }

  /// The encoder's pictures are known by their times. Others are compared by their samples.
  @Test func comparesTheLumaOfEncodedPictures() throws {
    let clip = try Clip("clip.mp4")
    let accessUnits = Array(clip.accessUnits.prefix(20))
    let pictures = try Self.pictures(clip, accessUnits)
    let encoded = pictures.map { SeamCheck.Picture(presentation: $0.presentation, checksum: nil) }
    #expect(try !Self.passes(accessUnits, clip, encoded))
    let (check, decoder) = (
      try SeamCheck(clip.format, hasStartCodes: false), try SeamDecoder(clip.format, hasStartCodes: false)
    )
    let times = accessUnits.map(\.presentation)
    func take(_ frame: borrowing Frame) throws(AVError) {
      try check.take(frame, presentation: times[Int(frame.timestamp)])
    }
    for accessUnit in accessUnits { try decoder.decode(accessUnit, take) }
    try decoder.finish(take)
    for accessUnit in accessUnits { check.take(accessUnit) }
    #expect(check.passes(encoded, accessUnitCount: 20) && check.lowestPSNR == .infinity)
  }

  // MARK: Seams

  /// Expects a seam from the tenth picture on, and that it is refused if copied pictures refer to others.
  private static func expectVerifiedSeams<Codec: SeamSyntax>(_ name: String, _ codec: Codec.Type) throws {
    var clip = try Clip(name)
    guard clip.hasEncoder(codec) else { return }
    let leaving = try clip.cut(from: 10)
    let written = try clip.written(leaving, codec)
    let wanted = leaving.filter { $0.disposition != .needed }
    #expect(written.map(\.presentation).sorted() == wanted.map(\.presentation).sorted())
    // A picture that promises to be an entry, but is none.
    let first = try #require(clip.accessUnits[14...].firstIndex { !$0.role.isIntra && $0.role.isReference })
    clip.accessUnits[first].role.start = .closed
    let wrong = try clip.cut(from: 10)
    #expect(wrong.count { $0.disposition == .encoded } < leaving.count { $0.disposition == .encoded })
    do throws(CopyRefusal) {
      var seam = Seam<Codec>(quality: 18, hasStartCodes: false)
      var format = clip.format
      seam.describe(&format)
      for accessUnit in wrong { _ = try seam.take(accessUnit, format, beginsAnew: true) }
      Issue.record("\(name): the seam was written")
    } catch {
      if case .seam(.verification) = error { return }
      Issue.record("\(name): \(error)")
    }
  }

  @Test func refusesSeamsInFrontOfPicturesThatNeedOthers() throws {
    try Self.expectVerifiedSeams("clip.mp4", H264.self)
    try Self.expectVerifiedSeams("clip-h265.mp4", H265.self)
  }

  /// Both decoders conceal damage in their own way.
  @Test(arguments: [21, 24, 30]) func copiesDamagedPicturesBehindASeam(place: Int) throws {
    var clip = try Clip("clip.mp4")
    guard clip.hasEncoder(H264.self) else { return }
    let bytes = clip.accessUnits[place].bytes
    for index in bytes.count / 2..<bytes.count { clip.accessUnits[place].bytes[index] = 0xA5 }
    let leaving = try clip.cut(from: 10)
    let written = try clip.written(leaving, H264.self)
    #expect(written.contains { $0.bytes == clip.accessUnits[place].bytes })
    #expect(written.count == leaving.count { $0.disposition != .needed })
  }

  /// An encoder that fails, here because of pictures of another size.
  @Test func reportsAnEncoderThatFails() throws {
    let clip = try Clip("clip.mp4")
    guard clip.hasEncoder(H264.self) else { return }
    let format = try #require(FrameFormat(name: "yuv420p"))
    let accessUnits = clip.accessUnits.prefix(20)
    let coder = try SeamCoder(
      EncoderSettings(codec: .h264, width: 64, height: 64, format: format),
      times: accessUnits.map(\.presentation).sorted(), clip.format, hasStartCodes: false,
      SeamCheck(clip.format, hasStartCodes: false))
    #expect(throws: SeamObstacle.encoder) {
      for accessUnit in accessUnits { try coder.take(accessUnit.used(as: .encoded)) }
      _ = try coder.finish()
    }
  }

  /// The order of times decides which picture comes first, and the decoder decides otherwise.
  @Test(arguments: [(3, 4), (0, 9)]) func reportsTimesThatContradictTheOrder(first: Int, second: Int) throws {
    let clip = try Clip("clip.mp4")
    guard clip.hasEncoder(H264.self) else { return }
    var accessUnits = Array(clip.accessUnits.prefix(20))
    for isEqual in [false, true] {
      let time = accessUnits[first].presentation
      accessUnits[first].presentation = accessUnits[second].presentation
      if !isEqual { accessUnits[second].presentation = time }
      do {
        _ = try clip.written(accessUnits.map { $0.used(as: .encoded) }, H264.self)
        Issue.record("the seam was written")
      } catch CopyRefusal.seam(.pictureOrder) {
        // As expected.
      }
    }
  }

  // MARK: The program

  /// Without their messages, recovery points are intra pictures that promise nothing.
  @Test(.enabled(if: Program.isBuilt)) func copiesFromIntraPicturesThatPromiseNothing() async throws {
    guard try Clip("clip.mp4").hasEncoder(H264.self) else { return }
    let folder = try Folder()
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: CutTests.media("open-gop.h264"))))
    var plain: [UInt8] = []
    for range in NALPackaging.annexB.nalUnits(of: bytes.span) where !range.isEmpty {
      if H264.NALUnitType(headerByte: bytes[range.lowerBound]) != .sei { plain += [0, 0, 0, 1] + bytes[range] }
    }
    try Data(plain).write(to: folder.url.appending(path: "plain.h264"))
    let all = try await CutTests.pictures("plain.h264", in: folder)
    func cut(_ source: String, _ target: String, _ range: Range<Int>) async throws -> (said: String, encoded: Int) {
      let options = ["--range", "#\(range.lowerBound)-#\(range.upperBound)", "--mode", "exact", "--force"]
      let run = try await Program.run(["cut", source, "-o", target] + options, in: folder.url)
      #expect(run.status == 0 && !run.said.contains("because"), "\(source) to \(target), \(range): \(run.said)")
      let counts = run.said.split(separator: ";").filter { $0.contains("encoded") }
        .compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }
      return (run.said, counts.reduce(0, +))
    }
    for range in [10..<40, 13..<100, 23..<50, 12..<50, 25..<33, 24..<62] {
      for target in ["out.mp4", "out.h264", "out.mkv"] {
        let (said, encoded) = try await cut("plain.h264", target, range)
        let promised = try await cut(CutTests.media("open-gop.h264"), "promised-\(target)", range).encoded
        #expect(encoded == promised, "\(target), \(range): \(said)")
        let pictures = try await CutTests.pictures(target, in: folder)
        #expect(pictures.count == range.count, "\(target), \(range): \(said)")
        #expect(zip(pictures, all[range]).count { $0 != $1 } <= encoded, "\(target), \(range): \(said)")
      }
    }
  }

  /// RASL pictures that are named RADL pictures promise to need no picture in front of their CRA picture.
  @Test(.enabled(if: Program.isBuilt)) func aSeamThatIsNotRightIsCutInAnotherMode() async throws {
    guard try Clip("clip-h265.mp4").hasEncoder(H265.self) else { return }
    let folder = try Folder()
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: CutTests.media("open-gop.h265"))))
    for range in NALPackaging.annexB.nalUnits(of: bytes.span) where !range.isEmpty {
      let type = H265.NALUnitType(headerByte: bytes[range.lowerBound])
      // RASL_N and RASL_R become RADL_N and RADL_R (Table 7-1).
      if type.isSkippedLeading { bytes[range.lowerBound] -= 2 << 1 }
    }
    try Data(bytes).write(to: folder.url.appending(path: "lying.h265"))
    for (target, mode) in [("out.mp4", "hidden"), ("out.mkv", "keyframe")] {
      let run = try await Program.run(["cut", "lying.h265", "-o", target, "--range", "#8-#30"], in: folder.url)
      #expect(run.status == 0, "\(run.said)")
      let reason = "because pictures at the seam would not be decoded as in the source"
      #expect(run.said.contains("cut with --mode \(mode), \(reason)"), "\(run.said)")
    }
  }
}
