// SPDX-License-Identifier: MPL-2.0
import Glibc
import H26x
import TestSupport
import VideoDecoding

/// An application that logs by libavutil, as it sets it up or as it comes, and decodes an access unit for which
/// libavcodec logs without a codec context.
enum LogTrial {
  private typealias Format = UnsafePointer<CChar>
  private typealias Callback = @convention(c) (UnsafeRawPointer?, Int32, Format?, UnsafeRawPointer?) -> Void
  private typealias SetCallback = @convention(c) (Callback) -> Void
  // The format takes no arguments.
  private typealias Log = @convention(c) (UnsafeRawPointer?, Int32, Format) -> Void
  private typealias SetLevel = @convention(c) (Int32) -> Void
  private typealias GetLevel = @convention(c) () -> Int32

  /// Decodes, then logs a line of its own. If it sets a callback, it prints the lines that arrive there.
  static func run(isIsolated: Bool, setsCallback: Bool) throws {
    guard let library = Library() else { return CodecHost.show("no libavutil") }
    if setsCallback {
      unsafe library.function("av_log_set_callback", as: SetCallback.self)?({ _, level, format, _ in
        guard level <= 24, let format = unsafe format else { return }
        unsafe CodecHost.show("callback: \(String(cString: format).split(separator: "\n").joined())")
      })
      library.function("av_log_set_level", as: SetLevel.self)?(24)
    }
    let session = try decode(isIsolated: isIsolated)
    CodecHost.show("processes lost: \(session.statistics.processesLost)")
    unsafe library.function("av_log", as: Log.self)?(nil, 16, "words of the application\n")
    CodecHost.show("level: \(library.function("av_log_get_level", as: GetLevel.self)?() ?? 0)")
  }

  private static func decode(isIsolated: Bool) throws -> DecompressionSession {
    let stream = clip()
    var sets = H264.ParameterSets()
    var units: [[UInt8]] = []
    var hasSlice = true
    var nalUnits = AnnexB.NALUnits(stream.span)
    while let nalUnit = nalUnits.next() {
      let bytes = Array(stream[nalUnit.range])
      _ = try? sets.insert(bytes.span)
      let isSlice = 1...5 ~= bytes[0] & 31
      // With the slice before it, an IDR picture is in the access unit of another one: "Broken frame packetizing".
      let isFirst = bytes[0] & 31 == 1 && bytes.count > 1 && bytes[1] & 0x80 != 0
      if hasSlice, isFirst || units.isEmpty {
        units.append([])
        hasSlice = false
      }
      units[units.count - 1] += MinimalStream.annexB([bytes])
      hasSlice = hasSlice || isSlice
    }
    var configuration = SessionConfiguration()
    configuration.threadCount = 1
    if isIsolated { configuration.isolation = .process(ProcessLimits(timeout: .seconds(60))) }
    let session = try DecompressionSession(
      format: FormatDescription(sets, nalLengthSize: nil), configuration: configuration)
    for (tag, unit) in units.enumerated() { try session.decode(unit.span, tag: UInt64(tag)) }
    session.drain()
    return session
  }

  /// The project's clip.
  private static func clip() -> [UInt8] {
    let tests = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
    let file = unsafe open(tests + "/Media/clip.h264", O_RDONLY)
    defer { close(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe read(file, &piece, piece.count)
      guard count > 0 else { return bytes }
      bytes += piece.prefix(count)
    }
  }

  /// libavutil, of whichever version is there.
  @safe private struct Library {
    private let handle: UnsafeMutableRawPointer

    init?() {
      guard let handle = unsafe (56...63).lazy.compactMap({ unsafe dlopen("libavutil.so.\($0)", RTLD_NOW) }).first
      else { return nil }
      unsafe self.handle = unsafe handle
    }

    func function<Function>(_ name: String, as type: Function.Type) -> Function? {
      unsafe dlsym(handle, name).map { unsafe unsafeBitCast($0, to: type) }
    }
  }
}
