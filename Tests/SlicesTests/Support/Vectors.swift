// SPDX-License-Identifier: MPL-2.0

import Foundation
import H26x
import TestSupport
import Testing

extension Vectors {
  /// The changed slices that are read of each vector.
  static let mutations = ProcessInfo.processInfo.environment["SLICE_MUTATIONS"].flatMap(Int.init) ?? 300

  /// The byte streams of a codec, as the manifest names it.
  static func byteStreams(codec: String) -> [String] {
    rows(codec: codec).filter { $0.container == "annexb" }.map(\.file)
  }

  /// The NAL units of a byte stream.
  static func nalUnits(_ file: String) throws -> [[UInt8]] {
    let stream = try bytes(file)
    var result: [[UInt8]] = []
    var units = AnnexB.NALUnits(stream.span)
    while let unit = units.next() { result.append(Array(stream[unit.range])) }
    return result
  }

  /// The lines of a table that is compressed with gzip, in the folder `reference` beside the vectors; nil if there is
  /// none.
  static func table(_ name: String) throws -> [Substring]? {
    let file = URL(filePath: try #require(folder)).deletingLastPathComponent().appending(path: "reference/\(name)")
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
