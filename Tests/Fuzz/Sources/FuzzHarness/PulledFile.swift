// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import HarnessSupport

/// A byte stream in pull mode: the output access units must be those of push mode.
/// NAL units need not be: in push mode they are output before the next bytes are known.
///
/// - Parameters:
///   - input: choices and the file.
///   - codec: the number in names: 264 or 265.
public func comparePulled(_ input: Span<UInt8>, codec: Int) {
  var choices = Choices(input)
  // An empty file is an error, an empty stream is not.
  guard choices.data.count > 0 else { return }
  let file = NamelessFile(choices.data)
  let parser = "swifth\(codec)parse"
  let caps = "video/x-h\(codec), stream-format=byte-stream, alignment"
  if choices.flag() { _ = record(file, "\(parser) ! \(caps)=nal") }
  let pulled = record(file, "\(parser) ! \(caps)=au")
  let pushed = record(file, "queue ! \(parser) ! \(caps)=au")
  require(pulled.isWhole == pushed.isWhole, "pulled \(pulled.isWhole), pushed \(pushed.isWhole)")
  // An error may overtake the last buffers.
  guard pulled.isWhole else { return }
  let (one, other) = (pulled.entries.map(\.withoutFlags), pushed.entries.map(\.withoutFlags))
  require(one == other, "pulled \(one.count), pushed \(other.count) buffers and caps")
}

private func record(_ file: borrowing NamelessFile, _ elements: String) -> FileRecording {
  do {
    return try FileRecording(of: file.path, elements)
  } catch {
    fatalError("\(elements) does not end")
  }
}
