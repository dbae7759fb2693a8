// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import Synchronization

/// One picture composed of small pictures from the whole file.
enum ContactSheet {
  /// Elements that rotate as the container demands and scale to square pixels, as players do.
  static func uprightFilters(
    for input: InputFile
  ) -> [(kind: String, properties: KeyValuePairs<String, FieldValue>)] {
    [
      ("videoconvert", [:]), ("videoflip", ["video-direction": .string(input.direction)]),
      ("videoscale", ["add-borders": false]), ("videoconvert", [:]),
    ]
  }
  /// The width of a small picture in pixels, and its height at most.
  private static let (width, heightLimit): (Int32, Int32) = (240, 480)

  /// Reads the whole file and composes the sheet. It keeps the pictures whose number is a multiple of a stride, which
  /// doubles whenever there are four times as many as needed.
  static func make(of input: InputFile, columns: Int, rows: Int) async throws(Failure) -> Sample {
    let caps =
      "video/x-raw, format=(string)RGB, width=(int)\(width), height=(int)[ 1, \(heightLimit) ], "
      + "pixel-aspect-ratio=(fraction)1/1"
    // A picture that would be higher gets borders.
    let options = DecodedPictureReader.Options(
      filters: uprightFilters(for: input) + [
        ("videoscale", ["add-borders": true]), ("capsfilter", ["caps": .string(caps)]),
      ])
    let reader = try DecodedPictureReader(input, options)
    let wanted = columns * rows
    let choice = Mutex((kept: [Sample](), stride: 1, number: 0))
    try await reader.readAll { sample throws(Failure) in
      choice.withLock { choice in
        if choice.number % choice.stride == 0 { choice.kept.append(sample) }
        if choice.kept.count > 4 * wanted {
          choice.kept = choice.kept.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
          choice.stride *= 2
        }
        choice.number += 1
        return true
      }
    }
    await reader.stop()
    try Interruption.check()
    let kept = choice.withLock { $0.kept }
    guard let first = kept.first else { throw Failure("\(input.name): no picture could be decoded") }
    let count = min(wanted, kept.count)
    let chosen = (0..<count).map { kept[$0 * kept.count / count] }
    return try compose(chosen, like: first, columns: min(columns, count), rows: (count + columns - 1) / columns)
  }

  private static func compose(
    _ pictures: [Sample], like first: Sample, columns: Int, rows: Int
  ) throws(Failure) -> Sample {
    guard let tile = first.videoInfo,
      let info = VideoInfo(format: .rgb, width: tile.width * columns, height: tile.height * rows)
    else { throw Failure("the sheet is too large") }
    let stride = info.stride(ofPlane: 0)
    var bytes = [UInt8](repeating: 0, count: info.size)
    for (index, picture) in pictures.enumerated() {
      let map = try picture.picture()
      let (row, column) = index.quotientAndRemainder(dividingBy: columns)
      for line in 0..<min(map.rowCount(ofPlane: 0), tile.height) {
        let source = map.row(line, ofPlane: 0)
        let start = (row * tile.height + line) * stride + column * tile.width * 3
        for byte in 0..<min(source.count, tile.width * 3) { bytes[start + byte] = source[byte] }
      }
    }
    guard var buffer = Buffer(copying: bytes.span) else { throw Failure("the sheet is too large") }
    buffer.pts = .zero
    return Sample(buffer, caps: info.caps())
  }
}
