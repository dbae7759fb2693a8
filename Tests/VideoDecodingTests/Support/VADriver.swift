// SPDX-License-Identifier: MPL-2.0
import Foundation
import Glibc
import Testing

@testable import VideoDecoding

/// The VA-API driver of the tests (Tests/VADriver), an X display to open it on, and what it is told and counts.
@safe final class VADriver {
  /// What the driver does wrong.
  enum Fault: UInt32, CaseIterable {
    case none
    case noDevice, refusedProfile, refusedSize, fewSurfaces
    case error, hang, crash, wrongPixels, lostContext, slowDownload, syncFailure, tooManyContexts
  }

  /// A starter whose processes load the driver.
  let starter: CodecStarter
  /// The X display.
  let display: String
  private let state: UnsafeMutablePointer<UInt32>
  private let files: [String]

  /// The folder of the driver; nil where it was not built, for want of libva's headers or of an X server.
  static let folder: String? = {
    var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    parts.removeLast(4)
    let folder = parts.joined(separator: "/") + "/.build/va"
    return unsafe access(folder + "/h26xtest_drv_video.so", R_OK) == 0 && XServer.shared != nil ? folder : nil
  }()

  /// A driver that decodes these pictures.
  init(_ table: PictureTable) throws {
    let folder = try #require(Self.folder)
    display = try #require(XServer.shared).display
    let name = NSTemporaryDirectory() + "h26x-va-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
    files = [name + ".table", name + ".state"]
    try Data(table.bytes()).write(to: URL(fileURLWithPath: files[0]))
    try Data(count: 4096).write(to: URL(fileURLWithPath: files[1]))
    let descriptor = unsafe open(files[1], O_RDWR)
    try #require(descriptor >= 0)
    let memory = unsafe mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    close(descriptor)
    unsafe state = try #require(memory).assumingMemoryBound(to: UInt32.self)
    starter = CodecStarter(environment: [
      "LIBVA_DRIVERS_PATH=\(folder)", "LIBVA_DRIVER_NAME=h26xtest", "LIBVA_MESSAGING_LEVEL=0",
      "LIBVA_TEST_TABLE=\(files[0])", "LIBVA_TEST_STATE=\(files[1])",
    ])
  }

  deinit {
    unsafe munmap(state, 4096)
    for file in files { unsafe unlink(file) }
  }

  /// Has the driver do something wrong.
  ///
  /// - Parameters:
  ///   - parameter: surfaces, contexts or milliseconds, where the fault is about these.
  ///   - entry: the access unit with a picture, counted from 0, at which it happens; nil for any.
  ///   - times: how often; nil for ever.
  func inject(_ fault: Fault, parameter: Int = 0, entry: Int? = nil, times: Int? = nil) {
    unsafe state[3] = 0
    unsafe state[0] = fault.rawValue
    unsafe state[1] = UInt32(parameter)
    unsafe state[2] = entry.map(UInt32.init) ?? .max
    unsafe state[3] = times.map(UInt32.init) ?? .max
  }

  /// Faults so far.
  var firedCount: Int { unsafe Int(state[4]) }
  /// Pictures that were found in the table, with the references that they need.
  var decodedCount: Int { unsafe Int(state[5]) }
  /// Pictures that were not.
  var garbageCount: Int { unsafe Int(state[6]) }
  /// What is allocated; processes that are killed leave theirs in the count.
  var liveSurfaces: Int { unsafe Int(state[7]) }
  var liveContexts: Int { unsafe Int(state[8]) }
  var liveDisplays: Int { unsafe Int(state[9]) }

  /// A session on the driver.
  func session(
    _ stream: CodedStream, _ hardware: SessionConfiguration.Hardware = .preferred,
    timeout: Duration = .seconds(20), _ change: (inout SessionConfiguration) -> Void = { _ in }
  ) throws -> DecompressionSession {
    var configuration = SessionConfiguration()
    configuration.threadCount = 1
    configuration.isolation = .process(ProcessLimits(timeout: timeout))
    configuration.hardware = hardware
    configuration.hardwareDevice = display
    change(&configuration)
    return try DecompressionSession(
      format: stream.format, configuration: configuration, allocator: nil, starter: starter)
  }
}

/// An X server without a screen that anybody sees. Ends with the tests.
final class XServer: Sendable {
  static let shared = XServer()
  let display: String

  private init?() {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    // The shell ends the server when this process is gone, and with it the other end of the pipe.
    process.arguments = [
      "-c",
      "command -v Xvfb > /dev/null || exit 1; Xvfb -displayfd 1 -screen 0 64x64x24 -nolisten tcp -noreset 2> /dev/null & "
        + "server=$!; exec > /dev/null; cat; kill $server",
    ]
    let input = Pipe()
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    var text = ""
    while !text.hasSuffix("\n") {
      let data = output.fileHandleForReading.readData(ofLength: 1)
      guard !data.isEmpty else { return nil }
      text += String(decoding: data, as: UTF8.self)
    }
    display = ":" + text.dropLast()
    // The pipe closes with this process.
    unsafe Self.inputs.append(input)
  }

  nonisolated(unsafe) private static var inputs: [Pipe] = []
}
