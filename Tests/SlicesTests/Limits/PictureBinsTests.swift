// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

@testable import Slices

/// Pictures whose few bits have many bins.
@Suite struct PictureBinsTests {
  /// An I slice of H.264 that covers a picture. All luma levels of its macroblocks are 15, whose first 14 bins cost next
  /// to nothing.
  private func denseSlice(_ settings: SliceSettings) -> (nalUnit: [UInt8], binCount: Int) {
    var writer = settings.writer(firstMacroblock: 0)
    while !writer.isByteAligned { writer.flag(true) }
    var encoder = ArithmeticEncoder(writer)
    var contexts = (0..<460).map { index in
      let (slope, start) = (Int(H264.ContextTables.intra[2 * index]), Int(H264.ContextTables.intra[2 * index + 1]))
      let state = max(1, min(126, (slope * 26) >> 4 + start))
      return ContextState(state < 64 ? 2 * (63 - state) : 2 * (state - 64) + 1)
    }
    let count = settings.sps.widthInMacroblocks * settings.sps.heightInMapUnits
    for address in 0..<count {
      // I_NxN; predicted modes of luma, mode 0 of chroma; all of luma and no chroma; the same QP.
      encoder.decision(false, &contexts[3])
      for _ in 0..<16 { encoder.decision(true, &contexts[68]) }
      encoder.decision(false, &contexts[64])
      for _ in 0..<4 { encoder.decision(true, &contexts[73]) }
      encoder.decision(false, &contexts[77])
      encoder.decision(false, &contexts[60])
      for _ in 0..<16 {
        encoder.decision(true, &contexts[96])
        for place in 0..<15 {
          encoder.decision(true, &contexts[134 + place])
          encoder.decision(false, &contexts[195 + place])
        }
        for level in 0..<16 {
          encoder.decision(true, &contexts[level == 0 ? 248 : 247])
          for _ in 0..<13 { encoder.decision(true, &contexts[252 + min(4, level)]) }
          encoder.bypass(2, 0)
        }
      }
      encoder.terminate(address == count - 1)
    }
    return (encoder.writer.bytes, encoder.binCount)
  }

  /// The bins of a picture of one slice.
  private func bins(_ extent: SliceExtent, _ nalUnit: [UInt8], rawBits: UInt64) -> PictureBins {
    var bins = PictureBins()
    bins.rawBits = rawBits
    bins.add(extent, byteCount: nalUnit.count)
    return bins
  }

  @Test func zeroWordsMakeUpForDenseMacroblocks() throws {
    var settings = try SliceSettings(width: 2, height: 2)
    settings.sliceType = .i
    settings.pps.usesCABAC = true
    let sets = try settings.parameterSets()
    var (nalUnit, binCount) = denseSlice(settings)
    var missing: UInt64 = 0
    for isPadded in [false, true] {
      if isPadded { for _ in 0..<(missing + 31) / 32 { nalUnit += [0, 0, 3] } }
      var reader = H264.SliceReader()
      let extent = try reader.verify(nalUnit.span, parameterSets: sets)
      #expect(extent.binCount == binCount && extent.blockCount == 4)
      #expect(extent.notes.contains(.zeroWords) == isPadded)
      // Four macroblocks of 384 samples.
      let bins = bins(extent, nalUnit, rawBits: UInt64(4 * settings.sps.rawMacroblockBits))
      #expect(bins.rawBits == 4 * 384 * 8 && bins.byteCount == UInt64(nalUnit.count))
      #expect(bins.limit == UInt64(nalUnit.count * 32 / 3 + 4 * 96))
      #expect((bins.binCount > bins.limit) != isPadded)
      guard !isPadded else { break }
      #expect(bins.binCount > 30 * bins.byteCount)
      missing = bins.binCount - bins.limit
    }
  }

  @Test func variableLengthCodesHaveNoBins() throws {
    var settings = try SliceSettings(width: 2, height: 2)
    settings.sliceType = .p
    var writer = settings.writer(firstMacroblock: 0)
    writer.ue(4)
    writer.trailingBits()
    let bytes = writer.bytes
    var reader = H264.SliceReader()
    #expect(try reader.verify(bytes.span, parameterSets: settings.parameterSets()).binCount == 0)
  }

  @Test func countsBinsOfH265() throws {
    let writer = H265SliceWriter(width: 64, height: 32)
    var uncompressed = writer
    uncompressed.sps.pcm = .init(
      lumaBitDepth: 8, chromaBitDepth: 8, log2MinimumBlockSize: 4, log2BlockSizeRange: 0, disablesLoopFilter: false)
    var wavefronts = writer
    wavefronts.pps.usesWavefronts = true
    let cases: [(H265SliceWriter, H265SliceWriter.Slice)] = [
      (writer, .init(count: 3, crowded: [2: (long: 40, longer: 30)])), (writer, .init(count: 8)),
      (writer, .init(count: 8, vectors: [5: (99, -7)])), (uncompressed, .init(count: 8, pcm: [0, 3])),
      (wavefronts, .init(count: 8)),
    ]
    for (writer, slice) in cases {
      let (nalUnit, sets) = (writer.nalUnit(slice), try writer.parameterSets())
      var reader = H265.SliceReader()
      let extent = try reader.verify(nalUnit.span, parameterSets: sets)
      #expect(extent.binCount == writer.binCount(slice) && extent.binCount > 0)
    }
  }

  /// By 7.4.3.10, in which `/` drops the remainder. 4:0:0 counts two planes of chroma.
  @Test(
    arguments: [
      (.yuv420, 8, 12), (.yuv420, 9, 13), (.yuv422, 10, 20), (.yuv444, 12, 36), (.monochrome, 8, 24),
    ] as [(ChromaFormat, UInt8, UInt64)])
  func rawBitsOfH265(_ format: ChromaFormat, _ depth: UInt8, _ bits: UInt64) {
    var sps = H265SliceWriter(width: 64, height: 32).sps
    sps.chromaFormat = format
    (sps.lumaBitDepth, sps.chromaBitDepth) = (depth, depth)
    #expect(sps.rawPictureBits == 64 * 32 * bits)
  }

  @Test func largePicturesDoNotOverflow() {
    var bins = PictureBins()
    bins.rawBits = .max / 4
    bins.add(
      SliceExtent(firstBlock: 0, blockCount: 1, endBlock: 1, dataBits: 1, binCount: .max), byteCount: 1 << 30)
    #expect(bins.limit > 1 << 55)
  }
}
