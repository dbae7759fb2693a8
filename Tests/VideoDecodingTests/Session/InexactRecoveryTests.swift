// SPDX-License-Identifier: MPL-2.0
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

/// Decoding that begins at a recovery point which is reached later, or is not exact, and links that are broken (D.2.8).
@Suite struct InexactRecoveryTests {
  /// The access unit with another recovery point SEI message; nil when it has none.
  private func changing(_ unit: [UInt8], _ change: (inout H264.RecoveryPoint) -> Void) throws -> [UInt8]? {
    var (nalUnits, isChanged) = ([[UInt8]](), false)
    var ranges = AnnexB.NALUnits(unit.span)
    while let place = ranges.next() {
      let nalUnit = Array(unit[place.range])
      var messages = SEIMessages(nalUnit.span, headerLength: 1)
      if nalUnit[0] & 31 == 6, let message = try messages.next(), message.type == .recoveryPoint {
        var point = try H264.RecoveryPoint(message)
        change(&point)
        let payload = point.payload()
        nalUnits.append([6, 6, UInt8(payload.count)] + payload + [0x80])
        isChanged = true
      } else {
        nalUnits.append(nalUnit)
      }
    }
    return isChanged ? MinimalStream.annexB(nalUnits) : nil
  }

  /// A clip whose recovery points are changed, and the indices of these.
  private func clip(
    _ name: String, _ change: (inout H264.RecoveryPoint) -> Void
  ) throws -> (units: [[UInt8]], points: [Int]) {
    var (units, points) = (try mediaAccessUnits(name), [Int]())
    for index in units.indices {
      guard let changed = try changing(units[index], change) else { continue }
      units[index] = changed
      points.append(index)
    }
    return (units, points)
  }

  private func run(
    _ units: [[UInt8]], from start: Int, _ configuration: SessionConfiguration,
    memory: (any PictureAllocator)? = nil
  ) throws -> Run {
    let session = try makeSession(units, configuration, allocator: memory)
    var run = Run()
    for index in start..<units.count {
      try session.decode(units[index], tag: UInt64(index))
      session.takeResults(into: &run)
    }
    session.drain()
    session.takeResults(into: &run)
    #expect(run.results.count == units.count - start && run.failures.isEmpty)
    return run
  }

  /// Every picture in front of the recovery point comes out flagged, or not at all; those after it are correct.
  @Test(arguments: [false, true], SessionConfiguration.threadings.indices)
  func picturesAreCorruptUntilTheRecoveryPoint(_ isExact: Bool, _ threading: Int) throws {
    let (units, points) = try clip("intra-refresh.h264") { $0.isExactMatch = isExact }
    let whole = Set(try decodeAll(units).checksums)
    let configuration = SessionConfiguration.threadings[threading]
    for start in points.dropFirst().prefix(3) {
      let run = try run(units, from: start, configuration)
      #expect(run.frames.first?.tag == UInt64(start) && run.frames.first?.isCorrupt == true)
      let flagged = run.frames.prefix { $0.isCorrupt }.count
      #expect((1...25).contains(flagged) && run.frames.dropFirst(flagged).allSatisfy { !$0.isCorrupt })
      #expect(run.frames.count == units.count - start)
      for (frame, checksum) in zip(run.frames, run.checksums) where !frame.isCorrupt {
        #expect(whole.contains(checksum), "\(frame.tag)")
      }
      var strict = configuration
      strict.outputCorrupt = false
      let clean = try self.run(units, from: start, strict)
      #expect(clean.checksums == Array(run.checksums.dropFirst(flagged)))
      #expect(clean.drops == [DropReason](repeating: .corrupt, count: flagged))
    }
  }

  /// Whatever was in the memory before: references that were never decoded do not show it.
  @Test(
    arguments: TestScope.rows(
      ["clip.h264", "interlaced.h264", "open-gop.h264", "small-slices.h264", "intra-refresh.h264"], usually: 2),
    SessionConfiguration.triedThreadings)
  func picturesAreTheSameInEachRun(_ name: String, _ threading: Int) throws {
    let intact = try mediaAccessUnits(name)
    for start in [3, 8, 14, 15, 17] {
      for count in [UInt32(0), 2] {
        var units = intact
        units[start] =
          MinimalStream.annexB([SmallPicture.recoveryPoint(frameCount: count, isExact: false)]) + units[start]
        let expected = try run(units, from: start, SessionConfiguration.threadings[0]).checksums
        for round in UInt8(0)..<4 {
          let found = try run(units, from: start, SessionConfiguration.threadings[threading], memory: Dirt(round))
          #expect(found.checksums == expected, "\(start), \(count), round \(round)")
        }
      }
    }
  }

  /// Pictures that follow a broken link in decoding order and are shown before its recovery point.
  @Test func leadingPicturesOfABrokenLinkAreCorrupt() throws {
    let (intact, points) = try clip("open-gop.h264") { _ in }
    let whole = try decodeAll(intact)
    let tags = whole.frames.map(\.tag)
    // A recovery point in front of which pictures are shown that follow it in decoding order.
    let link = try #require(
      points.dropFirst().first { point in
        tags.prefix { $0 != UInt64(point) }.contains { $0 > UInt64(point) }
      })
    var units = intact
    units[link] = try #require(try changing(units[link]) { $0.isBrokenLink = true })
    let run = try decodeAll(units)
    #expect(whole.frames.allSatisfy { !$0.isCorrupt } && run.checksums == whole.checksums)
    let leading = tags.prefix { $0 != UInt64(link) }.filter { $0 > UInt64(link) }
    #expect(run.frames.filter(\.isCorrupt).map(\.tag) == leading)
  }
}

/// Memory that holds something else each time.
private final class Dirt: PictureAllocator, @unchecked Sendable {
  private let seed: UInt8
  private let pool = PicturePool()

  init(_ seed: UInt8) { self.seed = seed }

  func pictureBuffer(for request: PictureRequest) -> PictureBuffer? {
    let planes = 0..<request.pixelFormat.planeCount
    let sizes = planes.map { request.minimumStride(plane: $0) * request.rowCount(plane: $0) + 64 }
    guard let block = pool.block(byteCount: sizes.reduce(0, +)) else { return nil }
    unsafe block.start.update(repeating: seed &* 37 &+ 11, count: block.byteCount)
    var offset = 0
    let found = unsafe planes.map { plane in
      defer { offset += sizes[plane] }
      return unsafe PictureBuffer.Plane(
        start: block.start + offset, stride: request.minimumStride(plane: plane),
        byteCount: request.minimumStride(plane: plane) * request.rowCount(plane: plane))
    }
    return unsafe PictureBuffer(planes: found, token: block)
  }
}
