// SPDX-License-Identifier: MPL-2.0
import H26x

// The code of the article, checked by ArticleTests.

/// Types and sizes of the NAL units of a byte stream.
func nalUnits(of stream: [UInt8]) -> [(type: H264.NALUnitType, size: Int)] {
  var found: [(type: H264.NALUnitType, size: Int)] = []
  var nalUnits = AnnexB.NALUnits(stream.span)
  while let nalUnit = nalUnits.next() {
    found.append((H264.NALUnitType(headerByte: stream[nalUnit.range.lowerBound]), nalUnit.range.count))
  }
  return found
}

/// Sizes of the access units of a byte stream that arrives in pieces.
func accessUnitSizes(of stream: [UInt8], inPiecesOf pieceSize: Int) -> [Int] {
  var scanner = H264.Scanner()
  var sizes: [Int] = []
  var (start, end) = (0, 0)
  while start < stream.count {
    let bytes = stream.span.extracting(start..<end)
    switch scanner.next(in: bytes, isMarked: false, isDraining: end == stream.count) {
    case .accessUnit(let size):
      sizes.append(size)
      start += size
    case .garbage(let size), .unusable(let size):
      start += size
    case .needsMoreData:
      guard end < stream.count else { return sizes }
      end = min(stream.count, end + pieceSize)
    }
  }
  return sizes
}

/// A configuration record, and the samples that are decoded with its parameter sets.
struct SampleRun: Equatable {
  var record: H264.DecoderConfigurationRecord
  var samples: [[UInt8]]
}

/// A byte stream as MP4 holds it ("avc1"): samples with length prefixes, and their parameter sets in a record. A new
/// record begins where a parameter set is replaced.
func sampleRuns(of stream: [UInt8]) throws(BitstreamError) -> [SampleRun] {
  var repackager = Repackager(codec: .h264)
  repackager.drop = H264.typesInConfigurationRecord.union(.h264(.accessUnitDelimiter))
  var (scanner, sets) = (H264.Scanner(), H264.ParameterSets())
  var (runs, samples, start) = ([SampleRun](), [[UInt8]](), 0)
  while start < stream.count {
    let rest = stream.span.extracting(start..<stream.count)
    let finding = scanner.next(in: rest, isMarked: false, isDraining: true)
    if case .needsMoreData = finding { break }
    start += finding.size
    guard case .accessUnit(let size) = finding else { continue }
    let accessUnit = rest.extracting(0..<size)
    let (setsBefore, isReplaced) = (sets, try update(&sets, from: accessUnit))
    if isReplaced && !samples.isEmpty {
      runs.append(SampleRun(record: try H264.DecoderConfigurationRecord(setsBefore), samples: samples))
      samples = []
    }
    samples.append(try repackager.packaged(accessUnit, from: .annexB, as: .lengthPrefixed(.four)))
  }
  if !samples.isEmpty {
    runs.append(SampleRun(record: try H264.DecoderConfigurationRecord(sets), samples: samples))
  }
  return runs
}

/// Stores the parameter sets of an access unit. Returns whether one of them has replaced another.
private func update(
  _ sets: inout H264.ParameterSets, from accessUnit: Span<UInt8>
) throws(BitstreamError) -> Bool {
  var isReplaced = false
  var nalUnits = AnnexB.NALUnits(accessUnit)
  while let nalUnit = nalUnits.next() {
    let bytes = accessUnit.extracting(nalUnit.range)
    guard H264.NALUnitType(headerByte: bytes[0]).isParameterSet else { continue }
    if try sets.insert(bytes) == .replaced { isReplaced = true }
  }
  return isReplaced
}
