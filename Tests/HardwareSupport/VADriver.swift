// SPDX-License-Identifier: MPL-2.0
import Foundation
import Glibc
import Testing
package import VideoDecoding

/// The VA-API driver of the tests (Tests/VADriver), an X display to open it on, and its settings and counts.
@safe package final class VADriver: @unchecked Sendable {
  /// A fault of the driver.
  package enum Fault: UInt32, CaseIterable {
    case none
    case noDevice, refusedProfile, refusedSize, fewSurfaces
    case error, hang, crash, wrongPixels, lostContext, slowDownload, syncFailure, tooManyContexts
    case lostSlice, renderFailure
    case tiledExport, exportFailure, unknownExport, compressedExport
  }

  /// A starter whose processes load the driver.
  package let starter: CodecStarter
  /// The X display.
  package let display: String
  private let state: UnsafeMutablePointer<UInt32>
  private let files: [String]
  private let environment: [String]

  /// The folder of the driver; nil if it was not built, because libva's headers or an X server are missing.
  package static let folder: String? = {
    var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    parts.removeLast(3)
    let folder = parts.joined(separator: "/") + "/.build/va"
    return unsafe access(folder + "/h26xtest_drv_video.so", R_OK) == 0 && XServer.shared != nil ? folder : nil
  }()

  /// How much of a session's stream the device has decoded, in words: how often it is tried again depends on the clock.
  package func share(of session: DecompressionSession) -> String {
    // One picture is decoded but not shown.
    decodedCount <= 1 ? "none" : session.statistics.softwareFallbacks > 0 ? "some" : "all"
  }

  /// A driver that decodes these pictures.
  package init(_ table: PictureTable) throws {
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
    environment = [
      "LIBVA_DRIVERS_PATH=\(folder)", "LIBVA_DRIVER_NAME=h26xtest", "LIBVA_MESSAGING_LEVEL=0",
      "LIBVA_TEST_TABLE=\(files[0])", "LIBVA_TEST_STATE=\(files[1])",
    ]
    starter = CodecStarter(environment: environment)
  }

  deinit {
    unsafe munmap(state, 4096)
    for file in files { unsafe unlink(file) }
  }

  /// Has the driver do something wrong.
  ///
  /// - Parameters:
  ///   - parameter: surfaces, contexts or milliseconds, where the fault is about these; of slices and pictures, how many
  ///     pass before it.
  ///   - entry: the access unit with a picture, counted from 0, at which it happens; nil for any.
  ///   - times: how often; nil for ever.
  package func inject(_ fault: Fault, parameter: Int = 0, entry: Int? = nil, times: Int? = nil) {
    unsafe state[3] = 0
    unsafe state[0] = fault.rawValue
    unsafe state[1] = UInt32(parameter)
    unsafe state[2] = entry.map(UInt32.init) ?? .max
    unsafe state[3] = times.map(UInt32.init) ?? .max
  }

  /// Faults so far.
  package var firedCount: Int { unsafe Int(state[4]) }
  /// Pictures that were found in the table, with the references that they need.
  package var decodedCount: Int { unsafe Int(state[5]) }
  /// Pictures that were not.
  package var garbageCount: Int { unsafe Int(state[6]) }
  /// Pictures that were downloaded, and such that were exported.
  package var downloadCount: Int { unsafe Int(state[10]) }
  package var exportCount: Int { unsafe Int(state[12]) }
  /// The number of allocations. Killed processes leave theirs in the count.
  package var liveSurfaces: Int { unsafe Int(state[7]) }
  package var liveContexts: Int { unsafe Int(state[8]) }
  package var liveDisplays: Int { unsafe Int(state[9]) }

  /// Makes this process and its later children find the driver, until the next call for another driver. A session in
  /// this process looks for it when it is created; the starter of other sessions, when its first process begins.
  ///
  /// Avoids setenv(3), which moves strings that another thread may be reading. Old strings are never released.
  package func moveIntoEnvironment() {
    var strings = unsafe [UnsafeMutablePointer<CChar>?]()
    var next = unsafe environ
    while let string = unsafe next.pointee {
      if unsafe strncmp(string, "LIBVA_", 6) != 0 { unsafe strings.append(string) }
      unsafe next += 1
    }
    for variable in environment { unsafe strings.append(strdup(variable)) }
    unsafe strings.append(nil)
    let memory = unsafe UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: strings.count)
    unsafe memory.initialize(from: strings, count: strings.count)
    // Swift imports `environ` as a constant.
    let place = unsafe dlsym(nil, "environ")
    unsafe place?.storeBytes(of: memory, as: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.self)
  }
}
