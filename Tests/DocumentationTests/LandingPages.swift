// SPDX-License-Identifier: MPL-2.0
import H26x
import VideoDecoding

// The code of the libraries' first pages, checked by ArticleTests.

/// The contents of the first sequence parameter set of an H.264 byte stream.
func firstFormat(of stream: [UInt8]) throws(BitstreamError) -> (profile: String?, width: Int, height: Int)? {
  var nalUnits = AnnexB.NALUnits(stream.span)
  while let nalUnit = nalUnits.next() {
    let bytes = stream.span.extracting(nalUnit.range)
    guard H264.NALUnitType(headerByte: bytes[0]) == .sequenceParameterSet else { continue }
    let set = try H264.SequenceParameterSet(nalUnit: bytes)
    return (set.profile.name, set.cropRectangle.width, set.cropRectangle.height)
  }
  return nil
}

/// The mean luma of each picture of a byte stream.
func brightness(of stream: [UInt8], _ codec: FormatDescription.Codec) async throws -> [Double] {
  var means: [Double] = []
  for try await picture in DecodedPictures(of: AccessUnits(of: stream, codec: codec)) {
    let luma = picture.plane(0)
    var sum = 0
    for number in 0..<luma.rowCount {
      let row = luma.row(number)
      for column in row.indices { sum += Int(row[column]) }
    }
    means.append(Double(sum) / Double(luma.rowByteCount * luma.rowCount))
  }
  return means
}
