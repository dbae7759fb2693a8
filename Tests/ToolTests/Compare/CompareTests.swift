// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// `h26x compare`: the pictures of two files.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct CompareTests {
  private func clip(_ suffix: String) -> String { Program.media.appending(path: "clip.\(suffix)").path }

  @Test func reportsTheFirstDifferentPicture() async throws {
    let folder = try Folder()
    let run = try await Program.run(
      ["compare", clip("h264"), Program.media.appending(path: "wide.h264").path], in: folder.url)
    #expect(run.status == 2 && run.said.contains("picture 0"), "\(run.said)")
  }

  /// Of a shorter stream, the pictures that exist are compared, and the result is printed.
  @Test func reportsTheShorterFile() async throws {
    let folder = try Folder()
    let stream = try Data(contentsOf: URL(filePath: clip("h264")))
    try folder.write("short.h264", stream.prefix(30_000))
    let run = try await Program.run(["compare", clip("h264"), "short.h264"], in: folder.url)
    #expect(run.status == 2 && run.said.contains("has more than the "), "\(run.said)")
    #expect(run.text.contains(" of them different; PSNR Y"), "\(run.text)")
  }

  /// A slice with other contents that can still be decoded: only the hash that the stream has of the picture differs.
  @Test(arguments: [false, true]) func verifiesPictureHashes(isChanged: Bool) async throws {
    let folder = try Folder()
    var stream = try Data(contentsOf: Program.media.appending(path: "open-gop.h265"))
    if isChanged { stream[572] ^= 0x10 }
    try folder.write("hash.h265", stream)
    let decoded = try await Program.run(["decode", "hash.h265", "-o", "/dev/null"], in: folder.url)
    #expect(decoded.status == 0 && !decoded.said.contains("damage"), "\(decoded.said)")
    let strict = try await Program.run(["decode", "hash.h265", "-o", "/dev/null", "--strict"], in: folder.url)
    #expect(strict.status == (isChanged ? 2 : 0), "\(strict.said)")
    #expect(strict.said.contains("damaged") == isChanged, "\(strict.said)")
    // Both decode to the same wrong picture.
    for second in [["hash.h265"], ["--decoder", "avdec_h265"]] {
      let compared = try await Program.run(["compare", "hash.h265"] + second, in: folder.url)
      #expect(compared.status == (isChanged ? 2 : 0), "\(compared.said)")
      #expect(compared.text.contains(", 0 of them different") && compared.said.contains("damaged") == isChanged)
    }
  }
}
