// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// `h26x demo`.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct DemoTests {
  private func clip(_ suffix: String) -> String { Program.media.appending(path: "clip.\(suffix)").path }

  @Test func comparesPicturesWithAChecksum() async throws {
    let folder = try Folder()
    let sum = "3f1a3e4dbe966a3f73dae322394a458d"
    let run = try await Program.run(["demo", clip("h264"), "--md5", sum], in: folder.url)
    #expect(run.status == 0 && run.text.contains("Pictures            62 in "), "\(run.said)\(run.text)")
    #expect(run.text.contains("\(sum) (given with --md5): the same"), "\(run.text)")
    #expect(folder.names == ["clip.contact-sheet.png"])
  }
}
