// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x
import StreamReport

/// Writes the RPUs of pictures.
struct DolbyVisionExtraction: Sendable {
  /// Whether damaged RPUs are written as they are.
  private let isForced: Bool
  private var writer: ResultWriter
  private var gaps = MessageGaps()
  /// The last RPU with its start code.
  private var last: [UInt8] = []
  private var (damaged, leftOut) = (0, 0)

  /// - Parameter writer: gets each RPU behind a start code, without the header of its NAL unit.
  init(_ writer: ResultWriter, isForced: Bool) { (self.writer, self.isForced) = (writer, isForced) }

  /// Takes the next picture.
  mutating func take(
    _ found: [FoundMetadata], of picture: PresentedPicture, _ codec: FormatDescription.Codec, _ source: String
  ) throws(Failure) {
    for metadata in found.dropFirst() where metadata.bytes != found.first?.bytes {
      guard isForced else {
        throw picture.failure(
          source, metadata, "another RPU", expected: "one with this picture", remedy: "leaves it out")
      }
      leftOut += 1
    }
    if let rpu = found.first {
      try check(rpu, of: picture, codec, source)
      last = [0, 0, 0, 1] + rpu.bytes.dropFirst(DolbyVisionFile.header(codec).count)
    }
    for _ in 0..<gaps.take(picture, hasMessage: !found.isEmpty) { writer.write(last) }
  }

  private mutating func check(
    _ rpu: FoundMetadata, of picture: PresentedPicture, _ codec: FormatDescription.Codec, _ source: String
  ) throws(Failure) {
    let (found, expected): (String, String)
    do throws(BitstreamError) {
      let checksum = try DolbyVision.RPU.checksum(of: rpu.bytes.span, codec: codec)
      guard checksum.sent != checksum.right else { return }
      found = "CRC \(InspectText.string(DolbyVisionFile.hexadecimal(checksum.sent)))"
      expected = InspectText.string(DolbyVisionFile.hexadecimal(checksum.right))
    } catch { (found, expected) = ("\(error)", "a whole RPU") }
    guard isForced else {
      throw picture.failure(source, rpu, found, expected: expected, remedy: "extracts it as it is")
    }
    damaged += 1
  }

  /// Ends the stream.
  ///
  /// - Throws: a `Failure` without any RPU, and for an error of writing.
  mutating func finish(_ source: String) throws(Failure) {
    guard gaps.count > 0 else {
      throw Failure("\(source): no RPU of Dolby Vision in \(Text.count(gaps.repeated, "picture"))")
    }
    try writer.finish()
  }

  /// For the user.
  var remark: String {
    var parts = ["Dolby Vision of \(Text.count(gaps.count, "picture"))"] + [gaps.remark].compactMap(\.self)
    if damaged > 0 { parts.append("\(Text.count(damaged, "damaged RPU")) as \(damaged == 1 ? "it is" : "they are")") }
    if leftOut > 0 { parts.append("\(Text.count(leftOut, "RPU")) left out") }
    return parts.joined(separator: "; ")
  }
}
