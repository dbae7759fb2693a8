// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport

@_extern(c, "read_input") func readInput(_ bytes: UnsafeMutablePointer<UInt8>, _ capacity: Int) -> Int
@_extern(c, "write_output") func writeOutput(_ bytes: UnsafePointer<UInt8>, _ count: Int)

/// Splits the byte stream on standard input into access units, and prints a line about them and a line about the
/// report.
@_expose(wasm, "_start")
@c
func start() {
  let stream = readStream()
  var nalUnits = AnnexB.NALUnits(stream.span)
  // H.265 streams begin with a delimiter or a VPS, whose header bytes do not occur in H.264.
  let isH265 = nalUnits.next().map { [0x40, 0x46].contains(stream[$0.range.lowerBound]) } ?? false
  write((isH265 ? describe(stream, H265.self) : describe(stream, H264.self)) + "\n")
  write(report(on: stream) + "\n")
}

/// A byte stream in memory as the source of a report.
struct Input: ByteSource {
  let bytes: [UInt8]

  var size: UInt64 { UInt64(bytes.count) }
  func read(at offset: UInt64, count: Int) -> [UInt8] {
    let start = Int(clamping: min(offset, size))
    return Array(bytes[start..<min(start + count, bytes.count)])
  }
}

/// The number of lines of a byte stream's document, and of errors.
func report(on stream: [UInt8]) -> String {
  var options = ReportOptions()
  options.includesFields = true
  guard var reporter = try? StreamReporter(Input(bytes: stream), options: options) else { return "no report" }
  var lines = JSONLines()
  var (items, errors) = (0, 0)
  while let item = reporter.next() {
    if case .finding(let finding) = item, finding.rule.severity == .error { errors += 1 }
    lines.append(item)
    items += lines.take().isEmpty ? 0 : 1
  }
  return "\(items) lines of JSON, \(errors) errors"
}

/// Counts of a byte stream, which the scanner gets in pieces.
func describe<Codec: VideoCodecSyntax>(_ stream: [UInt8], _: Codec.Type) -> String {
  var scanner = Codec.Scanner()
  var counts = (accessUnits: 0, nalUnits: 0, keyframes: 0)
  var (start, end) = (0, 0)
  while start < stream.count {
    let finding = scanner.next(
      in: stream.span.extracting(start..<end), isMarked: false, isDraining: end == stream.count)
    switch finding {
    case .accessUnit(let size):
      let accessUnit = scanner.takeAccessUnit()
      counts.accessUnits += 1
      counts.nalUnits += accessUnit.nalUnitCount
      counts.keyframes += accessUnit.randomAccessOffset == nil ? 0 : 1
      start += size
    case .garbage(let size), .unusable(let size):
      start += size
    case .needsMoreData:
      guard end < stream.count else { return "no end of an access unit in \(stream.count - start) bytes" }
      end = min(stream.count, end + 1_000)
    }
  }
  let size = try? Codec.formatDescription(scanner.parameterSets, sequenceParameterSetID: nil, nalLengthSize: nil)
    .codedSize
  return "\(Codec.name): \(stream.count) bytes, \(counts.accessUnits) access units, \(counts.nalUnits) NAL units, "
    + "\(counts.keyframes) random access points, \(size?.width ?? 0) x \(size?.height ?? 0)"
}

/// Reads all of standard input.
func readStream() -> [UInt8] {
  var stream: [UInt8] = []
  while true {
    let piece = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
      guard let start = buffer.baseAddress else { return }
      count = unsafe readInput(start, buffer.count)
    }
    guard !piece.isEmpty else { return stream }
    stream += piece
  }
}

func write(_ text: String) {
  let bytes = Array(text.utf8)
  unsafe bytes.withUnsafeBufferPointer { buffer in
    guard let start = buffer.baseAddress else { return }
    unsafe writeOutput(start, buffer.count)
  }
}
