// SPDX-License-Identifier: MPL-2.0
import Synchronization
import TestSupport
import Testing

@testable import VideoDecoding

@Suite(.enabled(if: Vectors.isAvailable)) struct AllocatorTests {
  static let names = ["HCAFR1_HHI.264", "freh11.264", "goh264_high10_weighted422_cabac_b.h264", "MR1_BT_A.h264"]

  private func units(_ name: String) -> [[UInt8]] { accessUnits(Vector.named(name)?.bytes ?? []) }

  @Test(arguments: TestScope.rows(names, usually: 2), SessionConfiguration.triedThreadings)
  func outputsPicturesInTheAllocatorsMemory(_ name: String, _ threading: Int) throws {
    let units = units(name)
    let allocator = TestAllocator()
    do {
      let run = try decodeAll(units, SessionConfiguration.threadings[threading], allocator: allocator)
      #expect(run.md5 == Vector.named(name)?.md5)
      for frame in run.frames {
        let token = try #require(frame.token as? TestAllocator.Token)
        let start = unsafe frame.withUnsafeCodedPlane(0) { start, _ in UInt(bitPattern: start) }
        #expect(unsafe start == UInt(bitPattern: token.start))
      }
      #expect(allocator.live.load(ordering: .relaxed) >= run.frames.count)
    }
    // Session, pictures and libavcodec have released all memory.
    #expect(allocator.live.load(ordering: .relaxed) == 0)
  }

  /// libavcodec would predict from the wrong rows where the strides of a picture and of its references differ.
  @Test(arguments: names)
  func changingStridesAndRefusalsDoNotChangePictures(_ name: String) throws {
    let vector = try #require(Vector.named(name))
    let allocator = TestAllocator { $0 % 3 == 1 ? nil : $0 % 3 == 2 ? 64 : 128 }
    let units = units(name)
    let session = try makeSession(units, allocator: allocator)
    var run = Run()
    try session.run(units, into: &run)
    #expect(run.md5 == vector.md5)
    #expect(run.frames.contains { $0.token != nil } && run.frames.contains { $0.token == nil })
    #expect(session.statistics.allocatorMisses > 0)
  }

  /// After a flush the decoder holds no references, and the allocator may use other strides.
  @Test func stridesMayChangeAtAFlush() throws {
    let units = units("MIDR_MW_D.264")
    let allocator = TestAllocator { $0 < 25 ? 0 : 192 }
    let session = try makeSession(units, .threadings[0], allocator: allocator)
    for index in 0..<25 { try session.decode(units[index], tag: UInt64(index)) }
    session.flush()
    while session.nextResult() != nil {}
    var run = Run()
    try session.run(units, into: &run)
    #expect(run.md5 == Vector.named("MIDR_MW_D.264")?.md5)
    #expect(run.frames.allSatisfy { $0.token != nil })
    #expect(session.statistics.allocatorMisses == 0)
  }

  @Test(arguments: TestScope.rows(names, usually: 2), [true, false])
  func semiPlanarEqualsTheNativePictureInterleaved(_ name: String, _ usesAllocator: Bool) throws {
    let units = units(name)
    let native = try decodeAll(units)
    let allocator = usesAllocator ? TestAllocator() : nil
    let semiPlanar = try decodeAll(units, .with { $0.outputLayout = .semiPlanar }, allocator: allocator)
    try #require(native.frames.count == semiPlanar.frames.count && !native.frames.isEmpty)
    for (planar, packed) in zip(native.frames, semiPlanar.frames) {
      guard planar.pixelFormat == .yuv420p else {
        #expect(packed.pixelFormat == planar.pixelFormat)
        #expect(packed.md5 == planar.md5)
        continue
      }
      #expect(packed.pixelFormat == .nv12 && packed.planeCount == 2)
      #expect(packed.tag == planar.tag)
      #expect((packed.token != nil) == usesAllocator)
      var expected = MD5()
      let luma = planar.plane(0)
      for row in 0..<luma.rowCount { expected.update(luma.row(row)) }
      let (cb, cr) = (planar.plane(1), planar.plane(2))
      for row in 0..<cb.rowCount {
        var pairs: [UInt8] = []
        let (first, second) = (cb.row(row), cr.row(row))
        for column in 0..<cb.rowByteCount { pairs += [first[column], second[column]] }
        expected.update(pairs.span)
      }
      #expect(packed.md5 == expected.finish())
    }
  }
}
