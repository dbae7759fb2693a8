// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// Environment variables that give the defaults of the decoders' properties.
@Suite(.enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)))
struct DecoderDefaultsTests {
  private static let host = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(
    path: "codec-host")
  /// pidfd_open(2), without which no process is begun.
  private static let pidfdOpen = "434"
  private static let noService = ["H26X_CODEC_SERVICE": "/nowhere/h26x-codec"]

  /// Decodes the clip, behind a filter that denies system calls if there are any.
  private func decode(
    _ codec: String, _ properties: String, denying calls: String = "", environment: [String: String]
  ) async throws -> Command {
    let clip = PluginUnderTest.media.appending(path: "clip.\(codec)").path
    let filter = calls.isEmpty ? [] : [Self.host.path, "deny", "38", calls]
    let line = "-m filesrc location=\(clip) ! swift\(codec)parse ! swift\(codec)dec \(properties) ! fakesink"
    return try await Command.run(
      filter + ["gst-launch-1.0"] + line.split(separator: " ").map(String.init), environment: environment)
  }

  /// Without the service, isolation is an error. The error shows that decoding is isolated.
  @Test(
    arguments: ["h264", "h265"],
    [
      (nil, "", false), ("process", "", true), ("none", "", false), ("", "", false),
      ("process", "isolation=none", false),
      ("process", "isolation=process", true), ("none", "isolation=process", true), (nil, "isolation=process", true),
    ] as [(String?, String, Bool)])
  func takesIsolationFromTheEnvironment(_ codec: String, _ row: (value: String?, properties: String, isIsolated: Bool))
    async throws
  {
    var environment = Self.noService
    environment["H26X_ISOLATION"] = row.value
    let run = try await decode(codec, row.properties, environment: environment)
    #expect((run.busError?.contains("/nowhere/h26x-codec") ?? false) == row.isIsolated, "\(run)")
    #expect(run.status == (row.isIsolated ? 1 : 0), "\(run)")
  }

  /// Without a device, hardware=required is an error.
  @Test(arguments: [
    ("required", "", true), ("required", "hardware=off", false), ("auto", "", false),
    ("off", "hardware=required", true),
  ])
  func takesHardwareFromTheEnvironment(_ value: String, _ properties: String, _ isRequired: Bool) async throws {
    let device = "hardware-device=/nowhere/renderD128"
    let run = try await decode("h264", "\(device) \(properties)", environment: ["H26X_HARDWARE": value])
    #expect((run.busError?.contains("No device decodes this stream") ?? false) == isRequired, "\(run)")
  }

  @Test(arguments: ["H26X_ISOLATION", "H26X_HARDWARE"]) func reportsAnInvalidValue(
    _ variable: String
  ) async throws {
    let run = try await decode("h264", "", environment: [variable: "yes"])
    #expect(run.status == 0 && run.output.contains("\(variable)=yes is ignored"), "\(run)")
  }

  /// A filter that the application is behind forbids what isolation takes.
  @Test(arguments: ["h264", "h265"]) func decodesWithoutIsolationBehindAFilter(_ codec: String) async throws {
    let environment = ["H26X_ISOLATION": "process"]
    let run = try await decode(codec, "", denying: Self.pidfdOpen, environment: environment)
    #expect(run.status == 0 && run.output.contains("Decoding is not isolated"), "\(run)")
    let explicit = try await decode(codec, "isolation=process", denying: Self.pidfdOpen, environment: environment)
    #expect(explicit.busError?.contains("No process to decode in") == true, "\(explicit)")
    // One that forbids nothing of it, as containers have.
    let harmless = try await decode(codec, "", denying: "9999", environment: environment)
    #expect(harmless.status == 0 && !harmless.output.contains("not isolated"), "\(harmless)")
  }

  @Test func showsTheDefaultInGstInspect() async throws {
    let run = try await Command.run(["gst-inspect-1.0", "swifth264dec"], environment: ["H26X_ISOLATION": "process"])
    #expect(run.output.contains("Default: 1, \"process\""), "\(run)")
  }
}
