// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport

/// Reads any bytes as files of metadata, which are hostile.
public enum MetadataFile {
  private struct Source: ByteSource {
    let bytes: [UInt8]
    var size: UInt64 { UInt64(bytes.count) }

    mutating func read(at offset: UInt64, count: Int) -> [UInt8] {
      guard let start = Int(exactly: offset), start < bytes.count else { return [] }
      return Array(bytes[start..<min(bytes.count, start + count)])
    }
  }

  /// Reads HDR10+ in JSON, and writes and reads it again.
  ///
  /// - Parameter isDocument: whether it is a document, not an object a line.
  /// - Returns: how it differs; nil if it does not, and for a file that is refused.
  public static func defectOfHDR10Plus(_ bytes: [UInt8], isDocument: Bool) -> String? {
    let format = isDocument ? HDR10PlusFile.document : .lines
    guard let messages = try? format.messages(Source(bytes: bytes)) else { return nil }
    var written: [UInt8] = []
    format.write(messages, version: "1") { written += $0 }
    guard let again = try? format.messages(Source(bytes: written)) else { return "unreadable after writing" }
    guard again.count == messages.count else { return "\(again.count) pictures, not \(messages.count)" }
    let different = (0..<messages.count).first { again.message(at: $0) != messages.message(at: $0) }
    return different.map { "picture \($0)" }
  }

  /// Reads RPUs.
  ///
  /// - Returns: how the places differ from the contents; nil if they do not, and for a file that is refused.
  public static func defectOfDolbyVision(_ bytes: [UInt8]) -> String? {
    guard let file = try? DolbyVisionFile(Source(bytes: bytes)) else { return nil }
    for picture in 0..<file.count {
      guard let range = file[picture], range.upperBound <= UInt64(bytes.count) else { return "picture \(picture)" }
      let nalUnit = DolbyVisionFile.header(.h265) + bytes[Int(range.lowerBound)..<Int(range.upperBound)]
      guard let sum = try? DolbyVision.RPU.checksum(of: nalUnit.span, codec: .h265), sum.sent == sum.right else {
        return "RPU \(picture)"
      }
    }
    return file[file.count] == nil ? nil : "one too many"
  }
}
