// SPDX-License-Identifier: MPL-2.0
import Foundation
public import Testing

/// Streams made elsewhere, with published checksums. They are not part of the project.
public enum Vectors {
  /// A row of the manifest.
  public struct Row: Sendable, CustomTestStringConvertible {
    /// The path in the folder, "h264/SVA_Base_B.264".
    public let file: String
    /// "h264" or "hevc".
    public let codec: String
    /// "annexb", "mp4:avc1" and others.
    public let container: String
    public let category: String
    public let width: Int
    public let height: Int
    public let frames: Int
    /// The name in FFmpeg.
    public let pixelFormat: String
    /// MD5 or, with 40 digits, SHA-1 of all pictures in output order, planar, cropped, without padding; "-" for none.
    public let checksum: String
    /// Whether stock libavcodec gets all pictures right.
    public let stockDecodes: Bool
    public let accessUnits: Int

    /// The path of the file.
    public var path: String { (Vectors.folder ?? "") + "/" + file }
    public var testDescription: String { file }
  }

  /// The folder that CONFORMANCE_VECTORS names, or `../shared/vectors` beside the package; nil without a manifest.
  public static let folder: String? = {
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let folder =
      ProcessInfo.processInfo.environment["CONFORMANCE_VECTORS"]
      ?? package.deletingLastPathComponent().appending(path: "shared/vectors").path
    guard FileManager.default.isReadableFile(atPath: folder + "/manifest.tsv") else {
      print("No conformance vectors: set CONFORMANCE_VECTORS to their folder. Their tests are skipped.")
      return nil
    }
    return folder
  }()

  public static let isAvailable = folder != nil

  /// All rows.
  public static let rows: [Row] = {
    guard let folder, let text = try? String(contentsOfFile: folder + "/manifest.tsv", encoding: .utf8) else {
      return []
    }
    return text.split(separator: "\n").dropFirst().compactMap { line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard fields.count > 13, let width = Int(fields[5]), let height = Int(fields[6]), let frames = Int(fields[7]),
        let accessUnits = Int(fields[13])
      else { return nil }
      return Row(
        file: fields[0], codec: fields[1], container: fields[2], category: fields[3], width: width, height: height,
        frames: frames, pixelFormat: fields[8], checksum: fields[9], stockDecodes: ["yes", "def"].contains(fields[11]),
        accessUnits: accessUnits)
    }
  }()

  /// The rows of a codec.
  ///
  /// - Parameter container: the beginning of its name; nil for all.
  public static func rows(codec: String, container: String? = nil) -> [Row] {
    rows.filter { $0.codec == codec && $0.container.hasPrefix(container ?? "") }
  }

  /// The path of a file of the folder; nil if it is not there.
  public static func path(_ file: String) -> String? {
    guard let path = folder.map({ $0 + "/" + file }), FileManager.default.isReadableFile(atPath: path) else {
      return nil
    }
    return path
  }

  /// The bytes of a file of the folder.
  public static func bytes(_ file: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: try #require(path(file)))))
  }
}
