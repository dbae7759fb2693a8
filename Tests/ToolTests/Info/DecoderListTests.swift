// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// `h26x info --decoders` without a device; what devices report is tested with HardwareDecoder.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct DecoderListTests {
  @Test func listsSoftwareDecodingWithoutADevice() async throws {
    let folder = try Folder()
    let run = try await Program.shell("env -u DISPLAY h26x info --decoders", in: folder.url)
    #expect(run.status == 0)
    #expect(
      run.text.hasPrefix("Decoder             software, libavcodec\nCodecs              H.264, H.265\n"), "\(run.text)")
    let json = try await Program.shell("env -u DISPLAY h26x info --decoders --json", in: folder.url)
    let list = try #require(try JSONSerialization.jsonObject(with: json.output) as? [[String: Any]], "\(json.text)")
    #expect(list.first?["method"] as? String == "software")
  }

  /// Connecting to a display takes longer than the first picture does.
  @Test(
    .enabled(if: ["/dev/dri", "/dev/nvidiactl", "/dev/dxg"].allSatisfy { !FileManager.default.fileExists(atPath: $0) }))
  func skipsADisplayWithoutAGPU() async throws {
    let folder = try Folder()
    let clip = Program.media.appending(path: "clip.h264").path
    let run = try await Program.shell(
      "env -u LIBVA_DRIVER_NAME DISPLAY=:7777 h26x decode --hardware required -o /dev/null '\(clip)'",
      in: folder.url)
    #expect(run.status == 1 && run.said.contains("display :7777 has no GPU of this machine"), "\(run.said)")
  }

  @Test func reportsAMissingDevice() async throws {
    let folder = try Folder()
    let arguments = ["info", "--decoders", "--hardware-device"]
    let node = try await Program.run(arguments + ["/dev/dri/renderD999"], in: folder.url)
    #expect(node.status == 1 && node.said.contains("/dev/dri/renderD999 does not exist"), "\(node.said)")
    let nonsense = try await Program.run(arguments + ["nonsense"], in: folder.url)
    #expect(nonsense.status == 1 && nonsense.said.contains("'nonsense' names no device"), "\(nonsense.said)")
  }

  @Test(arguments: [
    ["info"], ["info", "--decoders", "clip.mp4"], ["info", "--decoders", "--count"],
    ["info", "--hardware-device", "0", "clip.mp4"],
  ])
  func refusesWrongUsage(arguments: [String]) async throws {
    let folder = try Folder()
    let run = try await Program.run(arguments, in: folder.url)
    #expect(run.status == 64, "\(run.said)")
  }
}
