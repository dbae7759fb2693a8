// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import Testing

@testable import Elements

private typealias Stream = RepackStream

/// Assembling access units from buffers of one NAL unit, of a few, and of several access units, in every packaging.
struct AccessUnitAssemblerTests {
  /// A piece made of an array, which may refuse to be split.
  private final class Piece: AccessUnitPiece {
    let bytes: [UInt8]
    let nalUnits: [Repackager.Entry]
    var size: Int { bytes.count }
    let isMarked: Bool
    let canBeCut: Bool

    init(_ bytes: [UInt8], _ packaging: NALPackaging, isMarked: Bool = false, canBeCut: Bool = true) {
      var found = FoundNALUnits<H264>()
      var history = LengthPrefixed.PacketHistory()
      found.find(in: bytes.span, packaging: packaging, &history)
      self.bytes = bytes
      nalUnits = found.repackager.entries
      self.isMarked = isMarked
      self.canBeCut = canBeCut
    }

    private init(_ piece: Piece, _ nalUnits: [Repackager.Entry]) {
      bytes = piece.bytes
      self.nalUnits = nalUnits
      isMarked = piece.isMarked
      canBeCut = true
    }

    func withBytes<Result>(_ body: (Span<UInt8>) throws(FlowError) -> Result) throws(FlowError) -> Result {
      let bytes = bytes
      return try body(bytes.span)
    }

    func part(_ range: Range<Int>) throws(FlowError) -> Piece? {
      canBeCut ? Piece(self, [Repackager.Entry](nalUnits[range])) : nil
    }

    var content: [[UInt8]] { nalUnits.map { [UInt8](bytes[$0.range]) } }
  }

  static let packagings: [NALPackaging] =
    [.annexB] + NALLengthSize.allCases.map { .lengthPrefixed($0) }

  private static func pack(_ nalUnits: [[UInt8]], _ packaging: NALPackaging) -> [UInt8] {
    switch packaging {
    case .annexB: Stream.annexB(nalUnits)
    case .lengthPrefixed(let size): Stream.lengthPrefixed(nalUnits, size.byteCount)
    }
  }

  /// The access units of buffers, each as the NAL units of its pieces.
  private func assemble(
    _ pieces: [Piece], alignment: StreamAlignment = .nalUnit, finishes: Bool = true
  ) throws -> [[[[UInt8]]]] {
    var assembler = AccessUnitAssembler<H264, Piece>(alignment)
    var sets = H264.ParameterSets()
    var result: [[[[UInt8]]]] = []
    var read: [[UInt8]] = []
    var wasRead: [[UInt8]] = []
    func take() {
      result.append(assembler.pieces.map(\.content))
      wasRead += assembler.pieces.flatMap(\.content)
      assembler.removeAccessUnit()
    }
    for piece in pieces {
      assembler.put(piece)
      while try assembler.collect(
        judge: { detector, nalUnit in detector.feed(nalUnit, parameterSets: sets).boundary },
        read: { nalUnit, entry in
          #expect(nalUnit.count == entry.range.count)
          read.append(nalUnit.copied())
          _ = try? sets.insert(nalUnit)
        })
      { take() }
    }
    if finishes {
      while assembler.finish() { take() }
      // Each NAL unit was read once, in order.
      #expect(read == wasRead)
    }
    return result
  }

  /// A length of 256 to 511 bytes in four bytes looks like a start code of three: 00 00 01 xx.
  private static let sizes = [20, 230, 236, 250, 300, 490, 511, 600, 65_530]

  @Test(arguments: packagings, [true, false])
  func doesNotTakeLengthsForStartCodes(packaging: NALPackaging, hasMarkers: Bool) throws {
    for size in Self.sizes {
      if case .lengthPrefixed(.one) = packaging, size > 230 { continue }
      let units: [[[UInt8]]] = [
        [
          Stream.delimiter, Stream.sps(), Stream.pps(), Stream.slice(0, isIDR: true, size: size),
          Stream.slice(0, isIDR: true, firstMacroblock: 2, size: size),
        ],
        [Stream.slice(1, size: size), Stream.slice(1, firstMacroblock: 2, size: size)],
        [Stream.sei, Stream.slice(2, size: size)], [Stream.slice(3, size: size)],
      ]
      let pieces = units.flatMap { unit in
        unit.enumerated().map { index, nalUnit in
          Piece(
            Self.pack([nalUnit], packaging), packaging, isMarked: hasMarkers && index == unit.count - 1,
            canBeCut: false)
        }
      }
      #expect(try assemble(pieces) == units.map { $0.map { [$0] } }, "\(size) bytes")
      // With markers no end of stream is needed.
      #expect(try assemble(pieces, finishes: false).count == (hasMarkers ? 4 : 3))
      // Whole access units.
      let whole = units.map { Piece(Self.pack($0, packaging), packaging) }
      #expect(try assemble(whole, alignment: .accessUnit, finishes: false) == units.map { [$0] })
    }
  }

  /// What never ends, such as zeros or slices of one picture without end, is passed on piece by piece.
  @Test func passesEndlessAccessUnitsOnInPieces() throws {
    let slice = Piece(Self.pack([Stream.slice(1, firstMacroblock: 2)], .annexB), .annexB)
    let limit = AccessUnitLimits.pieces
    let slices = try assemble(Array(repeating: slice, count: limit + 3))
    #expect(slices.map(\.count) == [limit, 3])
    let zeros = Piece([UInt8](repeating: 0, count: 8 << 20), .annexB)
    #expect(try assemble(Array(repeating: zeros, count: 10)).map(\.count) == [9, 1])
  }

  private static let prefix: [UInt8] = [0x6E, 0x40, 0x80, 0x07, 0x80]

  @Test(arguments: packagings) func buffersWithSeveralAccessUnitsAreCut(packaging: NALPackaging) throws {
    let first = [Stream.sps(), Stream.pps(), Stream.slice(0, isIDR: true)]
    let buffers: [[[UInt8]]] = [
      first + [Stream.slice(1), Stream.slice(2)],
      [Stream.slice(2, firstMacroblock: 2), Stream.sei, Stream.slice(3), Self.prefix],
      [Self.prefix], [Stream.slice(4), Self.prefix, Stream.slice(5)],
    ]
    let pieces = buffers.map { Piece(Self.pack($0, packaging), packaging) }
    let expected: [[[[UInt8]]]] = [
      [first], [[Stream.slice(1)]], [[Stream.slice(2)], [Stream.slice(2, firstMacroblock: 2)]],
      [[Stream.sei, Stream.slice(3)]], [[Self.prefix], [Self.prefix], [Stream.slice(4)]],
      [[Self.prefix, Stream.slice(5)]],
    ]
    let result = try assemble(pieces)
    #expect(result == expected)
  }

  @Test func keepsPrefixesInBuffersOfTheirOwnWithTheirSlice() throws {
    let nalUnits = [
      Stream.sps(), Stream.pps(), Self.prefix, Stream.slice(0, isIDR: true), Self.prefix, Stream.slice(1),
      Self.prefix, Stream.slice(1, firstMacroblock: 2), Self.prefix, Stream.slice(2),
    ]
    let pieces = nalUnits.map { Piece(Stream.lengthPrefixed([$0]), .lengthPrefixed(.four), canBeCut: false) }
    #expect(try assemble(pieces).map(\.count) == [4, 4, 2])
  }

  @Test func keepsBuffersWholeThatCannotBeCut() throws {
    let buffers: [[[UInt8]]] = [
      [Stream.sps(), Stream.pps(), Stream.slice(0, isIDR: true), Stream.slice(1)],
      [Stream.slice(1, firstMacroblock: 2), Stream.slice(2), Stream.slice(3)], [Stream.slice(4)],
    ]
    let pieces = buffers.map { Piece(Stream.annexB($0), .annexB, canBeCut: false) }
    #expect(try assemble(pieces) == buffers.map { [$0] })
  }

  @Test func aFlushDropsAnIncompleteAccessUnit() throws {
    var assembler = AccessUnitAssembler<H264, Piece>(.nalUnit)
    let sets = H264.ParameterSets()
    func put(_ nalUnit: [UInt8], isMarked: Bool) throws -> Bool {
      assembler.put(Piece(Stream.annexB([nalUnit]), .annexB, isMarked: isMarked))
      return try assembler.collect(
        judge: { detector, nalUnit in detector.feed(nalUnit, parameterSets: sets).boundary }, read: { _, _ in })
    }
    // A marker behind no picture ends nothing.
    #expect(try !put(Stream.sei, isMarked: true))
    #expect(!assembler.seesMarkers)
    #expect(try put(Stream.slice(0, isIDR: true), isMarked: true))
    #expect(assembler.pieces.count == 2 && assembler.seesMarkers)
    assembler.removeAccessUnit()
    #expect(try !put(Stream.slice(1), isMarked: false))
    assembler.flush()
    #expect(assembler.pieces.isEmpty && assembler.seesMarkers && !assembler.finish())
    // The access unit that it belonged to was dropped.
    #expect(try put(Stream.slice(2), isMarked: true))
    #expect(assembler.pieces.count == 1)
  }
}
