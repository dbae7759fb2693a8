// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// Byte streams that end in a delimiter, parameter sets or SEI of a picture that does not come.
@Suite struct ParserRemnantTests {
  init() { #expect(Registration.succeeded) }

  enum Remnant: String, CaseIterable, Sendable {
    case delimiter, parameterSets, sei, all

    func nalUnits(_ codec: StreamCodec) -> [[UInt8]] {
      let delimiter: [UInt8] = codec == .h264 ? [9, 0xF0] : [0x46, 1, 0x50]
      let sei = codec.recoveryPoint(after: 0)
      return switch self {
      case .delimiter: [delimiter]
      case .parameterSets: codec.parameterSets(reorder: 0)
      case .sei: [sei]
      case .all: [delimiter] + codec.parameterSets(reorder: 0) + [sei]
      }
    }
  }

  @Test(arguments: StreamCodec.allCases, Remnant.allCases)
  func everyBufferHasATime(codec: StreamCodec, remnant: Remnant) throws {
    var nalUnits = codec.parameterSets(reorder: 0)
    for index in 0..<UInt32(10) {
      nalUnits.append(codec.picture(index == 0 ? .idr : .p, number: index, order: index, size: 60))
    }
    let bytes = RepackStream.annexB(nalUnits + remnant.nalUnits(codec))
    for format in [codec.outOfBand, codec.inBand, "byte-stream"] {
      let harness = try Harness("\(codec.element)parse")
      harness.setOutputCaps("\(codec.mediaType), stream-format=\(format), alignment=au")
      harness.setInputCaps(codec.mediaType)
      for start in stride(from: 0, to: bytes.count, by: 100) {
        #expect(harness.push(Array(bytes[start..<min(start + 100, bytes.count)])) == 0)
      }
      harness.endOfStream()
      var times: [ClockTime?] = []
      while let buffer = harness.tryPull() { times.append(buffer.pts) }
      // In a container, a sample without a picture would be one too many.
      let count = UInt64(format == "byte-stream" ? 11 : 10)
      #expect(times == (0..<count).map { .milliseconds(40 * $0) }, "\(format)")
    }
  }
}
