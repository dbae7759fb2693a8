// SPDX-License-Identifier: MPL-2.0

import Foundation
import H26x
import Testing

/// The conformance vectors, which are not part of the project.
enum Vectors {
  /// A row of the manifest.
  struct Row: Sendable, CustomTestStringConvertible {
    let file: String
    let container: String
    let category: String
    let accessUnits: Int
    let frames: Int
    let width: Int
    let height: Int
    var testDescription: String { file }
  }

  /// The folder that CONFORMANCE_VECTORS names, or the one beside the package.
  static let folder: URL? = {
    let candidates: [URL]
    if let path = ProcessInfo.processInfo.environment["CONFORMANCE_VECTORS"] {
      candidates = [URL(fileURLWithPath: path)]
    } else {
      let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      candidates = [root.deletingLastPathComponent().appendingPathComponent("shared/vectors")]
    }
    let found = candidates.first {
      FileManager.default.fileExists(atPath: $0.appendingPathComponent("manifest.tsv").path)
    }
    if found == nil {
      print("No conformance vectors: set CONFORMANCE_VECTORS to their folder. Their tests are skipped.")
    }
    return found
  }()

  static let isAvailable = folder != nil

  /// All rows of a codec.
  static func rows(codec: String, container: String? = nil) -> [Row] {
    guard let folder,
      let text = try? String(contentsOf: folder.appendingPathComponent("manifest.tsv"), encoding: .utf8)
    else { return [] }
    return text.split(separator: "\n").dropFirst().compactMap { line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard fields.count > 13, fields[1] == codec, container == nil || fields[2].hasPrefix(container ?? "") else {
        return nil
      }
      return Row(
        file: fields[0], container: fields[2], category: fields[3], accessUnits: Int(fields[13]) ?? -1,
        frames: Int(fields[7]) ?? -1, width: Int(fields[5]) ?? -1, height: Int(fields[6]) ?? -1)
    }
  }

  static func bytes(_ file: String) throws -> [UInt8] {
    let folder = try #require(folder)
    return [UInt8](try Data(contentsOf: folder.appendingPathComponent(file)))
  }
}

/// Bytes of a span as an array.
func array(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
  range.map { bytes[$0] }
}

/// The NAL units of a byte stream as arrays.
func nalUnits(_ stream: [UInt8]) -> [[UInt8]] {
  var result: [[UInt8]] = []
  var units = AnnexB.NALUnits(stream.span)
  while let unit = units.next() { result.append(Array(stream[unit.range])) }
  return result
}
