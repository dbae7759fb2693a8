// SPDX-License-Identifier: MPL-2.0
import H26x

/// Reads any bytes as a caption file, and writes what was read.
public enum CaptionFileRoundTrip {
  /// Returns what differs if the captions of a file are written and read again; nil for a file that is refused.
  public static func defect(_ bytes: Span<UInt8>) -> String? {
    var data: [UInt8] = []
    for index in bytes.indices { data.append(bytes[index]) }
    guard let file = try? read(data, pieces: 100), let last = file.track.last else { return nil }
    // The largest number of a day differs between the ways to count.
    guard last.frame < 2_500_000 else { return nil }
    return file.field == nil ? defectOfMCC(file, last.frame) : defectOfSCC(file, last.frame)
  }

  private static func read(_ bytes: [UInt8], pieces: Int) throws(CaptionFileError) -> CaptionFile {
    var reader = CaptionFileReader()
    for start in stride(from: 0, to: bytes.count, by: pieces) {
      try reader.read(Array(bytes[start..<min(start + pieces, bytes.count)]))
    }
    return try reader.finish()
  }

  /// The frames with captions.
  private static func frames(_ file: CaptionFile) -> [(Int, [CaptionMessage?])] {
    var (frames, frame): ([(Int, [CaptionMessage?])], Int) = ([], 0)
    while let next = file.track.first(from: frame) {
      frames.append((next.frame, file.track.messages(ofFrame: next.frame)))
      frame = next.frame + 1
    }
    return frames
  }

  private static func defectOfMCC(_ file: CaptionFile, _ last: Int) -> String? {
    let codes: [UInt8] = [24: [2, 2], 25: [3, 3], 30: [5, 4], 50: [6, 6], 60: [8, 7]][file.timeCode.base] ?? []
    guard codes.count == 2, let rate = CaptionRate(code: codes[file.timeCode.dropsFrames ? 1 : 0]) else {
      return "MCC: a rate of its own"
    }
    let found = frames(file)
    do {
      var writer = MacCaptionWriter(rate: rate, form: file.track.form ?? CaptionMessage(CaptionData([])))
      var text = try writer.header(program: "")
      for (frame, messages) in found { text += try writer.lines(ofFrame: frame, messages) }
      let again = frames(try read(text, pieces: 1000))
      guard again.count == found.count, zip(again, found).allSatisfy({ $0.0 == $1.0 && $0.1 == $1.1 }) else {
        return "MCC: other captions after writing"
      }
      return nil
    } catch let error as CaptionFileError {
      return "MCC: written, but refused: \(error.text)"
    } catch {
      return "MCC: read, but not written: \(error)"
    }
  }

  private static func defectOfSCC(_ file: CaptionFile, _ last: Int) -> String? {
    guard let field = file.field, let rate = CaptionRate(code: 4) else { return "SCC: no field" }
    let found = frames(file)
    do {
      var writer = ScenaristWriter()
      for (frame, _) in found {
        let messages = try file.messages(ofFrame: frame, at: rate)
        writer.add(messages.flatMap { $0?.triplets ?? [] }, ofFrame: frame)
      }
      let again = frames(try read(writer.text(field), pieces: 1000))
      guard again.count == found.count, zip(again, found).allSatisfy({ $0.0 == $1.0 && $0.1 == $1.1 }) else {
        return "SCC: other captions after writing"
      }
      return nil
    } catch {
      return "SCC: written, but refused: \(error)"
    }
  }
}
