// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Containers
import GStreamer

/// Hashes of decoded pictures, of all together or of each one, in the lines of FFmpeg's `md5`, `hash`, `framemd5` and
/// `framehash`.
struct PictureHash: ~Copyable {
  /// The pictures that a hash covers.
  enum Scope { case all, each }

  private let name: String
  private let scope: Scope
  private var checksum: Checksum
  private(set) var pictures = 0
  /// Ticks of the times of a list; `nil` before the first picture.
  private var timeBase: TimeBase?
  /// The lines of the first picture: only the second one shows whether pictures have times.
  private var held: String?
  /// The ticks of the container's times.
  private let ticks: PictureTicks?

  /// - Parameters:
  ///   - name: the algorithm's, as it is printed.
  ///   - input: the file whose pictures are hashed.
  init(_ algorithm: Checksum.Algorithm, name: String, _ scope: Scope, of input: InputFile) {
    (self.name, self.scope) = (name, scope)
    ticks = scope == .each ? PictureTicks(input) : nil
    checksum = Checksum(algorithm)
  }

  /// Adds a picture.
  ///
  /// - Parameters:
  ///   - time: of the file, in nanoseconds.
  ///   - pixelAspect: as the stream or the container has it.
  /// - Returns: the lines that must be printed now.
  mutating func add(_ sample: Sample, at time: Int64, pixelAspect: Fraction?) throws(Failure) -> String? {
    guard let info = sample.videoInfo else { throw Failure("the decoder output no raw video") }
    var size = 0
    try sample.forEachPlane { plane throws(Failure) in
      size += plane.count
      checksum.add(plane)
    }
    pictures += 1
    guard scope == .each else { return nil }
    defer { checksum.reset() }
    let (base, header) = timeBase.map { ($0, "") } ?? begin(info, pixelAspect)
    timeBase = base
    let ticks = base.rescaled(time, from: .nanoseconds)
    let duration = sample.duration.map { base.rescaled(Int64(clamping: $0.nanoseconds), from: .nanoseconds) } ?? 0
    let columns = [(ticks, 10), (ticks, 10), (max(duration, 1), 8), (Int64(size), 8)]
      .map { Self.padded("\($0)", to: $1) }
    let lines = header + "0, \(columns.joined(separator: ", ")), \(checksum.digits)"
    guard pictures > 1 else {
      held = lines
      return nil
    }
    return finish().map { "\($0)\n\(lines)" } ?? lines
  }

  /// The lines that were not printed yet; `nil` for none.
  mutating func finish() -> String? { held.take() }

  /// The header, and the ticks that it announces: the ticks of the frame rate, as in FFmpeg, unless times need
  /// others.
  private func begin(_ info: VideoInfo, _ pixelAspect: Fraction?) -> (TimeBase, String) {
    let rate =
      ticks.map { $0.rate(info.frameRate, isProgressive: info.interlaceMode == .progressive) } ?? info.frameRate
    let base = rate.flatMap { Self.ticks($0, isField: info.hasAlternatingFields) } ?? .nanoseconds
    let shape = pixelAspect ?? Fraction(0, 1)
    let lines = [
      "#format: frame checksums", "#version: 2", "#hash: \(name)", "#tb 0: \(base.numerator)/\(base.denominator)",
      "#media_type 0: video", "#codec_id 0: rawvideo", "#dimensions 0: \(info.width)x\(info.pictureHeight)",
      "#sar 0: \(shape.numerator)/\(shape.denominator)", "#stream#, dts,        pts, duration,     size, hash",
    ]
    return (base, lines.joined(separator: "\n") + "\n")
  }

  private static func ticks(_ rate: Fraction, isField: Bool) -> TimeBase? {
    guard isField else { return TimeBase(rate.denominator, rate.numerator) }
    return rate.denominator.isMultiple(of: 2)
      ? TimeBase(rate.denominator / 2, rate.numerator) : TimeBase(rate.denominator, rate.numerator &* 2)
  }

  private static func padded(_ text: String, to width: Int) -> String {
    String(repeating: " ", count: max(width - text.utf8.count, 0)) + text
  }

  /// The hash of all pictures: `MD5=…`.
  var sum: String { "\(name)=\(checksum.digits)" }
}
