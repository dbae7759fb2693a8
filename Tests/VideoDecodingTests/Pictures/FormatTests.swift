// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

/// Streams whose format changes, and pictures cropped at every edge.
@Suite(.enabled(if: Vectors.isAvailable)) struct FormatTests {
  private func units(_ name: String) -> [[UInt8]] { accessUnits(Vector.named(name)?.bytes ?? []) }

  /// In-band changes of size, bit depth and chroma format.
  @Test(arguments: SessionConfiguration.triedThreadings, [false, true])
  func sizeDepthAndChromaChangeInBand(_ threading: Int, _ usesAllocator: Bool) throws {
    let names = [
      "HCAFR1_HHI.264", "BASQP1_Sony_C.jsv", "goh264_high10_weighted422_cabac_b.h264", "FRExt4_Panasonic.avc",
      "ydt_demo_10_frames_TransformBypassModeFlag.h264", "SVA_BA1_B.264",
    ]
    let allocator = usesAllocator ? TestAllocator() : nil
    let all = names.flatMap(units)
    let run = try decodeAll(all, SessionConfiguration.threadings[threading], allocator: allocator)
    var position = 0
    for name in names {
      let vector = try #require(Vector.named(name))
      var md5 = MD5()
      for frame in run.frames.dropFirst(position).prefix(vector.frames) {
        frame.hash(into: &md5)
        #expect(frame.width == vector.width && frame.height == vector.height)
        #expect(frame.pixelFormat.rawValue == vector.pixelFormat)
        #expect((frame.token != nil) == usesAllocator)
      }
      #expect(md5.finish() == vector.md5, "\(name)")
      position += vector.frames
    }
    #expect(run.frames.count == position && run.accounts(for: all.count))
  }

  /// Out-of-band parameter sets, as those of containers.
  @Test(arguments: [nil, NALLengthSize.four], [false, true])
  func acceptsParameterSetsOutOfBand(_ lengthSize: NALLengthSize?, _ losesSession: Bool) throws {
    let names = ["HCAFR1_HHI.264", "SVA_BA1_B.264", "HCAFR3_HHI.264"]
    let plan = FaultPlan()
    if losesSession { plan.send = { $0 == 0 && $1 == 20 || $0 == 1 && $1 == 30 ? .external : nil } }
    var session: DecompressionSession?
    var run = Run()
    var tag: UInt64 = 0
    for name in names {
      let units = units(name)
      let format = try streamFormat(units, lengthSize: lengthSize)
      if let session {
        #expect(session.canAccept(format))
        try session.accept(format)
      } else {
        session = try DecompressionSession(
          format: format, configuration: SessionConfiguration(), allocator: nil, openCodec: plan.opener)
      }
      for unit in units {
        let bare = withoutParameterSets(unit)
        try session?.decode(lengthSize.map { lengthPrefixed(bare, $0) } ?? bare, tag: tag)
        tag += 1
      }
    }
    session?.drain()
    session?.takeResults(into: &run)
    #expect(run.accounts(for: Int(tag)))
    var position = 0
    for name in names {
      let vector = try #require(Vector.named(name))
      var md5 = MD5()
      for frame in run.frames.dropFirst(position).prefix(vector.frames) { frame.hash(into: &md5) }
      #expect(md5.finish() == vector.md5, "\(name)")
      position += vector.frames
    }
    #expect(plan.openings == (losesSession ? 3 : 1))
  }

  /// Single fields, whose rows libavcodec doubles.
  @Test func marksSingleFields() throws {
    let units = units("HPCVFL_BRCM_A.264")
    let whole = try decodeAll(units)
    #expect(whole.frames.count == 300 && whole.frames.allSatisfy { !$0.isSingleField })
    // Each access unit is a field, top and bottom in turn.
    let tops = units.indices.filter { $0 % 2 == 0 }.map { units[$0] }
    let run = try decodeAll(tops, .with { $0.threadType = .none })
    #expect(run.accounts(for: tops.count) && run.frames.count > 290)
    #expect(run.frames.allSatisfy { $0.isSingleField && $0.isTopFieldFirst })
  }

  @Test func otherPackagingNeedsAnotherSession() throws {
    let units = units("SVA_BA1_B.264")
    let session = try DecompressionSession(format: try streamFormat(units))
    let other = try streamFormat(units, lengthSize: .four)
    #expect(!session.canAccept(other))
    let error = #expect(throws: DecodeError.self) { try session.accept(other) }
    #expect(error?.status == -12916)
    #expect(session.canAccept(session.format))
  }

  /// libavcodec by itself rounds the left edge for alignment.
  @Test(arguments: [
    "SVA_BA1_B.264", "goh264_high10_deblock444_cavlc_idrp.h264", "goh264_high10_weighted422_cabac_b.h264",
  ])
  func cropsExactly(_ name: String) throws {
    let original = units(name)
    let whole = try decodeAll(original)
    for cropping in [(1, 0, 0, 0), (3, 2, 1, 4), (0, 5, 0, 1), (7, 0, 5, 0)] {
      let cropped = try decodeAll(original.map { try replacingCropping($0, cropping) })
      try #require(cropped.frames.count == whole.frames.count)
      for (inner, outer) in zip(cropped.frames, whole.frames) {
        let shift = outer.pixelFormat.chromaShift
        let left = (cropping.0 << shift.horizontal)
        let top = (cropping.2 << shift.vertical)
        #expect(inner.width == outer.width - ((cropping.0 + cropping.1) << shift.horizontal))
        #expect(inner.height == outer.height - ((cropping.2 + cropping.3) << shift.vertical))
        for index in 0..<outer.planeCount {
          let (small, large) = (inner.plane(index), outer.plane(index))
          let rows = index > 0 ? top >> shift.vertical : top
          let columns = (index > 0 ? left >> shift.horizontal : left) * outer.pixelFormat.bytesPerSample
          for row in 0..<small.rowCount {
            let expected = large.row(row + rows).extracting(columns..<columns + small.rowByteCount)
            #expect(Array(copying: small.row(row)) == Array(copying: expected))
          }
        }
      }
    }
  }

  private func withoutParameterSets(_ unit: [UInt8]) -> [UInt8] {
    rewriting(unit) { 7...8 ~= $0[0] & 31 ? nil : $0 }
  }

  private func replacingCropping(_ unit: [UInt8], _ cropping: (Int, Int, Int, Int)) throws -> [UInt8] {
    try rewriting(unit) { nalUnit in
      guard nalUnit[0] & 31 == 7 else { return nalUnit }
      var sps = try H264.SequenceParameterSet(nalUnit: nalUnit.span)
      sps.cropping = .init(
        left: UInt32(cropping.0), right: UInt32(cropping.1), top: UInt32(cropping.2), bottom: UInt32(cropping.3))
      return sps.nalUnit()
    }
  }

  private func rewriting(_ unit: [UInt8], _ change: ([UInt8]) throws -> [UInt8]?) rethrows -> [UInt8] {
    var result: [UInt8] = []
    var nalUnits = AnnexB.NALUnits(unit.span)
    while let nalUnit = nalUnits.next() {
      if let changed = try change(Array(unit[nalUnit.range])) { result += [0, 0, 0, 1] + changed }
    }
    return result
  }
}

extension [UInt8] {
  init(copying bytes: Span<UInt8>) {
    self = []
    for index in bytes.indices { append(bytes[index]) }
  }
}
