// SPDX-License-Identifier: MPL-2.0
// The example of DecompressionSession's documentation; DocumentationTests compares the two and runs this one.
// BEGIN
import H26x
import VideoDecoding

/// Decodes an Annex B stream and shows each picture, as NV12, in presentation order.
func decode(annexB stream: Span<UInt8>, show: (DecodedPicture) -> Void) throws {
  var configuration = SessionConfiguration()
  configuration.outputLayout = .semiPlanar
  var session: DecompressionSession?
  var parameterSets = H264.ParameterSets()
  var detector = H264.AccessUnitDetector()
  var nalUnits = AnnexB.NALUnits(stream)
  var (start, number, isAtEnd) = (0, UInt64(0), false)
  while !isAtEnd {
    let nalUnit = nalUnits.next()
    isAtEnd = nalUnit == nil
    if let nalUnit {
      let bytes = stream.extracting(nalUnit.range)
      _ = try? parameterSets.insert(bytes)  // Takes parameter sets only.
      guard detector.feed(bytes, parameterSets: parameterSets).boundary == .begins else { continue }
    }
    let end = nalUnit?.startCodeOffset ?? stream.count
    if end > start && parameterSets.canReadSlices {
      let current = try session ?? DecompressionSession(format: .init(parameterSets), configuration: configuration)
      session = current
      try current.decode(stream.extracting(start..<end), tag: number)
      if isAtEnd { current.drain() }
      while let result = current.nextResult() {
        if case .frame(let picture) = result { show(picture) }
      }
    }
    (start, number) = (end, number + 1)
  }
}
// END
