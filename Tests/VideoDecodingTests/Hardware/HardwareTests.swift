// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import HardwareSupport
import TestSupport
import Testing

@testable import VideoDecoding

/// Sessions on a device, for which the driver in Tests/VADriver stands in.
@Suite(.enabled(if: VADriver.folder != nil), .serialized)
struct HardwareTests {
  static let streams = [
    "clip.h264", "interlaced.h264", "open-gop.h264", "clip.h265", "interlaced.h265", "open-gop.h265",
  ]

  @Test(arguments: streams + ["ten-bit.h265"], [false, true])
  func decodesAsSoftwareDoes(_ name: String, _ isSemiPlanar: Bool) throws {
    let stream = try CodedStream(name)
    let driver = try VADriver([stream])
    let session = try driver.session(stream, .required) { $0.outputLayout = isSemiPlanar ? .semiPlanar : .native }
    #expect(session.decoder == .hardware(method: "VA-API", name: "h26x test driver"))
    let run = try session.run(stream)
    #expect(run.checksums == (try stream.softwareRun(semiPlanar: isSemiPlanar)).checksums)
    let format: PixelFormat = name == "ten-bit.h265" ? .yuv420p10 : .yuv420p
    #expect(run.frames.allSatisfy { $0.pixelFormat == (isSemiPlanar ? format.semiPlanar : format) })
    // One is the picture that is never output.
    #expect(driver.garbageCount <= 1)
    #expect(driver.decodedCount > 0)
    #expect(session.latency.threadDelay == 0)
    #expect(session.takeNotices().isEmpty)
  }

  /// What a driver does wrong, and at which picture.
  static let faults: [VADriver.Fault] = [
    .noDevice, .refusedProfile, .refusedSize, .fewSurfaces, .error, .crash, .lostContext, .syncFailure,
  ]

  @Test(arguments: ["clip.h264", "clip.h265"], faults)
  func fallsBackWithoutLosingAPicture(_ name: String, _ fault: VADriver.Fault) throws {
    let stream = try CodedStream(name)
    let expected = try stream.softwareRun().checksums
    let driver = try VADriver([stream])
    let entries = TestScope.rows([0, 1, stream.units.count / 2, stream.units.count - 1], usually: 2)
    for entry in fault.isOfPicture ? entries : [0] {
      driver.inject(fault, parameter: 1, entry: entry)
      let before = driver.firedCount
      let session = try driver.session(stream)
      let run = try session.run(stream)
      let notices = session.takeNotices()
      #expect(run.checksums == expected, "\(fault) at \(entry)")
      #expect(driver.firedCount > before, "\(fault) at \(entry), \(notices)")
      #expect(fault.fallBackCounts ~= session.statistics.softwareFallbacks)
      #expect(notices.count == 1)
    }
  }

  /// libavcodec continues without a slice that the driver has not taken, and the driver decodes the slices that it got.
  @Test(arguments: ["clip.h264", "clip.h265", "interlaced.h264"], [VADriver.Fault.lostSlice, .renderFailure])
  func aLostSliceLosesNoPicture(_ name: String, _ fault: VADriver.Fault) throws {
    let stream = try CodedStream(name)
    let expected = try stream.softwareRun().checksums
    let driver = try VADriver([stream])
    // The first one is of the picture that is never output.
    for passed in [1, 2, 15] {
      driver.inject(fault, parameter: passed, times: 1)
      let session = try driver.session(stream)
      #expect(try session.run(stream).checksums == expected, "after \(passed)")
      #expect(driver.firedCount > 0)
      #expect(session.statistics.softwareFallbacks == 1)
      #expect(session.takeNotices().count == 1)
    }
  }

  /// Another session has taken what the device has: no reason to take the format for one that it does not decode.
  @Test(arguments: ["clip.h264", "clip.h265"], [VADriver.Fault.tooManyContexts, .fewSurfaces])
  func triesABusyDeviceAgain(_ name: String, _ fault: VADriver.Fault) throws {
    let stream = try CodedStream(name)
    let input = CodedStream(units: stream.units + stream.units, format: stream.format)
    let driver = try VADriver([stream])
    let expected = try input.softwareRun().checksums
    // The process has opened the device by then, and decoded the picture that is never output.
    let session = try driver.session(input)
    driver.inject(fault, parameter: 0, times: 1)
    #expect(try session.run(input).checksums == expected)
    #expect(session.takeFallBackReason() == "the device has no room for this stream at the moment")
    #expect(session.decoder != .software)
    #expect(session.statistics.softwareFallbacks == 1)
  }

  @Test(arguments: ["clip.h264", "clip.h265"])
  func abandonsADriverThatHangs(_ name: String) throws {
    let stream = try CodedStream(name)
    let driver = try VADriver([stream])
    driver.inject(.hang, entry: stream.units.count / 2)
    let session = try driver.session(stream, timeout: .seconds(1))
    #expect(try session.run(stream).checksums == (try stream.softwareRun()).checksums)
    #expect(session.statistics.processesLost == 1)
    #expect(session.statistics.softwareFallbacks == 1)
  }

  @Test(arguments: ["clip.h265", "ten-bit.h265"], [false, true])
  func findsWrongPicturesByTheirHashes(_ name: String, _ isSemiPlanar: Bool) throws {
    let stream = try CodedStream(name)
    let driver = try VADriver([stream])
    driver.inject(.wrongPixels, entry: stream.units.count / 2, times: 1)
    let session = try driver.session(stream) { $0.outputLayout = isSemiPlanar ? .semiPlanar : .native }
    let run = try session.run(stream)
    #expect(run.checksums == (try stream.softwareRun(semiPlanar: isSemiPlanar)).checksums)
    #expect(session.statistics.softwareFallbacks == 1)
    #expect(session.statistics.hashMismatches == 0)
  }

  /// Without a device nothing is compared that software decodes: that would cost as much as the pictures have bytes.
  @Test(arguments: [false, true])
  func softwareFallbackComparesNoHashes(_ verifies: Bool) throws {
    let stream = try CodedStream("clip.h265")
    let driver = try VADriver([stream])
    driver.inject(.noDevice)
    let session = try driver.session(try stream.withWrongHashes()) { $0.verifiesPictureHash = verifies }
    let run = try session.run(try stream.withWrongHashes())
    #expect(session.decoder == .software)
    #expect(run.checksums == (try stream.softwareRun()).checksums)
    #expect((session.statistics.hashMismatches > 0) == verifies)
    #expect(run.frames.contains { $0.isCorrupt } == verifies)
  }

  /// A driver that crashes once is worth another attempt.
  @Test(arguments: ["clip.h264", "clip.h265"])
  func replaysACrashOnTheDevice(_ name: String) throws {
    let stream = try CodedStream(name)
    let driver = try VADriver([stream])
    driver.inject(.crash, entry: stream.units.count / 2, times: 1)
    let session = try driver.session(stream)
    #expect(try session.run(stream).checksums == (try stream.softwareRun()).checksums)
    #expect(session.statistics.processesLost == 1)
    #expect(session.statistics.softwareFallbacks == 0)
    #expect(session.takeNotices().isEmpty)
  }

  @Test(arguments: [VADriver.Fault.noDevice, .refusedProfile])
  func missingRequiredHardwareIsAnError(_ fault: VADriver.Fault) throws {
    let stream = try CodedStream("clip.h264")
    let driver = try VADriver([stream])
    driver.inject(fault)
    do {
      let session = try driver.session(stream, .required)
      let run = try session.run(stream)
      #expect(run.frames.isEmpty)
      let failed = run.results.contains {
        if case .failed(_, let error) = $0 { error.reason == .hardwareUnavailable } else { false }
      }
      #expect(failed)
    } catch let error as DecodeError {
      #expect(error.reason == .hardwareUnavailable)
      #expect(error.detail?.contains(driver.display) == true)
    }
  }

  /// If nothing takes the device's place, a picture in which it fails is missing or flagged, however often it is tried.
  @Test(arguments: ["clip.h264", "clip.h265"], faultsOfPictures)
  func flagsPicturesThatARequiredDeviceFailsIn(_ name: String, _ fault: VADriver.Fault) throws {
    let whole = try CodedStream(name)
    let driver = try VADriver([whole])
    // A stream of one picture, and one that continues behind it.
    for (count, entry) in [(1, 0), (12, 0), (12, 1), (12, 5)] {
      let stream = CodedStream(units: Array(whole.units.prefix(count)), format: whole.format)
      let expected = Set(try stream.softwareRun().checksums)
      // The first slice is of the picture that is never output. Other pictures may have several slices.
      driver.inject(fault, parameter: entry + 1, entry: entry)
      let before = driver.firedCount
      let run = try driver.session(stream, .required).run(stream)
      #expect(driver.firedCount > before)
      #expect(run.frames.count < count || run.frames.contains { $0.isCorrupt }, "\(fault) at \(entry)")
      for (frame, checksum) in zip(run.frames, run.checksums) {
        #expect(frame.isCorrupt || expected.contains(checksum), "\(fault) at \(entry), \(frame.tag)")
        #expect(!fault.isOfPicture || frame.tag >= entry || !frame.isCorrupt, "\(fault) at \(entry), \(frame.tag)")
      }
    }
  }

  static let faultsOfPictures: [VADriver.Fault] = [.error, .syncFailure, .lostSlice, .renderFailure]

  @Test func listsDevicesWithTheirFormats() throws {
    let driver = try VADriver([CodedStream("clip.h264")])
    let decoder = try HardwareDecoder(at: driver.display, limits: ProcessLimits(), starter: driver.starter)
    #expect(decoder.method == "VA-API")
    #expect(decoder.name == "h26x test driver")
    #expect(decoder.device == driver.display)
    #expect(
      decoder.profiles.map { "\($0.codec) \($0.name)" } == [
        "h264 Constrained Baseline", "h264 Main", "h264 High", "h265 Main", "h265 Main 10",
      ])
    #expect(decoder.profiles.allSatisfy { $0.maximumWidth == 8192 && $0.maximumHeight == 8192 })
    #expect(decoder.profiles.allSatisfy { $0.minimumWidth == 16 && $0.minimumHeight == 16 })
    // A process that lists serves no session.
    #expect(driver.decodedCount <= 1)
  }

  /// The X display of the environment has the device of a render node; another driver is another decoder.
  @Test func listsADeviceOnce() {
    func decoder(_ device: String, name: String = "a driver", method: String = "VA-API") -> HardwareDecoder {
      HardwareDecoder(method: method, device: device, name: name, profiles: [])
    }
    let node = decoder("/dev/dri/renderD128")
    #expect(decoder(":0").isDuplicate(of: node))
    #expect(!decoder(":0", name: "another driver").isDuplicate(of: node))
    #expect(!decoder("/dev/dri/renderD129").isDuplicate(of: node))
    #expect(!decoder("0", method: "CUDA").isDuplicate(of: node))
    #expect(!node.isDuplicate(of: decoder(":0")))
  }

  @Test func doesNotListADeviceThatCannotBeOpened() throws {
    let driver = try VADriver([CodedStream("clip.h264")])
    driver.inject(.noDevice)
    let error = #expect(throws: DecodeError.self) {
      _ = try HardwareDecoder(at: driver.display, limits: ProcessLimits(), starter: driver.starter)
    }
    #expect(error?.reason == .hardwareUnavailable)
    #expect(error?.detail?.contains(driver.display) == true)
  }

  @Test func reportsAMissingDevice() throws {
    let stream = try CodedStream("clip.h264")
    for (device, text) in [
      ("/dev/dri/renderD999", "does not exist"), ("nonsense", "names no device"), (":9999", "VA-API on :9999"),
    ] {
      var configuration = SessionConfiguration()
      configuration.isolation = .process(ProcessLimits())
      configuration.hardware = .required
      configuration.hardwareDevice = device
      let error = #expect(throws: DecodeError.self) {
        _ = try DecompressionSession(format: stream.format, configuration: configuration)
      }
      #expect(error?.reason == .hardwareUnavailable)
      #expect(error?.detail?.contains(text) == true, "\(error?.detail ?? "")")
    }
  }

  @Test(arguments: ["clip.h264", "clip.h265"])
  func decodesDamageInSoftware(_ name: String) throws {
    let whole = try CodedStream(name)
    var damaged = whole
    damaged.remove(unit: 1)
    let driver = try VADriver([whole])
    let session = try driver.session(damaged)
    let (run, expected) = (try session.run(damaged), try damaged.softwareRun())
    #expect(run.checksums == expected.checksums)
    #expect(run.frames.map(\.isCorrupt) == expected.frames.map(\.isCorrupt))
    #expect(session.statistics.softwareFallbacks >= 1)
    #expect(session.takeNotices().count == 1)
  }

  /// Behind a random access point the device decodes again: an IDR picture, a CRA picture, a recovery point.
  @Test(arguments: ["clip.h264", "clip.h265", "open-gop.h264", "open-gop.h265"])
  func returnsToTheDeviceAtARandomAccessPoint(_ name: String) throws {
    let stream = try CodedStream(name)
    let isClosed = name.hasPrefix("clip")
    let input = isClosed ? CodedStream(units: stream.units + stream.units, format: stream.format) : stream
    let driver = try VADriver([stream])
    driver.inject(.error, entry: stream.units.count / (isClosed ? 2 : 8), times: 1)
    let session = try driver.session(input)
    let run = try session.run(input)
    #expect(run.checksums == (try input.softwareRun()).checksums)
    #expect(session.statistics.softwareFallbacks == 1)
    #expect(session.decoder != .software)
  }

  /// What cannot be replayed is lost up to the next random access point, and no more than that.
  @Test(arguments: ["clip.h264", "clip.h265"])
  func abandonsADeviceThatFailsWithoutAReplay(_ name: String) throws {
    let stream = try CodedStream(name)
    let driver = try VADriver([stream])
    driver.inject(.error, entry: 8)
    let session = try driver.session(stream) { $0.replayCountLimit = 4 }
    let run = try session.run(stream)
    #expect(run.checksums.suffix(20) == (try stream.softwareRun()).checksums.suffix(20))
    #expect(session.statistics.softwareFallbacks == 1)
    let reasons = run.failures.map(\.reason)
    #expect(!reasons.contains(.hardwareUnavailable))
  }

  /// The device returns only where the replay contains every picture that is not out yet.
  @Test(arguments: ["clip.h264", "clip.h265", "open-gop.h264", "open-gop.h265"], [1, 4])
  func returningToTheDeviceLosesNoPicture(_ name: String, _ threadCount: Int) throws {
    let stream = try CodedStream(name)
    let input = CodedStream(units: stream.units + stream.units, format: stream.format)
    let expected = try input.softwareRun().checksums
    let driver = try VADriver([stream])
    for limit in [3, 6, 12, 30] {
      driver.inject(.error, entry: 1, times: 1)
      let session = try driver.session(input) {
        $0.replayCountLimit = limit
        $0.threadCount = threadCount
      }
      #expect(try session.run(input).checksums == expected, "\(limit)")
    }
  }

  /// A seek, with what is inside discarded.
  @Test(arguments: ["clip.h264", "clip.h265"])
  func flushesAsSoftwareDoes(_ name: String) throws {
    let stream = try CodedStream(name)
    let driver = try VADriver([stream])
    func decode(_ session: DecompressionSession) throws -> Run {
      var run = Run()
      for (index, unit) in stream.units.prefix(20).enumerated() {
        try session.decode(unit, tag: UInt64(index))
        session.takeResults(into: &run)
      }
      session.flush()
      try session.run(stream.units, into: &run)
      return run
    }
    let session = try driver.session(stream)
    let reference = try stream.session(.with { $0.threadCount = 1 })
    #expect(try decode(session).checksums == (try decode(reference)).checksums)
    #expect(session.statistics.softwareFallbacks == 0)
  }
}

extension CodedStream {
  /// The same, with another last byte in the picture hash (SEI of type 132) of each access unit.
  fileprivate func withWrongHashes() throws -> CodedStream {
    var units = units
    for index in units.indices {
      // A suffix SEI NAL unit of type 40, with a payload of type 132, comes last; its hash ends before the trailing bits.
      let start = units[index].indices.dropLast(4).last {
        units[index][$0] == 0 && units[index][$0 + 1] == 0 && units[index][$0 + 2] == 1
          && units[index][$0 + 3] >> 1 & 63 == 40
      }
      guard let start, units[index][start + 5] == 132, let end = units[index].lastIndex(of: 0x80) else { continue }
      units[index][end - 1] ^= 0x10
    }
    try #require(units != self.units)
    return CodedStream(units: units, format: format)
  }

  fileprivate mutating func remove(unit index: Int) {
    var units = units
    units.remove(at: index)
    self = CodedStream(units: units, format: format)
  }
}
