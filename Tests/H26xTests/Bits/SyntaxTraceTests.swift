// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@Suite("Syntax trace") struct SyntaxTraceTests {
  @Test("Every element of an SPS is traced with name, value and position")
  func tracesEveryElementOfAnSPS() throws {
    // Baseline, level 3.0, 176 × 144.
    let bytes: [UInt8] = [0x67, 0x42, 0xC0, 0x1E, 0xDA, 0x0B, 0x13, 0x90]
    let trace = SyntaxTrace()
    let sps = try H264.SequenceParameterSet(nalUnit: bytes.span, trace: trace)
    let plain = try H264.SequenceParameterSet(nalUnit: bytes.span)
    #expect(sps == plain)
    let width = try #require(trace.elements.first { $0.name.description == "pic_width_in_mbs_minus1" })
    #expect(width.value == Int64(sps.widthInMacroblocks) - 1)
    // The elements follow one another without a gap, from the end of the header on.
    var end = 8
    for element in trace.elements {
      #expect(element.bitOffset == end, "\(element.name)")
      end = element.bitOffset + element.bitCount
    }
    #expect(end <= bytes.count * 8)
  }

  @Test("An element that is out of range is the last one")
  func traceEndsWithAnElementOutOfRange() {
    var writer = BitWriter()
    for byte in [0x67, 0x42, 0xC0, 0x1E] as [UInt32] { writer.u(8, byte) }
    writer.ue(32)  // seq_parameter_set_id is 31 at most.
    writer.trailingBits()
    let trace = SyntaxTrace()
    #expect(throws: BitstreamError.self) {
      try H264.SequenceParameterSet(nalUnit: writer.bytes.span, trace: trace)
    }
    #expect(trace.elements.last?.name.description == "seq_parameter_set_id")
    #expect(trace.elements.last?.value == 32)
  }

  @Test("Long codes are one element")
  func longCodesAreOneElement() throws {
    var writer = BitWriter()
    writer.ue(UInt32.max - 1)
    writer.se(-5)
    writer.trailingBits()
    let trace = SyntaxTrace()
    var reader = BitReader(writer.bytes.span, trace: trace)
    #expect(try reader.ue(in: 0...UInt32.max - 1, "long") == UInt32.max - 1)
    #expect(try reader.se(in: -8...8, "negative") == -5)
    #expect(trace.elements.map(\.value) == [Int64(UInt32.max) - 1, -5])
    #expect(trace.elements.map(\.bitCount) == [63, 7])
    #expect(trace.elements.map(\.bitOffset) == [0, 63])
  }
}
