// SPDX-License-Identifier: MPL-2.0
import H26x
import VideoDecoding

// The code of the article, checked by ArticleTests.

/// Decodes length-prefixed samples, as MP4 holds them, and shows the pictures in presentation order.
func decode(_ samples: [[UInt8]], parameterSets: [[UInt8]], show: (DecodedPicture) -> Void) throws {
  let format = try FormatDescription(h264ParameterSets: parameterSets, nalLengthSize: .four)
  let session = try DecompressionSession(format: format)
  for (number, sample) in samples.enumerated() {
    try session.decode(sample.span, tag: UInt64(number))
    while let result = session.nextResult() {
      if case .frame(let picture) = result { show(picture) }
    }
  }
  session.drain()
  while let result = session.nextResult() {
    if case .frame(let picture) = result { show(picture) }
  }
}
