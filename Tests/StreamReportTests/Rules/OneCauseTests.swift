// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport
import Testing

@Suite("Rules: one cause is one finding, and advice can be followed")
struct OneCauseTests {
  @Test("A zero byte after a NAL unit is one finding, whatever the NAL unit is")
  func aZeroByteAfterANALUnitIsOneFinding() throws {
    let slice = TestStream.slice(.init(frameNumber: 1, order: 2))
    let message: [UInt8] = [6, 5, 16] + [UInt8](repeating: 7, count: 16) + [0x80]
    for nalUnit in [[9, 0xF0], TestStream.sps(), TestStream.pps(), message] {
      var file = MP4TestFile(TestStream().adding(.init(frameNumber: 1, order: 2)))
      file.samples[1] = MP4TestFile.prefixed(nalUnit + [0]) + MP4TestFile.prefixed(slice)
      #expect(try findings(file.bytes).map(\.rule) == [.containerTrailingZero], "\(nalUnit)")
    }
    // Without its stop bit, the message has a fault of its own.
    var file = MP4TestFile(TestStream().adding(.init(frameNumber: 1, order: 2)))
    file.samples[1] = MP4TestFile.prefixed(message.dropLast() + [0]) + MP4TestFile.prefixed(slice)
    #expect(try findings(file.bytes).map(\.rule).contains(.trailingBits))
  }

  @Test("Advice on decoders does not recommend 8 bits for high dynamic range", arguments: [1, 14, 16, 18] as [UInt8])
  func doesNotAdvise8BitForHDR(transfer: UInt8) throws {
    func expected(depth: UInt8) throws -> [String] {
      let sps = H265TestStream.sps {
        $0.profileTierLevel.profile = .init(idc: 4, constraints: [.progressiveSource, .frameOnly, .maximum12Bit])
        ($0.lumaBitDepth, $0.chromaBitDepth) = (depth, depth)
        $0.vui = H265.VUIParameters()
        $0.vui?.videoSignal = .init(isFullRange: false, colour: .init(primaries: 9, transfer: transfer, matrix: 9))
      }
      return try findings(H265TestStream(sps: sps).bytes).filter { $0.rule == .decoderFormat }
        .map { String(decoding: $0.expected.bytes, as: UTF8.self) }
    }
    // PQ and HLG.
    let isHigh = transfer == 16 || transfer == 18
    #expect(try expected(depth: 10) == (isHigh ? [] : ["4:2:0, 8 bit"]))
    #expect(try expected(depth: 12) == [isHigh ? "4:2:0, 10 bit" : "4:2:0, 8 bit"])
  }
}
