// SPDX-License-Identifier: MPL-2.0
import H26x

// The code of the article, checked by ArticleTests.

/// A byte stream that is announced as BT.709 in limited range, 25 frames a second.
func announcedAsHDTV(_ stream: [UInt8]) throws(StreamEditError) -> [UInt8] {
  let bt709 = ColourDescription(primaries: 1, transfer: 1, matrix: 1)
  var editor = StreamEditor<H264>([.colour(bt709), .fullRange(false), .frameRate(Ratio(25, 1))])
  let edited = try editor.edit(stream.span, packaging: .annexB)
  for change in editor.changes { print(change) }
  return edited ?? stream
}

/// The configuration record and the samples of an H.265 track, announced as full range.
func announcedAsFullRange(
  _ record: H265.DecoderConfigurationRecord, _ samples: [[UInt8]]
) throws(StreamEditError) -> (H265.DecoderConfigurationRecord, [[UInt8]]) {
  var editor = StreamEditor<H265>([.fullRange(true)])
  let packaging = NALPackaging.lengthPrefixed(record.nalLengthSize)
  let edited = try editor.edit(record)
  var output: [[UInt8]] = []
  for sample in samples { output.append(try editor.edit(sample.span, packaging: packaging) ?? sample) }
  return (edited, output)
}

/// Edits that a user has typed, such as "colour=bt709,level=auto", for a stream with these parameter sets.
func edits(_ text: String, for sets: [[UInt8]]) throws(StreamEditTextError) -> [StreamEdit] {
  let list = try StreamEditList(text)
  return list.edits(at: list.findsLevel ? H264.lowestLevel(of: sets, after: list.edits) : nil)
}
