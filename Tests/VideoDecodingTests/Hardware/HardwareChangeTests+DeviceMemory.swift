// SPDX-License-Identifier: MPL-2.0
import AVCodec
import Glibc
import H26x
import HardwareSupport
import Testing

@testable import VideoDecoding

/// Pictures that stay in the device's memory. The driver in Tests/VADriver has memory that processes share in its place.
extension HardwareChangeTests {
  private func session(
    _ driver: VADriver, _ stream: CodedStream, isIsolated: Bool = true,
    _ hardware: SessionConfiguration.Hardware = .preferred
  ) throws -> DecompressionSession {
    if !isIsolated { driver.moveIntoEnvironment() }
    return try driver.session(stream, hardware) {
      $0.outputLayout = .semiPlanar
      $0.outputMemory = .device
      if !isIsolated { $0.isolation = .none }
    }
  }

  /// The visible properties of a picture.
  private struct Seen: Equatable {
    let tag: UInt64
    var isOfDevice: Bool { modifier != nil }
    var modifier: UInt64?
    let bytes: [UInt8]?

    init(_ picture: DecodedPicture) {
      tag = picture.tag
      modifier = picture.deviceModifier
      bytes = picture.isOfDevice ? picture.bytesOfDevice : picture.copiedBytes()
    }
  }

  /// Decodes, and holds no picture.
  private func see(
    _ units: [[UInt8]], in session: DecompressionSession, from first: Int = 0,
    _ also: (DecodedPicture) -> Void = { _ in }
  ) throws -> [Seen] {
    var seen: [Seen] = []
    func take() {
      while let result = session.nextResult() {
        guard case .frame(let picture) = result else { continue }
        seen.append(Seen(picture))
        also(picture)
      }
    }
    for (index, unit) in units.enumerated() {
      try session.decode(unit, tag: UInt64(first + index))
      take()
    }
    session.drain()
    take()
    return seen
  }

  private func expected(_ stream: CodedStream) throws -> [Seen] {
    try stream.softwareRun(semiPlanar: true).frames.map(Seen.init)
  }

  @Test(arguments: HardwareTests.streams + ["ten-bit.h265"], [true, false])
  func picturesStayInDeviceMemory(_ name: String, _ isIsolated: Bool) throws {
    let stream = try CodedStream(name)
    let expected = try expected(stream)
    let driver = try VADriver([stream])
    let session = try session(driver, stream, isIsolated: isIsolated, .required)
    let before = driver.downloadCount
    // These have picture hashes, which are compared with samples.
    let hasHashes = name.hasSuffix("265")
    let seen = try see(stream.units, in: session) { picture in
      #expect(picture.hasSamples == hasHashes)
      #expect(picture.planeCount == 2)
      guard !hasHashes else { return }
      #expect(picture.plane(0).rowCount == 0)
      #expect(picture.copiedBytes().isEmpty)
      #expect(unsafe picture.withUnsafeCodedPlane(0) { _, _ in true } == nil)
    }
    #expect(seen.map(\.tag) == expected.map(\.tag))
    #expect(seen.map(\.bytes) == expected.map(\.bytes))
    #expect(seen.allSatisfy { $0.isOfDevice })
    #expect(driver.exportCount == seen.count)
    // libavutil looks once whether a surface can be mapped, which counts as one.
    #expect(driver.downloadCount - before == (hasHashes ? seen.count : 0) + 1)
    #expect(session.takeNotices().isEmpty)
  }

  /// Software's pictures are where they always are; nobody notices.
  @Test(arguments: ["clip.h264", "clip.h265"], [VADriver.Fault.error, .lostContext, .syncFailure, .crash])
  func fallsBackWithoutLosingAPicture(_ name: String, _ fault: VADriver.Fault) throws {
    let stream = try CodedStream(name)
    let expected = try expected(stream)
    for isIsolated in fault == .crash ? [true] : [true, false] {
      let driver = try VADriver([stream])
      driver.inject(fault, entry: stream.units.count / 2)
      let session = try session(driver, stream, isIsolated: isIsolated)
      let seen = try see(stream.units, in: session)
      #expect(seen.map(\.bytes) == expected.map(\.bytes))
      #expect(seen.first?.isOfDevice == true)
      // Those from the last random access point on, until the device is tried again behind the next one.
      #expect(seen.contains { !$0.isOfDevice })
      #expect(session.statistics.softwareFallbacks >= 1)
    }
  }

  @Test(arguments: ["clip.h265", "ten-bit.h265"], [true, false])
  func findsWrongPicturesByTheirHashes(_ name: String, _ isIsolated: Bool) throws {
    let stream = try CodedStream(name)
    let driver = try VADriver([stream])
    driver.inject(.wrongPixels, entry: stream.units.count / 2, times: 1)
    let session = try session(driver, stream, isIsolated: isIsolated)
    #expect(try see(stream.units, in: session).map(\.bytes) == expected(stream).map(\.bytes))
    #expect(session.statistics.softwareFallbacks == 1)
    #expect(session.statistics.hashMismatches == 0)
  }

  /// A picture of any arrangement stays in the device's memory, and its samples can still be read.
  @Test(arguments: [true, false]) func tiledPicturesHaveTheirModifier(_ isIsolated: Bool) throws {
    let stream = try CodedStream("clip.h264")
    let driver = try VADriver([stream])
    driver.inject(.tiledExport)
    let session = try session(driver, stream, isIsolated: isIsolated, .required)
    var expected = try expected(stream)
    for index in expected.indices { expected[index].modifier = 0x0100_0000_0000_0001 }
    var readable: [[UInt8]?] = []
    #expect(try see(stream.units, in: session) { readable.append(session.readable($0)?.copiedBytes()) } == expected)
    #expect(readable == expected.map(\.bytes))
    #expect(session.takeNotices().isEmpty)
  }

  /// What the device does not pass on, or what no modifier describes, is downloaded.
  @Test(arguments: [VADriver.Fault.unknownExport, .compressedExport, .exportFailure], [true, false])
  func downloadsPicturesThatTheDeviceCannotExport(_ fault: VADriver.Fault, _ isIsolated: Bool) throws {
    let stream = try CodedStream("clip.h264")
    let driver = try VADriver([stream])
    driver.inject(fault)
    let session = try session(driver, stream, isIsolated: isIsolated, .required)
    let seen = try see(stream.units, in: session)
    #expect(seen == (try expected(stream)))
    // It is not tried a second time.
    #expect(driver.firedCount == 1)
    #expect(session.takeNotices().isEmpty)
  }

  /// The device's surfaces are not enough for whoever holds all: the rest is downloaded, until a flush.
  @Test(arguments: ["clip.h264", "clip.h265"], [true, false])
  func downloadsPicturesIfTheApplicationHoldsTooMany(_ name: String, _ isIsolated: Bool) throws {
    let stream = try CodedStream(name)
    let expected = try expected(stream)
    let driver = try VADriver([stream])
    let session = try session(driver, stream, isIsolated: isIsolated, .required)
    var held: [DecodedPicture] = []
    let seen = try see(stream.units, in: session) { held.append($0) }
    #expect(seen.map(\.bytes) == expected.map(\.bytes))
    #expect(seen.map(\.isOfDevice) == seen.indices.map { $0 < SessionConfiguration.OutputMemory.surfaceCount })
    // Held pictures have not changed.
    #expect(held.map(Seen.init) == seen)
    // A drain has the decoder forget its pictures, and nothing else: it still lacks the surfaces.
    let more = try see(stream.units, in: session, from: 500) { held.append($0) }
    #expect(more.map(\.bytes) == expected.map(\.bytes))
    #expect(more.allSatisfy { !$0.isOfDevice })
    #expect(session.takeNotices().isEmpty)
    held = []
    session.flush()
    let again = try see(stream.units, in: session, from: 1000)
    #expect(again.map(\.bytes) == expected.map(\.bytes))
    #expect(again.allSatisfy { $0.isOfDevice })
  }

  @Test(arguments: [true, false])
  func picturesOutliveTheSession(_ isIsolated: Bool) throws {
    let stream = try CodedStream("clip.h264")
    let expected = try expected(stream)
    let driver = try VADriver([stream])
    var held: [DecodedPicture] = []
    do {
      let session = try session(driver, stream, isIsolated: isIsolated, .required)
      _ = try see(stream.units, in: session) { held.append($0) }
    }
    #expect(held.map { Seen($0).bytes } == expected.map(\.bytes))
    held = []
    guard !isIsolated else { return }
    #expect(driver.liveSurfaces == 0)
    #expect(driver.liveContexts == 0)
    #expect(driver.liveDisplays == 0)
  }

  /// Samples of pictures that stay in the device's memory, as long as the codec is there.
  @Test(arguments: ["clip.h264", "interlaced.h264"], [true, false])
  func samplesAreCopiedOnRequest(_ name: String, _ isIsolated: Bool) throws {
    let stream = try CodedStream(name)
    let expected = try expected(stream)
    let driver = try VADriver([stream])
    let session = try session(driver, stream, isIsolated: isIsolated, .required)
    var copies: [[UInt8]?] = []
    var last: DecodedPicture?
    let seen = try see(stream.units, in: session) { picture in
      #expect(!picture.hasSamples)
      let readable = session.readable(picture)
      #expect(readable?.tag == picture.tag)
      copies.append(readable?.copiedBytes())
      last = picture
    }
    #expect(seen.map(\.bytes) == expected.map(\.bytes))
    #expect(copies == expected.map(\.bytes))
    session.invalidate()
    let picture = try #require(last)
    #expect((session.readable(picture) == nil) == isIsolated)
  }

  /// Downstream may change its mind.
  @Test(arguments: [true, false])
  func downloadsPicturesOnceDeviceMemoryIsNotWanted(_ isIsolated: Bool) throws {
    let stream = try CodedStream("clip.h264")
    let expected = try expected(stream)
    let driver = try VADriver([stream])
    let session = try session(driver, stream, isIsolated: isIsolated, .required)
    var seen: [Seen] = []
    for (index, unit) in stream.units.enumerated() {
      session.keepsSurfaces = index / 8 % 2 == 0
      try session.decode(unit, tag: UInt64(index))
      while let result = session.nextResult() {
        guard case .frame(let picture) = result else { continue }
        #expect(picture.isOfDevice == session.keepsSurfaces)
        seen.append(Seen(picture))
      }
    }
    session.drain()
    while let result = session.nextResult() { if case .frame(let picture) = result { seen.append(Seen(picture)) } }
    #expect(seen.map(\.bytes) == expected.map(\.bytes))
    #expect(Set(seen.map(\.isOfDevice)) == [true, false])
  }
}
