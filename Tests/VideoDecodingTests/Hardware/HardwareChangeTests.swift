// SPDX-License-Identifier: MPL-2.0
import H26x
import HardwareSupport
import TestSupport
import Testing

@testable import VideoDecoding

/// Streams on a device whose size or bit depth changes, in other packagings, and sessions in the application's process.
/// That process has one environment, so the tests run one after the other, with tests in other files among them.
@Suite(.enabled(if: VADriver.folder != nil), .serialized)
struct HardwareChangeTests {
  init() { PictureSurface.takeSharedMemory() }

  // MARK: Other sizes and bit depths

  /// The streams that follow each other in one stream.
  static let changes = [
    ["clip.h264", "wide.h264", "interlaced.h264", "clip.h264"],
    ["clip.h265", "wide.h265", "clip.h265"],
    ["clip.h265", "ten-bit.h265", "wide.h265", "ten-bit.h265", "clip.h265"],
  ]

  /// The streams, or the beginnings of long ones, one after the other. Each begins with its parameter sets.
  private func parts(_ names: [String]) throws -> [CodedStream] {
    try names.map { name in
      let stream = try CodedStream(name)
      return CodedStream(units: Array(stream.units.prefix(20)), format: stream.format)
    }
  }

  private func firstUnits(_ parts: [CodedStream]) -> [Int] {
    parts.indices.map { parts[..<$0].reduce(0) { $0 + $1.units.count } }
  }

  /// The pictures of all parts, and whether the device decoded at the end of each.
  ///
  /// - Parameter isAccepted: whether the session accepts each part's format first.
  private func decode(
    _ parts: [CodedStream], in session: DecompressionSession, isAccepted: Bool = false
  ) throws -> (run: Run, onDevice: [Bool]) {
    var run = Run()
    var onDevice: [Bool] = []
    var tag: UInt64 = 0
    for part in parts {
      if isAccepted { try session.accept(part.format) }
      for unit in part.units {
        try session.decode(unit, tag: tag)
        session.takeResults(into: &run)
        tag += 1
      }
      onDevice.append(session.decoder != .software)
    }
    session.drain()
    session.takeResults(into: &run)
    return (run, onDevice)
  }

  @Test(arguments: changes, [false, true])
  func sizeAndDepthChangeInMidStream(_ names: [String], _ isAccepted: Bool) throws {
    let parts = try parts(names)
    let stream = try CodedStream(joining: parts)
    let driver = try VADriver([stream])
    let session = try driver.session(stream)
    let (run, onDevice) = try decode(parts, in: session, isAccepted: isAccepted)
    #expect(run.checksums == (try stream.softwareRun()).checksums)
    #expect(Set(run.frames.map { "\($0.width) \($0.height) \($0.pixelFormat.bitDepth)" }).count == Set(names).count)
    #expect(onDevice == parts.map { _ in true })
    #expect(session.takeNotices().isEmpty)
  }

  /// The device fails in the first, a middle and the last picture of each part. No part comes twice: a repeated picture
  /// would be the same one to the driver.
  @Test(arguments: [["clip.h264", "wide.h264", "interlaced.h264"], ["clip.h265", "ten-bit.h265", "wide.h265"]])
  func fallsBackWhereverTheStreamChanges(_ names: [String]) throws {
    let parts = try parts(names)
    let stream = try CodedStream(joining: parts)
    let expected = try stream.softwareRun().checksums
    let driver = try VADriver([stream])
    for (part, first) in zip(parts, firstUnits(parts)) {
      for entry in [first, first + part.units.count / 2, first + part.units.count - 1] {
        driver.inject(.error, entry: entry)
        let before = driver.firedCount
        let session = try driver.session(stream)
        #expect(try session.run(stream).checksums == expected, "\(entry)")
        #expect(driver.firedCount > before, "\(entry)")
        #expect(session.statistics.softwareFallbacks == 1, "\(entry)")
        #expect(session.takeNotices().count == 1, "\(entry)")
      }
    }
  }

  /// A device may refuse something for a picture's first slice alone. That counts as a refusal: libavcodec tries again
  /// with the next slice, and decodes the picture without the first slice.
  @Test(arguments: [VADriver.Fault.tooManyContexts, .fewSurfaces, .refusedSize])
  func aRefusedSliceRefusesItsPicture(_ fault: VADriver.Fault) throws {
    let parts = try parts(["wide.h264", "clip.h264"])
    let stream = try CodedStream(joining: parts)
    let driver = try VADriver([stream])
    let session = try driver.session(stream)
    var run = Run()
    for (tag, unit) in stream.units.enumerated() {
      if tag == parts[0].units.count { driver.inject(fault, times: 1) }
      try session.decode(unit, tag: UInt64(tag))
      session.takeResults(into: &run)
    }
    session.drain()
    session.takeResults(into: &run)
    #expect(driver.firedCount == 1)
    #expect(run.checksums == (try stream.softwareRun()).checksums)
    #expect(session.statistics.softwareFallbacks == 1)
  }

  /// The device decodes what it can before and after.
  @Test(.enabled(if: Vectors.isAvailable))
  func decodesRefusedPartsInSoftware() throws {
    let names = ["clip.h264", "PPH10I1_Panasonic_A.264", "clip.h264"]
    let parts = try names.map { name in
      let stream = try CodedStream(name)
      return CodedStream(units: Array(stream.units.prefix(20)), format: stream.format)
    }
    let stream = try CodedStream(joining: parts)
    let driver = try VADriver([stream])
    let session = try driver.session(stream)
    let (run, onDevice) = try decode(parts, in: session)
    #expect(run.checksums == (try stream.softwareRun()).checksums)
    #expect(onDevice == [true, false, true])
    #expect(session.statistics.softwareFallbacks == 1)
    #expect(session.takeNotices().count == 1)
  }

  // MARK: Length prefixes

  /// Parameter sets in the access units, or in the format alone.
  @Test(arguments: HardwareTests.streams, [(NALLengthSize.two, false), (.four, false), (.four, true)])
  func decodesLengthPrefixed(_ name: String, _ packaging: (size: NALLengthSize, isOutOfBand: Bool)) throws {
    let stream = try CodedStream(name)
    let driver = try VADriver([stream])
    var format = stream.format
    format.nalLengthSize = packaging.size
    let units = stream.units.map { unit in
      lengthPrefixed(packaging.isOutOfBand ? withoutParameterSets(unit, format.codec) : unit, packaging.size)
    }
    let prefixed = CodedStream(units: units, format: format)
    let session = try driver.session(prefixed, .required)
    #expect(try session.run(prefixed).checksums == (try stream.softwareRun()).checksums)
    #expect(driver.decodedCount > 0)
    #expect(session.decoder != .software)
  }

  private func withoutParameterSets(_ unit: [UInt8], _ codec: FormatDescription.Codec) -> [UInt8] {
    H265Stream.joined(
      H265Stream.nalUnits(unit).filter { nalUnit in
        switch codec {
        case .h264: !(7...9 ~= nalUnit[0] & 31)
        case .h265: !(32...35 ~= nalUnit[0] >> 1)
        }
      })
  }

  /// A replay in software has the parameter sets of the format.
  @Test(arguments: HardwareTests.streams)
  func fallsBackWithParameterSetsOutOfBand(_ name: String) throws {
    let stream = try CodedStream(name)
    let driver = try VADriver([stream])
    var format = stream.format
    format.nalLengthSize = .four
    let prefixed = CodedStream(
      units: stream.units.map { lengthPrefixed(withoutParameterSets($0, format.codec), .four) }, format: format)
    let expected = try stream.softwareRun().checksums
    for entry in [0, stream.units.count / 2, stream.units.count - 1] {
      driver.inject(.error, entry: entry)
      let session = try driver.session(prefixed)
      let run = try session.run(prefixed)
      let wrong = zip(run.checksums, expected).enumerated().filter { $1.0 != $1.1 }.map(\.offset)
      #expect(run.checksums == expected, "\(entry): \(run.checksums.count) of \(expected.count), \(wrong)")
      #expect(session.statistics.softwareFallbacks == 1, "\(entry)")
    }
  }

  // MARK: In the application's process

  @Test(arguments: HardwareTests.streams + ["ten-bit.h265"], [false, true])
  func decodesInTheApplicationsProcess(_ name: String, _ isSemiPlanar: Bool) throws {
    let stream = try CodedStream(name)
    let driver = try VADriver([stream])
    driver.moveIntoEnvironment()
    let session = try driver.session(stream, .required) {
      $0.isolation = .none
      $0.outputLayout = isSemiPlanar ? .semiPlanar : .native
    }
    #expect(session.decoder == .hardware(method: "VA-API", name: "h26x test driver"))
    #expect(try session.run(stream).checksums == (try stream.softwareRun(semiPlanar: isSemiPlanar)).checksums)
    #expect(driver.decodedCount > 0)
    #expect(driver.garbageCount == 0)
    #expect(session.takeNotices().isEmpty)
  }

  /// The faults that a process survives: all that neither end nor stop it.
  static let survivableFaults: [VADriver.Fault] = [
    .refusedProfile, .refusedSize, .fewSurfaces, .error, .lostContext, .syncFailure, .tooManyContexts,
  ]

  @Test(arguments: ["clip.h264", "clip.h265"], survivableFaults)
  func fallsBackInTheApplicationsProcess(_ name: String, _ fault: VADriver.Fault) throws {
    let stream = try CodedStream(name)
    let driver = try VADriver([stream])
    driver.moveIntoEnvironment()
    let expected = try stream.softwareRun().checksums
    for entry in fault.isOfPicture ? [0, 1, stream.units.count / 2, stream.units.count - 1] : [0] {
      driver.inject(fault, parameter: fault == .fewSurfaces ? 1 : 0, entry: entry)
      do {
        let session = try driver.session(stream) { $0.isolation = .none }
        #expect(try session.run(stream).checksums == expected, "\(entry)")
        #expect(fault.fallBackCounts ~= session.statistics.softwareFallbacks, "\(entry)")
        #expect(session.takeNotices().count == 1, "\(entry)")
      }
      #expect(driver.liveSurfaces == 0, "\(entry)")
      #expect(driver.liveContexts == 0, "\(entry)")
      #expect(driver.liveDisplays == 0, "\(entry)")
    }
  }

  /// Pictures outlive the session, and the device does not.
  @Test(arguments: HardwareTests.streams)
  func releasesTheDevice(_ name: String) throws {
    let stream = try CodedStream(name)
    let driver = try VADriver([stream])
    driver.moveIntoEnvironment()
    let run = try driver.session(stream, .required) { $0.isolation = .none }.run(stream)
    #expect(driver.liveSurfaces == 0)
    #expect(driver.liveContexts == 0)
    #expect(driver.liveDisplays == 0)
    #expect(run.checksums == (try stream.softwareRun()).checksums)
  }
}
