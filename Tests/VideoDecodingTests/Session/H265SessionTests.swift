// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

/// H.265 through the session: open groups, leading pictures, ends of sequence, lost codecs, damage.
@Suite struct H265SessionTests {
  static let names = ["open-gop.h265", "clip.h265"]

  private func lines(_ run: Run, tags: [UInt64]) -> [String] {
    zip(run.frames, run.checksums).filter { tags.contains($0.0.tag) }.map(\.1)
  }

  /// Tags and checksums of the pictures, with tags as in the whole stream, of which the run began at `first`.
  private func shifted(_ run: Run, by first: Int) -> [String] {
    run.frames.map { "\($0.tag + UInt64(first)) \($0.fingerprint)" }
  }

  @Test(arguments: names, SessionConfiguration.threadings.indices)
  func picturesMatchWithAnyThreading(_ name: String, _ threading: Int) throws {
    let stream = try H265Stream(media: name)
    var configuration = SessionConfiguration.threadings[threading]
    configuration.verifiesPictureHash = true
    let run = try stream.decode(nil, configuration) { statistics in
      #expect(statistics.hashMismatches == 0 && statistics.corrupted == 0)
    }
    #expect(run.frames.count == stream.units.count && run.accounts(for: stream.units.count))
    #expect(run.frames.allSatisfy { !$0.isCorrupt })
    let keys = stream.units.indices.filter { stream.types[$0]?.isIRAP == true }.map(UInt64.init)
    #expect(run.frames.filter(\.isRandomAccessPoint).map(\.tag).sorted() == keys)
    // The picture hashes of the stream match in NV12 too.
    configuration.outputLayout = .semiPlanar
    _ = try stream.decode(nil, configuration) { #expect($0.hashMismatches == 0 && $0.output > 0) }
  }

  @Test func decodesLengthPrefixedStreams() throws {
    let stream = try H265Stream(media: "open-gop.h265")
    let expected = try stream.decode().checksums
    for size in [NALLengthSize.two, .four] {
      var format = stream.format
      format.nalLengthSize = size
      let session = try DecompressionSession(format: format, configuration: .with { _ in })
      var run = Run()
      let slices = stream.units.map { unit in
        H265Stream.joined(
          H265Stream.nalUnits(unit).filter { H265.NALUnitType(headerByte: $0[0]).isVCL })
      }
      try session.run(slices.map { VideoDecodingTests.lengthPrefixed($0, size) }, into: &run)
      #expect(run.checksums == expected)
    }
  }

  /// A stream cut at a CRA picture: its RASL pictures are dropped, which is no failure; all other pictures are right.
  @Test(arguments: SessionConfiguration.threadings.indices) func beginsAtACRAPicture(_ threading: Int) throws {
    let stream = try H265Stream(media: "open-gop.h265")
    let configuration = SessionConfiguration.threadings[threading]
    let whole = try stream.decode(nil, configuration)
    let starts = stream.units.indices.filter { stream.types[$0] == .cra }
    #expect(starts.count > 2)
    for first in starts {
      let cut = Array(stream.units[first...])
      let run = try stream.decode(cut, configuration)
      let end = cut.indices.dropFirst().first { stream.types[first + $0]?.isIRAP == true } ?? cut.count
      let skipped = cut.indices.filter { $0 < end && stream.types[first + $0]?.isRASL == true }
      #expect(run.accounts(for: cut.count) && run.failures.isEmpty)
      #expect(run.drops == skipped.map { _ in .noReference })
      let shown = cut.indices.filter { !skipped.contains($0) }.map { UInt64($0 + first) }
      #expect(shifted(run, by: first) == lines(whole, tags: shown))
      #expect(run.frames.allSatisfy { !$0.isCorrupt })
    }
  }

  /// After an end of sequence a CRA picture begins a new sequence.
  @Test func endOfSequenceMakesTheNextCRAPictureAStart() throws {
    let stream = try H265Stream(media: "open-gop.h265")
    let whole = try stream.decode()
    let start = try #require(stream.units.indices.filter { stream.types[$0] == .cra }.dropFirst().first)
    var units = stream.units
    units[start - 1] += [0, 0, 0, 1, 36 << 1, 1]
    let run = try stream.decode(units)
    let end = units.indices.first { $0 > start && stream.types[$0]?.isIRAP == true } ?? units.count
    let skipped = (start..<end).filter { stream.types[$0]?.isRASL == true }
    #expect(!skipped.isEmpty && run.drops.count { $0 == .noReference } == skipped.count && run.failures.isEmpty)
    // Pictures before it that are not output by then are dropped (C.5.2.2).
    #expect(run.drops.allSatisfy { $0 == .noReference || $0 == .notShown } && run.accounts(for: units.count))
    let others = Set(lines(whole, tags: units.indices.filter { !skipped.contains($0) }.map(UInt64.init)))
    #expect(others.isSuperset(of: run.checksums) && run.frames.count + run.drops.count == units.count)
    #expect(run.frames.suffix(units.count - start - skipped.count).allSatisfy { $0.tag >= UInt64(start) })
    #expect(run.frames.allSatisfy { !$0.isCorrupt })
  }

  /// A CRA picture whose POC is not above earlier POCs belongs to no earlier sequence, drained in between or not.
  /// Pictures that precede an IRAP picture in decoding order precede it in output order (7.4.2.2).
  @Test(arguments: [false, true], SessionConfiguration.threadings.indices)
  func aCRAPictureWithALowerPOCBeginsASequence(_ isDrained: Bool, _ threading: Int) throws {
    let stream = try H265Stream(media: "open-gop.h265")
    let configuration = SessionConfiguration.threadings[threading]
    let starts = stream.units.indices.filter { stream.types[$0] == .cra }
    for (place, start) in starts.enumerated().dropLast() {
      let head = Array(stream.units[..<starts[place + 1]])
      let tail = Array(stream.units[start...])
      let expected = try stream.decode(head, configuration).frames + stream.decode(tail, configuration).frames
      let session = try DecompressionSession(format: stream.format, configuration: configuration)
      var run = Run()
      for (tag, unit) in (head + tail).enumerated() {
        if isDrained && tag == head.count { session.drain() }
        try session.decode(unit.span, tag: UInt64(tag))
        session.takeResults(into: &run)
      }
      session.drain()
      session.takeResults(into: &run)
      #expect(run.frames.map(\.fingerprint) == expected.map(\.fingerprint))
      #expect(run.accounts(for: head.count + tail.count) && run.failures.isEmpty)
    }
  }

  /// Draining after any access unit, also between a CRA picture and its leading pictures, changes no picture.
  @Test(arguments: names) func drainingChangesNoPicture(_ name: String) throws {
    let stream = try H265Stream(media: name)
    let expected = try stream.decode(nil, .with { $0.threadType = .none })
    for place in stride(from: 1, to: stream.units.count, by: name == "clip.h265" ? 17 : 2) {
      let session = try DecompressionSession(format: stream.format, configuration: .with { $0.threadType = .none })
      var run = Run()
      for (index, unit) in stream.units.enumerated() {
        if index == place {
          session.drain()
          session.takeResults(into: &run)
        }
        try session.decode(unit.span, tag: UInt64(index))
        session.takeResults(into: &run)
      }
      session.drain()
      session.takeResults(into: &run)
      #expect(Set(run.checksums) == Set(expected.checksums), "drained at \(place)")
      #expect(run.accounts(for: stream.units.count))
    }
  }

  /// A missing access unit is noticed by the reference picture sets of later pictures: no picture is wrong
  /// and not flagged.
  @Test(arguments: names, [0, 2]) func flagsPicturesAfterALostAccessUnit(_ name: String, _ threading: Int) throws {
    let stream = try H265Stream(media: name)
    let configuration = SessionConfiguration.threadings[threading]
    let whole = Set(try stream.decode(nil, configuration).checksums)
    var flagged = 0
    for lost in stride(from: 1, to: stream.units.count, by: name == "clip.h265" ? 15 : 3) {
      var units = stream.units
      units.remove(at: lost)
      let run = try stream.decode(units, configuration)
      #expect(run.accounts(for: units.count))
      for frame in run.frames {
        let tag = frame.tag < UInt64(lost) ? frame.tag : frame.tag + 1
        if frame.isCorrupt {
          flagged += 1
        } else {
          #expect(whole.contains("\(tag) \(frame.fingerprint)"), "lost \(lost): \(tag) is wrong")
        }
      }
    }
    #expect(flagged > 0)
  }

  /// Damage that no header shows is found by the stream's picture hashes.
  @Test func flagsPicturesThatDifferFromTheirHash() throws {
    let stream = try H265Stream(media: "open-gop.h265")
    let whole = Set(try stream.decode().checksums)
    let place = try #require(stream.units.indices.first { $0 > 3 && stream.types[$0] == .trailingR })
    var units = stream.units
    let nalUnits = H265Stream.nalUnits(units[place])
    let slice = try #require(nalUnits.firstIndex { H265.NALUnitType(headerByte: $0[0]).isVCL })
    let start = nalUnits[..<slice].reduce(4) { $0 + $1.count + 4 }
    units[place][start + nalUnits[slice].count * 2 / 3] ^= 0x10
    var mismatches: UInt64 = 0
    let run = try stream.decode(units, .with { $0.verifiesPictureHash = true }) { mismatches = $0.hashMismatches }
    #expect(mismatches > 0 && run.frames.contains { $0.tag == place && $0.isCorrupt })
    for (frame, line) in zip(run.frames, run.checksums) where !frame.isCorrupt { #expect(whole.contains(line)) }
    var unasked: UInt64 = 0
    let other = try stream.decode(units) { unasked = $0.hashMismatches }
    #expect(other.frames.count == run.frames.count && unasked == 0)
  }

  enum VPSFault: CaseIterable {
    case missing, cutOff, otherReservedBits, withoutBaseLayer
  }

  /// libavcodec refuses an SPS without its VPS, which decoding does not need.
  @Test(arguments: VPSFault.allCases) func decodesWithoutAUsableVPS(_ fault: VPSFault) throws {
    let stream = try H265Stream(media: "open-gop.h265")
    let expected = try stream.decode().checksums
    func spoil(_ nalUnits: [[UInt8]]) -> [[UInt8]] {
      nalUnits.compactMap { nalUnit in
        guard H265.NALUnitType(headerByte: nalUnit[0]) == .videoParameterSet else { return nalUnit }
        var other = nalUnit
        switch fault {
        case .missing: return nil
        case .cutOff: other.removeLast(nalUnit.count - 8)
        case .otherReservedBits: other[4] ^= 4
        case .withoutBaseLayer: other[2] ^= 8
        }
        return other
      }
    }
    var format = stream.format
    format.parameterSets.video = spoil(format.parameterSets.video)
    let units = stream.units.map { H265Stream.joined(spoil(H265Stream.nalUnits($0))) }
    for size in [nil, NALLengthSize.four] {
      format.nalLengthSize = size
      let session = try DecompressionSession(format: format, configuration: .with { _ in })
      var run = Run()
      let packaged: [[UInt8]] = units.map { unit in
        if let size { VideoDecodingTests.lengthPrefixed(unit, size) } else { unit }
      }
      try session.run(packaged, into: &run)
      #expect(run.checksums == expected)
    }
  }

  /// A flush in the middle of an open group: the session waits for the next random access point.
  @Test func afterAFlushDecodingBeginsAtARandomAccessPoint() throws {
    let stream = try H265Stream(media: "open-gop.h265")
    let whole = try stream.decode()
    let start = try #require(stream.units.indices.filter { stream.types[$0] == .cra }.dropFirst().first)
    let session = try DecompressionSession(format: stream.format, configuration: .with { _ in })
    var run = Run()
    for index in 0...2 { try session.decode(stream.units[index], tag: UInt64(index)) }
    session.flush()
    session.takeResults(into: &run)
    #expect(run.drops == [.flushed, .flushed, .flushed])
    for index in start - 2..<stream.units.count {
      try session.decode(stream.units[index], tag: UInt64(index))
    }
    session.drain()
    session.takeResults(into: &run)
    #expect(run.drops.count { $0 == .beforeRandomAccessPoint } == 2 && run.failures.isEmpty)
    let shown = run.frames.map(\.tag)
    #expect(shown.min() == UInt64(start) && run.checksums == lines(whole, tags: shown))
  }

  /// The codec does not get a RASL picture without its CRA picture, nor one that is skipped: neither is a start, even if
  /// all its slices are intra-coded. What waits before it is decoded in its turn.
  @Test(
    arguments: [(H265.NALUnitType.raslR, SessionConfiguration.SkipFrames.none), (.trailingN, .nonReference)],
    SessionConfiguration.threadings.indices)
  func decodingDoesNotBeginWithADroppedPicture(
    _ dropped: (type: H265.NALUnitType, skip: SessionConfiguration.SkipFrames), _ threading: Int
  ) throws {
    let sequence = SmallH265Sequence()
    var sets = H265.ParameterSets()
    for nalUnit in [sequence.sps, sequence.pps] { _ = try sets.insert(nalUnit.span) }
    var configuration = SessionConfiguration.threadings[threading]
    configuration.skipFrames = dropped.skip
    let session = try DecompressionSession(format: FormatDescription(sets), configuration: configuration)
    let first = SmallH265Picture(type: .trailingR, order: 1, references: [0: true])
    let intra = SmallH265Picture(type: dropped.type, kind: .i, order: 2)
    let others = (3..<8).map { SmallH265Picture(type: .trailingR, order: $0, references: [$0 - 1: true]) }
    var run = Run()
    try session.run(([first, intra] + others).map { MinimalStream.annexB($0.slices(sequence)) }, into: &run)
    #expect(run.accounts(for: 7) && run.frames.map(\.tag) == run.frames.map(\.tag).sorted())
    // The first one lacks its reference, and what refers to a RASL picture that cannot be decoded is damaged, too.
    #expect(run.frames.count >= 5 && run.frames.first?.tag == 0 && run.frames.first?.isCorrupt == true)
    if dropped.type == .raslR { #expect(run.frames.allSatisfy { $0.isCorrupt }) }
  }
}
