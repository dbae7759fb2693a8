// SPDX-License-Identifier: MPL-2.0

import Foundation
import H26x
import TestSupport
import Testing

/// Results for whole streams are as recorded: format, access units, random access points and times,
/// and every syntax element of the first NAL units.
@Suite struct StreamRecordTests {
  @Test(arguments: Stream.all)
  func streamsMatchTheRecord(_ stream: Stream) throws {
    let bytes = try stream.bytes()
    let record = stream.isH265 ? StreamRecord(bytes, of: H265.self) : StreamRecord(bytes, of: H264.self)
    try RecordFile.streams.expect(stream.name, record.columns)
  }
}

/// A byte stream to read.
struct Stream: Sendable, CustomTestStringConvertible {
  let name: String
  let isH265: Bool
  var testDescription: String { name }

  /// The project's own clips, and the conformance vectors where they are.
  static let all: [Stream] =
    [
      "clip.h264", "clip.h265", "interlaced.h264", "interlaced.h265", "intra-refresh.h264", "open-gop.h264",
      "open-gop.h265", "small-slices.h264", "ten-bit.h265", "wide.h264", "wide.h265",
    ].map { Stream(name: $0, isH265: $0.hasSuffix("5")) }
    + Vectors.rows(codec: "h264", container: "annexb").map { Stream(name: $0.file, isH265: false) }
    + Vectors.rows(codec: "hevc", container: "annexb").map { Stream(name: $0.file, isH265: true) }

  func bytes() throws -> [UInt8] {
    guard !name.contains("/") else { return try Vectors.bytes(name) }
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    return [UInt8](try Data(contentsOf: tests.appendingPathComponent("Media/\(name)")))
  }
}

/// A codec whose syntax structures the test can read.
private protocol RecordedCodec: ElementCodecSyntax {
  /// Reads a parameter set or a slice header to its end, if it is one.
  static func read(_ nalUnit: Span<UInt8>, _ sets: borrowing ParameterSets, _ trace: SyntaxTrace) throws(BitstreamError)
}

extension H264: RecordedCodec {
  static func read(
    _ nalUnit: Span<UInt8>, _ sets: borrowing ParameterSets, _ trace: SyntaxTrace
  ) throws(BitstreamError) {
    switch role(of: nalUnit) {
    case .sequenceParameterSet: _ = try SequenceParameterSet(nalUnit: nalUnit, trace: trace)
    case .pictureParameterSet: _ = try PictureParameterSet(nalUnit: nalUnit, chromaFormat: .yuv420, trace: trace)
    case .slice: _ = try WholeSliceHeader(nalUnit: nalUnit, parameterSets: sets, trace: trace)
    default: break
    }
  }
}

extension H265: RecordedCodec {
  static func read(
    _ nalUnit: Span<UInt8>, _ sets: borrowing ParameterSets, _ trace: SyntaxTrace
  ) throws(BitstreamError) {
    switch role(of: nalUnit) {
    case .videoParameterSet: _ = try VideoParameterSet(nalUnit: nalUnit, trace: trace)
    case .sequenceParameterSet: _ = try SequenceParameterSet(nalUnit: nalUnit, trace: trace)
    case .pictureParameterSet: _ = try PictureParameterSet(nalUnit: nalUnit, trace: trace)
    case .slice: _ = try WholeSliceHeader(nalUnit: nalUnit, parameterSets: sets, trace: trace)
    default: break
    }
  }
}

/// The row of a stream: its formats, NAL units, access units, random access points (`i`: CRA or BLA, `r`:
/// recovery point), the first pictures' times in milliseconds at 25 pictures a second, and digests of cuts, inspection,
/// syntax elements and times.
private struct StreamRecord {
  private(set) var columns: [String] = []

  init<Codec: RecordedCodec>(_ bytes: [UInt8], of codec: Codec.Type) {
    var scanner = Codec.Scanner()
    scanner.sliceDepth = .referenceMarking
    var timeline = Codec.Timeline()
    var inspector = Codec.Inspector(nalLengthSize: nil)
    var (cuts, inspection, elements, times) = (Digest(), Digest(), Digest(), Digest())
    var (nalUnits, accessUnits, traced) = (0, 0, 0)
    var randomAccess: [String] = []
    var firstTimes: [String] = []
    var formats: [String] = []
    var begin = 0
    while begin < bytes.count {
      let rest = bytes.span.extracting(begin...)
      let finding = scanner.next(in: rest, isMarked: false, isDraining: true)
      let accessUnit = scanner.takeAccessUnit()
      guard finding.size > 0 else { break }
      cuts.add(finding.size, Int(accessUnit.contents.rawValue), accessUnit.end, accessUnit.dropped.count)
      let whole = rest.extracting(0..<finding.size)
      defer { begin += finding.size }
      guard case .accessUnit = finding else { continue }

      let info = inspector.inspect(whole, packaging: .annexB, depth: .referenceMarking)
      if info.formatChanged, let format = inspector.format { formats.append(Self.describe(format)) }
      inspection.add(
        info.seiRanges.count, info.nalUnitCount, info.isIntra ? 1 : 0, info.isSecondField ? 1 : 0,
        info.isReference ? 1 : 0, info.endsSequence ? 1 : 0, info.changesParameterSets ? 1 : 0)
      switch info.randomAccess {
      case .none: break
      case .idr: randomAccess.append("\(accessUnits)")
      case .irap: randomAccess.append("\(accessUnits)i")
      case .recoveryPoint: randomAccess.append("\(accessUnits)r")
      }
      if let slice = accessUnit.slice {
        let (rate, changes) = (Ratio(25, 1), scanner.parameterSetChanges)
        if !timeline.read(slice, rate: rate, generation: changes) {
          _ = timeline.read(
            slice, isContinued: false, endsSequence: info.endsSequence, rate: rate,
            parameterSets: scanner.parameterSets,
            generation: changes, lookingAt: rest, from: finding.size, isComplete: true)
        }
        if let time = timeline.takeTimes() {
          times.add(Int(time.presentation), Int(time.decoding))
          if firstTimes.count < 8 { firstTimes.append("\(time.presentation / 1_000_000)") }
        }
      }
      var units = AnnexB.NALUnits(whole)
      while let unit = units.next() {
        nalUnits += 1
        guard nalUnits <= 300 else { continue }
        let trace = SyntaxTrace()
        do throws(BitstreamError) {
          try Codec.read(whole.extracting(unit.range), inspector.parameterSets, trace)
        } catch {
          elements.add(error.bitOffset)
        }
        traced += trace.elements.count
        for element in trace.elements {
          elements.add(element.name)
          elements.add(Int(element.value), element.bitOffset, element.bitCount)
        }
      }
      accessUnits += 1
    }
    let points = randomAccess.count > 12 ? randomAccess.prefix(12) + ["… \(randomAccess.count)"] : randomAccess[...]
    columns = [
      formats.prefix(3).joined(separator: "; "), "\(nalUnits)", "\(accessUnits)", points.joined(separator: " "),
      firstTimes.joined(separator: " "), cuts.text, inspection.text, "\(traced) \(elements.text)", times.text,
    ]
  }

  private static func describe(_ format: FormatDescription) -> String {
    let crop = format.cropRectangle
    var words = [
      "\(format.profileName ?? "?") (\(format.profileIDC)/\(format.constraintFlags))",
      "\(format.tierName ?? "") \(format.levelName ?? "?") (\(format.levelIDC))",
      "\(format.codedSize.width)x\(format.codedSize.height)",
      "\(crop.left),\(crop.top) \(crop.width)x\(crop.height)",
      "\(format.chromaFormat.name) \(format.lumaBitDepth)/\(format.chromaBitDepth)",
      "DPB \(format.decodedPictureBufferFrames)",
      "reorder \(format.sentReorderFrames ?? -1)/\(format.maximumReorderFrames)",
      "compatible \(format.compatibleProfileNames.joined(separator: "+"))",
    ]
    if let ratio = format.pixelAspectRatio { words.append("PAR \(ratio.numerator):\(ratio.denominator)") }
    if let rate = format.frameRate { words.append("rate \(rate.numerator)/\(rate.denominator)") }
    if let tick = format.tick { words.append("tick \(tick.units)/\(tick.timeScale)x\(tick.perFrame)") }
    if let isFull = format.isFullRange { words.append(isFull ? "full range" : "limited range") }
    if let colour = format.colour { words.append("colour \(colour.primaries)/\(colour.transfer)/\(colour.matrix)") }
    if let location = format.chromaSampleLocation { words.append("chroma at \(location)") }
    if format.codec == .h264 { words.append(format.isInterlacedAllowed ? "field" : "frame") }
    if let buffering = format.buffering { words.append("CPB \(buffering.bitRate)/\(buffering.size)") }
    if format.isIntraOnly { words.append("intra") }
    if format.isInterlacedAllowed { words.append("interlaced") }
    if format.isFieldSequence { words.append("fields") }
    if format.isPictureStructurePresent { words.append("pic_struct") }
    return words.joined(separator: ", ")
  }
}
