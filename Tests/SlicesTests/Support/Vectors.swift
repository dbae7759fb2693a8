// SPDX-License-Identifier: MPL-2.0

import Foundation
import H26x
import Testing

/// The conformance vectors, which are not part of the project.
enum Vectors {
  /// The folder that CONFORMANCE_VECTORS names, or the one beside the package.
  static let folder: URL? = {
    let candidate: URL
    if let path = ProcessInfo.processInfo.environment["CONFORMANCE_VECTORS"] {
      candidate = URL(fileURLWithPath: path)
    } else {
      var root = URL(fileURLWithPath: #filePath)
      for _ in 0..<5 { root.deleteLastPathComponent() }
      candidate = root.appendingPathComponent("shared/vectors")
    }
    let manifest = candidate.appendingPathComponent("manifest.tsv").path
    guard FileManager.default.fileExists(atPath: manifest) else {
      print("No conformance vectors: set CONFORMANCE_VECTORS to their folder. Their tests are skipped.")
      return nil
    }
    return candidate
  }()

  static let isAvailable = folder != nil

  /// The changed slices that are read of each vector.
  static let mutations = ProcessInfo.processInfo.environment["SLICE_MUTATIONS"].flatMap(Int.init) ?? 300

  /// The byte streams of a codec, as the manifest names it.
  static func byteStreams(codec: String) -> [String] {
    guard let folder,
      let text = try? String(contentsOf: folder.appendingPathComponent("manifest.tsv"), encoding: .utf8)
    else { return [] }
    return text.split(separator: "\n").dropFirst().compactMap { line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      return fields.count > 2 && fields[1] == codec && fields[2] == "annexb" ? fields[0] : nil
    }
  }

  /// The NAL units of a byte stream.
  static func nalUnits(_ file: String) throws -> [[UInt8]] {
    let stream = [UInt8](try Data(contentsOf: try #require(folder).appendingPathComponent(file)))
    var result: [[UInt8]] = []
    var units = AnnexB.NALUnits(stream.span)
    while let unit = units.next() { result.append(Array(stream[unit.range])) }
    return result
  }

  /// The lines of a table that is compressed with gzip, in the folder `reference` beside the vectors; nil if there is
  /// none.
  static func table(_ name: String) throws -> [Substring]? {
    let file = try #require(folder).deletingLastPathComponent().appendingPathComponent("reference/\(name)")
    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["gzip", "-dc", file.path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { return nil }
    return String(decoding: data, as: UTF8.self).split(separator: "\n")
  }
}
