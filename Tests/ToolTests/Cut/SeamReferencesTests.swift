// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import TestSupport
import Testing

@testable import Containers

/// Marking operations of copied pictures behind a seam in front of a recovery point of H.264.
@Suite struct SeamReferencesTests {
  private typealias Operation = H264.ReferenceSyntax.ReferenceMarking.Operation

  /// A picture of one slice.
  private struct Picture {
    var number: UInt32
    var operations: [Operation] = []
    var order: UInt32 = 0
    var isEncoded = false
    var isB = false
  }

  /// The parameter sets of a stream with 4 reference frames, `frame_num` of 4 bits and order counts of 6.
  private let sets: H264.ParameterSets

  init() throws {
    let clip = [UInt8](try Data(contentsOf: URL(fileURLWithPath: CutTests.media("open-gop.h264"))))
    var sets = H264.ParameterSets()
    for range in NALPackaging.annexB.nalUnits(of: clip.span).prefix(2) { try sets.insert(clip.span.extracting(range)) }
    var sps = try #require(sets.sequenceParameterSet(.init(0)))
    try #require(sps.maximumReferenceFrames == 4 && sps.log2MaximumFrameNumber == 4)
    sps.allowsFrameNumberGaps = true
    let bytes = sps.nalUnit()
    try sets.insert(bytes.span)
    self.sets = sets
  }

  private func accessUnit(_ picture: Picture) -> MediaOutput.AccessUnit {
    let isIDR = picture.isEncoded && picture.number == 0
    var writer = BitWriter()
    writer.u(8, picture.isB ? 0x01 : isIDR ? 0x65 : 0x61)
    for value in [0, picture.isB ? 6 : 7, 0] as [UInt32] { writer.ue(value) }
    writer.u(4, picture.number)
    if isIDR { writer.ue(0) }
    writer.u(6, picture.order)
    if picture.isB {
      // Spatial direct prediction, default lists, cabac_init_idc.
      for bit in [true, false, false, false, true] { writer.flag(bit) }
    } else if isIDR {
      writer.u(2, 0)
    } else {
      writer.flag(!picture.operations.isEmpty)
      for operation in picture.operations {
        writer.ue(UInt32(operation.code))
        writer.ue(operation.first)
        if operation.code == 3 { writer.ue(operation.second) }
      }
      if !picture.operations.isEmpty { writer.ue(0) }
    }
    // slice_qp_delta, and the deblocking filter's values.
    for _ in 0..<4 { writer.flag(true) }
    while !writer.isByteAligned { writer.flag(true) }
    writer.append([1, 2, 0x80])
    var accessUnit = MediaOutput.AccessUnit(
      bytes: [0, 0, 0, 1] + writer.bytes, presentation: 0, decoding: 0, duration: 0, isKeyframe: false)
    accessUnit.disposition = picture.isEncoded ? .encoded : .copied
    return accessUnit
  }

  private func slice(
    _ bytes: [UInt8]
  ) throws(BitstreamError) -> (header: H264.SliceHeader, references: H264.ReferenceSyntax?) {
    try H264.SliceHeader.withReferences(nalUnit: bytes.span.extracting(4..<bytes.count), parameterSets: sets)
  }

  /// Two encoded pictures, and a recovery point of number 7: decoders have 4, 5 and 6, which do not exist, and 7.
  private func references() throws -> H264.SeamReferences {
    var references = H264.SeamReferences()
    for picture in [Picture(number: 0, isEncoded: true), Picture(number: 1, isEncoded: true), Picture(number: 7)] {
      let edited = try references.next(accessUnit(picture), .annexB, sets)
      #expect(edited == nil)
    }
    return references
  }

  @Test(
    arguments: [
      // The one that is named is there, even if it does not exist.
      ([[1, 1]], [[1, 1]]), ([[1, 0]], [[1, 0]]), ([], []),
      // It is gone: in front of the seam, or in it.
      ([[1, 4]], []), ([[1, 4], [1, 1]], [[1, 1]]), ([[1, 7], [1, 6], [1, 0]], [[1, 0]]),
      // Long-term pictures.
      ([[2, 0]], []), ([[3, 1, 0]], []), ([[4, 2], [3, 4, 1], [6, 1], [1, 2]], [[4, 2], [6, 1], [1, 2]]),
      // Another picture makes room instead.
      ([[3, 0, 0], [1, 4]], [[1, 3], [3, 0, 0]]), ([[2, 3], [4, 2]], [[1, 3], [4, 2]]),
    ] as [([[UInt32]], [[UInt32]])]
  ) func removesOperationsThatNameMissingPictures(operations: [[UInt32]], kept: [[UInt32]]) throws {
    func operation(_ numbers: [UInt32]) -> Operation {
      Operation(code: UInt8(numbers[0]), first: numbers[1], second: numbers.count > 2 ? numbers[2] : 0)
    }
    var references = try references()
    let picture = accessUnit(Picture(number: 8, operations: operations.map(operation)))
    let edited = try references.next(picture, .annexB, sets)
    #expect((edited == nil) == (operations == kept))
    #expect(edited.map { $0.removedCount == max(0, operations.count - kept.count) } != false)
    let marking = try slice(edited?.bytes ?? picture.bytes).references?.marking
    #expect(marking == (kept.isEmpty ? .slidingWindow : .adaptive(kept.map(operation))))
    // The slice data stays.
    #expect(edited.map { $0.bytes.suffix(3) == picture.bytes.suffix(3) } != false)
  }

  /// libavcodec would show others.
  @Test func refusesBPicturesBehindLeadingReferencePictures() throws {
    var references = try references()
    for picture in [Picture(number: 8, isB: true), Picture(number: 9)] {
      let edited = try references.next(accessUnit(picture), .annexB, sets)
      #expect(edited == nil)
    }
    #expect(throws: SeamObstacle.recoveryPoint) {
      try references.next(accessUnit(Picture(number: 10, isB: true)), .annexB, sets)
    }
  }

  @Test func recoveryPointsBecomeIDRPictures() throws {
    var references = H264.SeamReferences()
    let first = accessUnit(Picture(number: 7, operations: [.init(code: 1, first: 2)], order: 60))
    let beginning = references.begin(first, .annexB, sets, number: 0)
    let idr = try slice(#require(beginning)).header
    #expect(idr.isIDR && idr.frameNumber == 0 && idr.pictureOrderCountLSB == 0)
    let rows: [(Picture, frameNumber: UInt32, order: UInt32)] = [
      (Picture(number: 8, order: 4), 1, 8), (Picture(number: 9, order: 62, isB: true), 2, 2),
      (Picture(number: 9, operations: [.init(code: 1, first: 4)], order: 8), 2, 12),
    ]
    for (picture, frameNumber, order) in rows {
      let next = try references.next(accessUnit(picture), .annexB, sets)
      let edited = try #require(next)
      let (header, syntax) = try slice(edited.bytes)
      #expect(!header.isIDR && header.frameNumber == frameNumber && header.pictureOrderCountLSB == order)
      #expect(edited.removedCount == picture.operations.count)
      #expect(picture.isB || syntax?.marking == .slidingWindow)
    }
  }

  /// A stream may mark any picture as a recovery point.
  @Test func onlyIntraPicturesOfOneFieldBecomeIDRPictures() throws {
    func slices(_ bytes: [UInt8]) -> [[UInt8]] {
      NALPackaging.annexB.nalUnits(of: bytes.span).map { Array(bytes[$0]) }.filter {
        H264.role(of: $0.span) == .slice && $0[0] & 0x1F == 1 && $0[0] & 0x60 != 0
      }
    }
    func begins(_ nalUnits: [[UInt8]], _ sets: H264.ParameterSets) -> Bool {
      var references = H264.SeamReferences()
      let accessUnit = MediaOutput.AccessUnit(
        bytes: MinimalStream.annexB(nalUnits), presentation: 0, decoding: 0, duration: 0, isKeyframe: true)
      return references.begin(accessUnit, .annexB, sets, number: 0) != nil
    }
    let frames = slices([UInt8](try Data(contentsOf: URL(fileURLWithPath: CutTests.media("open-gop.h264")))))
    func frame(_ type: H264.SliceHeader.SliceType) throws -> [UInt8] {
      try #require(
        try frames.first {
          try H264.SliceHeader.withReferences(nalUnit: $0.span, parameterSets: sets).0.sliceType == type
        })
    }
    let (intra, inter) = (try frame(.i), try frame(.p))
    #expect(begins([intra], sets) && !begins([inter], sets))
    #expect(!begins([intra, inter], sets) && !begins([inter, intra], sets))
    let stream = [UInt8](FieldStream.make(frames: 2))
    var ofFields = H264.ParameterSets()
    for range in NALPackaging.annexB.nalUnits(of: stream.span).prefix(2) {
      try ofFields.insert(stream.span.extracting(range))
    }
    let fields = slices(stream).suffix(2)
    #expect(fields.count == 2 && begins(Array(fields.prefix(1)), ofFields) && !begins(Array(fields), ofFields))
  }

  /// Pictures behind an entry may refer to earlier ones until four others are marked, or as long as these are long-term.
  @Test(arguments: [false, true]) func followsEarlierReferences(isLongTerm: Bool) {
    var source = H264.SourceReferences()
    func take(_ number: UInt32, _ operations: [Operation] = []) {
      let picture = Picture(number: number, operations: operations, isEncoded: number == 0)
      source.next(accessUnit(picture), .annexB, sets)
    }
    for number in UInt32(0)..<4 { take(number) }
    source.begin()
    take(4, isLongTerm ? [.init(code: 1, first: 3), .init(code: 3, first: 0)] : [])
    for number in UInt32(5)..<7 {
      take(number)
      #expect(source.hasEarlier)
    }
    take(7)
    #expect(source.hasEarlier == isLongTerm)
    take(8, isLongTerm ? [.init(code: 4, first: 0)] : [])
    #expect(!source.hasEarlier)
  }

  @Test func takesAnything() {
    var random = SeededGenerator(state: 9)
    for _ in 0..<200 {
      var references = H264.SeamReferences()
      for place in 0..<60 {
        let operations = (0..<random.below(4)).map { _ in
          Operation(
            code: UInt8([1, 2, 3, 4, 6][random.below(5)]), first: UInt32(random.below(40)),
            second: UInt32(random.below(40)))
        }
        var picture = accessUnit(
          Picture(
            number: UInt32(random.below(16)), operations: operations, order: UInt32(random.below(64)),
            isEncoded: place < 3, isB: random.oneIn(6)))
        if random.oneIn(9) { picture.bytes[random.below(picture.bytes.count)] ^= 1 << UInt8(random.below(8)) }
        picture.role.isSecondField = random.oneIn(5)
        if place == 3 { _ = references.begin(picture, .annexB, sets, number: place) }
        _ = try? references.next(picture, .annexB, sets)
      }
    }
  }
}
