// SPDX-License-Identifier: MPL-2.0
import H26x
import HardwareSupport

@testable import VideoDecoding

extension VADriver {
  /// A driver that decodes these streams.
  convenience init(_ streams: [CodedStream]) throws {
    var table = PictureTable()
    for stream in streams { try table.add(stream.units, stream.format) }
    try self.init(table)
  }

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

extension VADriver.Fault {
  /// It happens when a certain picture is decoded.
  var isOfPicture: Bool {
    [.error, .hang, .crash, .wrongPixels, .lostContext, .syncFailure].contains(self)
  }

  /// How often software takes over in a short stream: a device that is busy is tried again at the next random access
  /// point.
  var fallBackCounts: ClosedRange<UInt64> { self == .fewSurfaces || self == .tooManyContexts ? 1...2 : 1...1 }
}

extension CodedStream {
  /// Streams one after the other, in the format of the first.
  init(joining streams: [CodedStream]) throws {
    self.init(units: streams.flatMap(\.units), format: streams[0].format)
  }

  /// What software decodes of it.
  func softwareRun(semiPlanar: Bool = false) throws -> Run {
    try decode(
      .with {
        $0.threadCount = 1
        $0.outputLayout = semiPlanar ? .semiPlanar : .native
      })
  }
}

extension DecompressionSession {
  /// Decodes all of a stream.
  func run(_ stream: CodedStream) throws -> Run {
    var run = Run()
    try self.run(stream.units, into: &run)
    return run
  }

  /// All notices, but not that the machine does not allow all protection.
  func takeNotices() -> [SessionNotice] {
    var notices: [SessionNotice] = []
    while let notice = nextNotice() {
      if case .incompleteSandbox = notice { continue }
      notices.append(notice)
    }
    return notices
  }

  /// Why software decodes in place of a device, by the notices; nil without one.
  func takeFallBackReason() -> String? {
    takeNotices().lazy.compactMap { if case .softwareFallback(let reason) = $0 { reason } else { nil } }.first
  }
}
