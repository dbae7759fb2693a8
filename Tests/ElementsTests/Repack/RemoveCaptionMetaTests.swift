// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

/// The property `remove-caption-meta` of repackagers.
@Suite(.serialized) struct RemoveCaptionMetaTests {
  private static let code = Buffer.TimeCode(hours: 1, minutes: 2, seconds: 3, frames: 4, frameRate: Fraction(25, 1))

  /// Caption metas go, whether captions are written or not. Other metas stay.
  @Test(arguments: [true, false]) func removesCaptionMetasAlone(isInserting: Bool) throws {
    for sample in RepackSample.all {
      for input in RepackEnd.inputs where input.lengthSize == 4 {
        for output in RepackEnd.outputs where output.lengthSize == 4 {
          let harness = try sample.harness("insert-captions=\(isInserting) remove-caption-meta=true", to: output)
          harness.setInputCaps(sample.caps(input))
          for unit in input.format == .outOfBand ? sample.accessUnits : sample.withSets {
            for nalUnits in input.alignment == "au" ? [unit] : unit.map({ [$0] }) {
              var buffer = try InsertCaptionsTests.buffer(
                input.pack(nalUnits), InsertCaptionsTests.captions(InsertCaptionsTests.triplets(1)))
              buffer.addTimeCode(Self.code)
              #expect(harness.push(buffer) == 0)
            }
          }
          harness.endOfStream()
          var codes = 0
          var nalUnits: [[UInt8]] = []
          while let buffer = harness.tryPull() {
            let hasCaptions = buffer.hasCaptions
            #expect(!hasCaptions)
            codes += buffer.timeCodes.count
            nalUnits += output.unpack(try buffer.copiedBytes())
          }
          #expect(codes >= sample.accessUnits.count)
          let sei = InsertCaptionsTests.sei(sample.codec, InsertCaptionsTests.triplets(1))
          #expect(nalUnits.count { $0 == sei } == (isInserting ? sample.accessUnits.count : 0))
        }
      }
    }
  }

  /// Another owner of the input keeps its metas.
  @Test func doesNotChangeTheInput() throws {
    let end = RepackEnd(format: .byteStream, alignment: "au")
    for sample in RepackSample.all {
      let harness = try sample.harness("remove-caption-meta=true", to: end)
      harness.setInputCaps(sample.caps(end))
      let captions = InsertCaptionsTests.captions(InsertCaptionsTests.triplets(1))
      let buffer = try InsertCaptionsTests.buffer(end.pack(sample.withSets[0]), captions)
      let same = buffer.share()
      #expect(harness.push(buffer) == 0)
      let output = try harness.pull()
      let (left, kept) = (output.closedCaptions, same.closedCaptions)
      #expect(left.isEmpty && kept == [captions])
    }
  }
}
