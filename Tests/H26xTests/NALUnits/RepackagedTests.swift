// SPDX-License-Identifier: MPL-2.0
import H26x
import TestSupport
import Testing

@Suite struct RepackagedTests {
  private let accessUnit: [UInt8] = [0, 0, 0, 1, 0x09, 0xF0, 0, 0, 1, 0x06, 5, 1, 0x80, 0, 0, 0, 1, 0x65, 0x88, 7]

  @Test func convertingThereAndBackIsTheIdentity() throws {
    var repackager = Repackager(codec: .h264)
    let sample = try repackager.packaged(accessUnit.span, from: .annexB, as: .lengthPrefixed(.two))
    #expect(sample == [0, 2, 0x09, 0xF0, 0, 4, 0x06, 5, 1, 0x80, 0, 3, 0x65, 0x88, 7])
    let back = try repackager.packaged(sample.span, from: .lengthPrefixed(.two), as: .annexB)
    #expect(back == [0, 0, 0, 1, 0x09, 0xF0, 0, 0, 0, 1, 0x06, 5, 1, 0x80, 0, 0, 0, 1, 0x65, 0x88, 7])
  }

  @Test func dropsTypesAndInsertsAfterTheDelimiter() throws {
    var repackager = Repackager(codec: .h264)
    repackager.drop = .h264(.sei, .fillerData)
    let sample = try repackager.packaged(
      accessUnit.span, from: .annexB, as: .lengthPrefixed(.one), inserting: [[0x67, 1]])
    #expect(sample == [2, 0x09, 0xF0, 2, 0x67, 1, 3, 0x65, 0x88, 7])
    #expect(NALUnitTypeSet.h265(.prefixSEI, .accessUnitDelimiter) == NALUnitTypeSet([39, 35]))
  }

  @Test func badInputIsAnError() throws {
    var repackager = Repackager(codec: .h265)
    #expect(throws: BitstreamError.self) {
      try repackager.packaged([0, 0, 0, 9, 1].span, from: .lengthPrefixed(.four), as: .annexB)
    }
    let long = [0, 0, 1, 0x02, 1] + [UInt8](repeating: 0x55, count: 300)
    #expect(throws: BitstreamError.self) {
      try repackager.packaged(long.span, from: .annexB, as: .lengthPrefixed(.one))
    }
    #expect(try repackager.packaged([UInt8]().span, from: .annexB, as: .lengthPrefixed(.four)).isEmpty)
  }

  /// The bytes before the tail, and the tail as it is, equal the bytes that are written in one piece.
  @Test func writingHeadAndTailEqualsWritingTheWhole() throws {
    var random = SeededGenerator(state: 27)
    var (tails, wholes) = (0, 0)
    for _ in 0..<4000 {
      let isAnnexB = Bool.random(using: &random)
      let packaging =
        isAnnexB ? NALPackaging.annexB : .lengthPrefixed([.one, .two, .four].randomElement(using: &random)!)
      func nalUnit() -> [UInt8] {
        [[9, 6, 1, 5].randomElement(using: &random)!, .random(in: 1...99, using: &random), 7]
      }
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 0...5, using: &random) {
        let unit = nalUnit()
        // Now and then a short start code, which is written longer.
        let code: [UInt8] = Int.random(in: 0..<8, using: &random) == 0 ? [0, 0, 1] : [0, 0, 0, 1]
        let length = [UInt8](repeating: 0, count: packaging.prefixLength - 1) + [UInt8(unit.count)]
        bytes += (isAnnexB ? code : length) + unit
      }
      var repackager = Repackager(codec: .h264)
      if Int.random(in: 0..<4, using: &random) == 0 { repackager.drop = .h264(.sei) }
      switch packaging {
      case .annexB: repackager.scanAnnexB(bytes.span)
      case .lengthPrefixed(let size): try repackager.scanLengthPrefixed(bytes.span, lengthSize: size)
      }
      for index in repackager.entries.indices {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: repackager.insert([nalUnit(), nalUnit()], before: index)
        case 1: repackager.replace(with: Bool.random(using: &random) ? [nalUnit()] : [], at: index)
        default: break
        }
      }
      if Int.random(in: 0..<3, using: &random) == 0 {
        repackager.insert(nalUnit(), directlyBefore: .random(in: 0...5, using: &random))
      }
      let insertions = Int.random(in: 0..<3, using: &random) == 0 ? [nalUnit()] : []
      let size = try repackager.outputSize(packaging, inserting: insertions)
      var whole = [UInt8](repeating: 0, count: size)
      var output = whole.mutableSpan
      #expect(try repackager.write(bytes.span, as: packaging, inserting: insertions, to: &output) == size)
      guard let tail = repackager.tail(of: bytes.count, packaging, isInserting: !insertions.isEmpty) else {
        wholes += 1
        continue
      }
      tails += 1
      var front = [UInt8](repeating: 0, count: size - tail.range.count)
      var frontOutput = front.mutableSpan
      let written = try repackager.write(
        bytes.span, as: packaging, inserting: insertions, before: tail, to: &frontOutput)
      #expect(written == front.count)
      #expect(front + bytes[tail.range] == whole)
    }
    #expect(tails > 1000 && wholes > 500, "\(tails) \(wholes)")
  }

  /// A NAL unit that is inserted last comes behind other insertions, and in front of a replacement.
  @Test func insertsDirectlyInFront() throws {
    let nalUnits: [[UInt8]] = [[9, 1], [6, 2], [5, 3], [6, 4]]
    let bytes: [UInt8] = nalUnits.flatMap { [0, 0, 0, 1] + $0 }
    let new: [UInt8] = [6, 9]
    func written(at index: Int, after edit: (inout Repackager) -> Void) throws -> [[UInt8]] {
      var repackager = Repackager(codec: .h264)
      repackager.scanAnnexB(bytes.span)
      edit(&repackager)
      repackager.insert(new, directlyBefore: index)
      var output = [UInt8](repeating: 0, count: try repackager.outputSize(.lengthPrefixed(.one)))
      var target = output.mutableSpan
      try repackager.write(bytes.span, as: .lengthPrefixed(.one), to: &target)
      #expect(output.count == repackager.outputCount * 3)
      return stride(from: 0, to: output.count, by: 3).map { [output[$0 + 1], output[$0 + 2]] }
    }
    #expect(try written(at: 2) { _ in } == [[9, 1], [6, 2], new, [5, 3], [6, 4]])
    #expect(try written(at: 4) { _ in } == nalUnits)
    let beside = try written(at: 2) {
      $0.replace(with: [], at: 1)
      $0.insert([[6, 7], [6, 8]], before: 2)
      $0.replace(with: [[6, 5]], at: 3)
    }
    #expect(beside == [[9, 1], [6, 7], [6, 8], new, [5, 3], [6, 5]])
    #expect(try written(at: 1) { $0.replace(with: [[6, 5]], at: 1) } == [[9, 1], new, [6, 5], [5, 3], [6, 4]])
    var repackager = Repackager(codec: .h264)
    repackager.scanAnnexB(bytes.span)
    repackager.insert([[6, 7]], before: 1)
    repackager.replace(with: [[6, 5]], at: 3)
    #expect(repackager.replacement(at: 1) == nil && repackager.replacement(at: 3) == [[6, 5]])
  }
}
