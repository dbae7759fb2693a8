// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport
import Testing

/// What `edit` announces is true of the pictures, and of the container that it writes.
@Suite(.enabled(if: Program.isBuilt)) struct EditMeasureTests {
  private static func media(_ name: String) -> String { Program.media.appending(path: name).path }

  private func edit(_ arguments: String..., in folder: Folder) async throws -> Program {
    try await Program.run(["edit"] + arguments, in: folder.url)
  }

  // MARK: Levels

  private static let tiles = RawStreamTests.vectors.appending(path: "h265/g2b_tiles.h265").path

  @Test(.enabled(if: FileManager.default.fileExists(atPath: tiles))) func tilesCount() async throws {
    let folder = try Folder()
    let auto = try await edit(Self.tiles, "--dry-run", "--level", "auto", in: folder)
    #expect(auto.status == 0 && auto.text.contains(", now 90\n"), "\(auto.text)\(auto.said)")
  }
}
