// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import SystemPackage

/// Writes decoded pictures: to one file, to a new one whenever their size or format changes, or to a file each.
final class PictureWriter {
  let name: FilePath
  let force: Bool
  let input: InputFile
  let isYUV4MPEG: Bool
  let isPNG: Bool
  /// The first file. It is made before anything is read, so its errors are reported immediately.
  var first: OutputFile?

  private(set) var pictures = 0
  private var current: PictureFile?
  private var finished: [OutputFile] = []
  private var formats: [String] = []
  private var hasWarned = false

  init(name: FilePath, force: Bool, input: InputFile, isYUV4MPEG: Bool, isPNG: Bool, first: OutputFile?) {
    (self.name, self.force, self.input, self.isYUV4MPEG, self.isPNG) = (name, force, input, isYUV4MPEG, isPNG)
    self.first = first
  }

  func write(_ sample: Sample) throws(Failure) {
    defer { pictures += 1 }
    if isPNG { return try writeEncoded(sample) }
    guard let info = sample.videoInfo else { throw Failure("\(name): the decoder output no raw video") }
    if !continuesFile(sample, info) { try beginFile(sample, info) }
    try current?.write(sample)
  }

  /// Whether a picture belongs into the current file. Output with one header only, such as a pipe, continues if just
  /// interlacing, frame rate, pixel aspect ratio or range change.
  private func continuesFile(_ sample: Sample, _ info: VideoInfo) -> Bool {
    guard let current, current.fits(info) else { return false }
    if current.isDescribed(by: sample, info) { return true }
    if current.output.isSeekable { return false }
    if !hasWarned {
      Terminal.say(
        "\(place): interlacing, frame rate, pixel aspect ratio or range change after "
          + "\(Text.count(pictures, "picture")); the header describes only the first")
    }
    hasWarned = true
    return true
  }

  private func writeEncoded(_ sample: Sample) throws(Failure) {
    let output = try OutputFile(NumberedName(name)?(pictures + 1) ?? name, force: force, inputs: [input])
    finished.append(output)
    try output.write(sample)
    if output.isSeekable {
      try output.commit()
      finished.removeLast()
    }
  }

  private func beginFile(_ sample: Sample, _ info: VideoInfo) throws(Failure) {
    let isLater = current != nil
    finish()
    let fields = info.hasAlternatingFields ? " fields" : ""
    formats.append("\(info.width)x\(info.pictureHeight) \(info.format.name)\(fields)")
    let output: OutputFile
    if isLater {
      output = try OutputFile(laterName(formats.count), force: force, inputs: [input])
    } else if let first {
      output = first
    } else {
      output = try OutputFile(name, force: force, inputs: [input])
    }
    first = nil
    guard !isLater || output.isSeekable else {
      throw Failure(
        "\(place): the pictures change from \(formats.dropLast().last ?? "") to \(formats.last ?? "") after "
          + "\(Text.count(pictures, "picture")); write into files, or see --size and --pixel-format")
    }
    current = try PictureFile(output, first: sample, info: info, isYUV4MPEG: isYUV4MPEG)
  }

  /// Completes the current file.
  func finish() {
    if let output = current?.output { finished.append(output) }
    current = nil
  }

  /// `out-2.yuv` after `out.yuv`; the same name for standard output and devices.
  private func laterName(_ number: Int) -> FilePath {
    guard name != "-", !name.starts(with: "/dev") else { return name }
    return name.renamed { bytes in
      let dot = bytes.lastIndex(of: UInt8(ascii: ".")) ?? 0
      bytes.insert(contentsOf: "-\(number)".utf8, at: dot == 0 ? bytes.count : dot)
    }
  }

  /// Commits the files.
  func commit() throws(Failure) {
    for output in finished { try output.commit() }
    first?.discard()
  }

  /// Discards the files.
  func discard() {
    current?.output.discard()
    for output in finished { output.discard() }
    first?.discard()
  }

  /// The output's name for messages.
  var place: String { name == "-" ? "standard output" : name.string }

  /// The number and formats of the pictures: `62 pictures, 320x180 I420`.
  var summary: String {
    let what = formats.isEmpty ? "" : ", " + formats.joined(separator: ", then ")
    return Text.count(pictures, "picture") + what
  }
}

extension OutputFile {
  /// Writes a sample's bytes.
  func write(_ sample: Sample) throws(Failure) {
    let writer = try ByteWriter(self)
    var failure: Failure?
    do throws(FlowError) {
      let map = try sample.map()
      do throws(Failure) { try writer.write(map.bytes) } catch { failure = error }
    } catch { throw Failure("\(name): a picture could not be read (flow \(error.rawValue))") }
    if let failure { throw failure }
  }
}

/// Writes to a file, a pipe or a device, without a copy.
struct ByteWriter {
  private let name: String
  private let file: OpenFile

  init(_ output: OutputFile) throws(Failure) { (name, file) = (output.name, try output.open()) }

  func write(_ bytes: Span<UInt8>) throws(Failure) {
    do throws(Errno) { try file.descriptor.writeFully(bytes) } catch {
      throw Failure("\(name): cannot be written: \(error)")
    }
  }

  func write(_ text: String) throws(Failure) { try write(text.utf8.span) }
}
