// SPDX-License-Identifier: MPL-2.0
import Foundation

/// A folder for one test's files, removed with its last reference.
final class Scratch: Sendable {
  let folder: URL

  init() throws {
    folder = URL.temporaryDirectory.appending(path: "swifth26x-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The path of a file of that name, which need not exist.
  func path(_ name: String) -> String { folder.appending(path: name).path }

  /// Writes a file and returns its path.
  func file(_ name: String, _ bytes: Data) throws -> String {
    try bytes.write(to: folder.appending(path: name))
    return path(name)
  }
}
