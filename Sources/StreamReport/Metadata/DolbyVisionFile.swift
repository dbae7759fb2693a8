// SPDX-License-Identifier: MPL-2.0
package import H26x

/// The places of RPUs in a file that has one for each picture, in the order of presentation: NAL units behind start
/// codes, without their headers, as dovi_tool and x265 read and write them.
package struct DolbyVisionFile: Sendable {
  /// The offset of each RPU, and the number of its bytes.
  private var places: [(offset: UInt64, count: UInt32)] = []

  /// The number of RPUs.
  package var count: Int { places.count }

  /// The most bytes of an RPU.
  private static let limit = 1 << 20

  /// Finds the RPUs of a file, and checks each of them.
  ///
  /// - Throws: for a file that has something else, or an RPU that is cut off or has a wrong CRC.
  package init(_ source: consuming some ByteSource) throws(MetadataFileError) {
    let source = FileBytes(source)
    var reader = ByteStreamReader()
    // Behind the last RPU.
    var end: UInt64 = 0
    while true {
      switch reader.next() {
      case .nalUnit(let range, let prefix, let offset):
        try checkGap(from: end, to: offset - UInt64(prefix), source)
        let bytes = reader.bytes
        try add(bytes.span.extracting(range), at: offset)
        end = offset + UInt64(range.count)
      case .garbage(_, let offset):
        throw MetadataFileError(.offset(offset), "no start code", expected: "RPUs behind start codes")
      case .needsMore:
        guard reader.bytes.count <= ByteStreamReader.frontSize + Self.limit else {
          throw MetadataFileError(
            .offset(reader.position), picture: count, "no end of an RPU within \(Self.limit) bytes", expected: "one")
        }
        reader.read(from: source)
      case .end:
        guard count > 0 else { throw MetadataFileError(.offset(reader.position), "no RPU", expected: "some") }
        try checkGap(from: end, to: reader.position, source)
        return
      }
    }
  }

  /// Checks the bytes between an RPU and the start code of the next one, which the reader skips. They may be zeros.
  private func checkGap(from start: UInt64, to end: UInt64, _ source: FileBytes) throws(MetadataFileError) {
    var place = start
    while place < end {
      let bytes = source.read(at: place, count: min(Self.limit, Int(clamping: end - place)))
      if let index = bytes.firstIndex(of: 1) {
        throw MetadataFileError(
          .offset(place + UInt64(index) + 1), picture: count, "nothing behind the start code", expected: "an RPU")
      }
      guard !bytes.isEmpty else { return }
      place += UInt64(bytes.count)
    }
  }

  private mutating func add(_ bytes: Span<UInt8>, at offset: UInt64) throws(MetadataFileError) {
    // Some programs leave the header of the NAL unit there.
    let header = Self.header(.h265)
    let start = bytes.count > 2 && bytes[0] == header[0] && bytes[1] == header[1] ? 2 : 0
    let payload = bytes.extracting(start..<bytes.count)
    func fault(_ found: ReportText, _ expected: ReportText) -> MetadataFileError {
      MetadataFileError(.offset(offset), picture: count, found, expected: expected)
    }
    guard payload.count > 0, payload[0] == 25 else {
      throw fault("a NAL unit that begins with byte \(bytes[0])", "25, as RPUs do")
    }
    guard payload.count <= Self.limit, places.count < Int(Int32.max) else { throw fault("too much", "RPUs of a film") }
    let nalUnit = header + [UInt8](copying: payload)
    let checksum: (sent: UInt32, right: UInt32)
    do throws(BitstreamError) { checksum = try DolbyVision.RPU.checksum(of: nalUnit.span, codec: .h265) } catch {
      throw fault("\(ReportText(error))", "a whole RPU")
    }
    guard checksum.sent == checksum.right else {
      throw fault("CRC \(Self.hexadecimal(checksum.sent))", "\(Self.hexadecimal(checksum.right))")
    }
    places.append((offset + UInt64(start), UInt32(truncatingIfNeeded: payload.count)))
  }

  /// The range of the RPU of a picture in the file, without the header of its NAL unit; nil if there is no such picture.
  package subscript(picture: Int) -> Range<UInt64>? {
    guard places.indices.contains(picture) else { return nil }
    return places[picture].offset..<places[picture].offset + UInt64(places[picture].count)
  }

  /// Eight digits: 0x0123abcd.
  package static func hexadecimal(_ number: UInt32) -> ReportText {
    var digits: [UInt8] = [0x30, 0x78]
    for shift in stride(from: 28, through: 0, by: -4) {
      let digit = UInt8(truncatingIfNeeded: number >> shift & 15)
      digits.append(digit < 10 ? 0x30 + digit : 0x57 + digit)
    }
    return ReportText(bytes: digits)
  }

  /// The header of an RPU's NAL unit.
  package static func header(_ codec: FormatDescription.Codec) -> [UInt8] {
    switch codec {
    case .h264: [0x7C]
    case .h265: [0x7C, 0x01]
    }
  }
}
