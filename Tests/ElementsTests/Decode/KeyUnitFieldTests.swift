// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Foundation
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// Pictures that are left out where they are coded in fields: key-unit trick mode, late decoders.
@Suite(.serialized, .enabled(if: Clip.vector("freh6.264") != nil, "no conformance vectors"))
struct KeyUnitFieldTests {
  private func bytes(_ name: String) throws -> [UInt8] {
    guard let path = Clip.vector(name) else { return try Clip.read(name) }
    return [UInt8](try Data(contentsOf: URL(filePath: path)))
  }

  /// The pictures of a stream, in key-unit trick mode or all.
  private func pictures(_ name: String, threads: Int, flags: GstSegmentFlags) throws -> [Int] {
    let bytes = try bytes(name)
    let harness = try Harness.decoder("swifth264parse ! swifth264dec max-threads=\(threads)", input: "video/x-h264")
    Self.push(flags, to: harness)
    for start in stride(from: 0, to: bytes.count, by: 8192) {
      harness.push(Array(bytes[start..<min(start + 8192, bytes.count)]))
    }
    harness.endOfStream()
    return try harness.takePictures().map(\.fingerprint)
  }

  private static func push(_ flags: GstSegmentFlags, to harness: Harness) {
    var segment = GstSegment()
    unsafe gst_segment_init(&segment, GST_FORMAT_TIME)
    segment.flags = flags
    harness.push(unsafe Event(owning: gst_event_new_segment(&segment)))
  }

  private static func push(_ bytes: [UInt8], _ flags: Buffer.Flags, to harness: Harness) -> Int32? {
    guard var buffer = Buffer(copying: bytes.span) else { return nil }
    buffer.flags.formUnion(flags)
    return harness.push(buffer)
  }

  /// Pictures were left out, and decoding goes on before a random access point, with no flush in between.
  @Test(
    arguments: TestScope.rows(
      [
        "freh11.264", "freh3.264", "HPCAFL_BRCM_C.264", "clip.h264", "open-gop.h264", "clip.h265", "open-gop.h265",
      ], usually: 3), [1, 4])
  func picturesThatReferToSkippedOnesAreFlagged(_ name: String, threads: Int) throws {
    let codec = name.hasSuffix("265") ? "h265" : "h264"
    let bytes = try bytes(name)
    let units =
      codec == "h265" ? Clip.accessUnits(in: bytes, of: H265.self) : Clip.accessUnits(in: bytes, of: H264.self)
    func decode(keyUnits: Range<Int>) throws -> [Picture] {
      let harness = try Harness.decoder(
        "swift\(codec)parse ! swift\(codec)dec max-threads=\(threads)",
        input: "video/x-\(codec), stream-format=byte-stream, alignment=au")
      for (index, unit) in units.enumerated() {
        if index == keyUnits.lowerBound { Self.push(GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS, to: harness) }
        if index == keyUnits.upperBound { Self.push(GST_SEGMENT_FLAG_NONE, to: harness) }
        #expect(harness.push(unit) == 0)
      }
      harness.endOfStream()
      return try harness.takePictures()
    }
    let all = Set(try decode(keyUnits: -1 ..< -1).map(\.fingerprint))
    let third = units.count / 3
    for range in [0..<units.count, 0..<third, third..<2 * third, 5..<9] {
      let shown = try decode(keyUnits: range)
      #expect(!shown.isEmpty)
      let wrong = shown.count { !$0.flags.contains(.corrupted) && !all.contains($0.fingerprint) }
      #expect(wrong == 0, "\(range)")
    }
  }

  /// Key-unit trick mode begins and ends before any access unit, between two fields too, with no flush in between.
  @Test(arguments: TestScope.rows(["freh3.264", "HPCAFL_BRCM_C.264"], usually: 1))
  func keyUnitModeChangesBetweenAnyTwoAccessUnits(_ name: String) throws {
    let parser = try Harness.decoder("swifth264parse", output: Harness.byteStream)
    for unit in try Clip.accessUnits(in: bytes(name), of: H264.self).prefix(32) { parser.push(unit) }
    parser.endOfStream()
    var units: [(bytes: [UInt8], flags: Buffer.Flags, isReference: Bool)] = []
    while let buffer = parser.tryPull() {
      let bytes = try buffer.copiedBytes()
      let isReference = Clip.nalUnits(bytes).contains { [1, 5].contains($0[0] & 31) && $0[0] & 0x60 != 0 }
      units.append((bytes, buffer.flags.intersection(.deltaUnit), isReference))
    }
    func decode(keyUnits: Range<Int>) throws -> [Picture] {
      let harness = try Harness.decoder("swifth264dec max-threads=1")
      for (index, unit) in units.enumerated() {
        if index == keyUnits.lowerBound { Self.push(GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS, to: harness) }
        if index == keyUnits.upperBound { Self.push(GST_SEGMENT_FLAG_NONE, to: harness) }
        #expect(Self.push(unit.bytes, unit.flags, to: harness) == 0)
      }
      harness.endOfStream()
      return try harness.takePictures()
    }
    let all = Set(try decode(keyUnits: -1 ..< -1).map(\.fingerprint))
    for index in 1..<units.count {
      for range in [index..<index + 1, index..<units.count, 0..<index] {
        let shown = try decode(keyUnits: range)
        let flagged = shown.count { $0.flags.contains(.corrupted) }
        #expect(shown.count { all.contains($0.fingerprint) } == shown.count - flagged, "\(range)")
        if !units[range.clamped(to: units.indices)].contains(where: \.isReference) { #expect(flagged == 0, "\(range)") }
      }
    }
  }

  /// Parameter sets are for key units, too, where they come in access units that are left out.
  @Test(arguments: ["h264", "h265"]) func takesParameterSetsOfSkippedAccessUnits(_ codec: String) throws {
    let sets: [UInt8] = codec == "h265" ? [32, 33, 34] : [7, 8]
    let harness = try Harness.decoder(
      "swift\(codec)dec max-threads=1", input: "video/x-\(codec), stream-format=byte-stream, alignment=au")
    Self.push(GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS, to: harness)
    for name in ["clip", "wide", "clip"] {
      let bytes = try bytes("\(name).\(codec)")
      let units =
        codec == "h265" ? Clip.accessUnits(in: bytes, of: H265.self) : Clip.accessUnits(in: bytes, of: H264.self)
      let nalUnits = Clip.nalUnits(units[0])
      let isSet = { (nalUnit: [UInt8]) in sets.contains(codec == "h265" ? nalUnit[0] >> 1 & 63 : nalUnit[0] & 31) }
      #expect(Self.push(nalUnits.filter(isSet).flatMap { [0, 0, 0, 1] + $0 }, .deltaUnit, to: harness) == 0)
      harness.push(nalUnits.filter { !isSet($0) }.flatMap { [0, 0, 0, 1] + $0 })
    }
    harness.endOfStream()
    var sizes: [Int] = []
    while let picture = harness.tryPull() { sizes.append(picture.size) }
    #expect(sizes.count == 3 && sizes.first == sizes.last && Set(sizes).count == 2)
  }

  /// A frame of two fields, each a buffer with its duration, lasts until the next one.
  @Test(arguments: ["max-threads=1", "max-threads=4", "isolation=process"])
  func framesLastAsLongAsBothFields(_ properties: String) throws {
    let harness = try Harness.decoder(
      "swifth264parse ! swifth264dec \(properties)", input: "video/x-h264, framerate=(fraction)25/1")
    harness.push(try bytes("HPCAFL_BRCM_C.264"))
    harness.endOfStream()
    let pictures = try harness.takePictures()
    #expect(pictures.count == 300)
    #expect(pictures.allSatisfy { $0.duration == Clip.frameDuration })
    let times = pictures.compactMap(\.pts)
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == Clip.frameDuration })
  }

  /// The second field of a keyframe is no sync point, and belongs to it all the same.
  @Test(arguments: ["freh6.264", "freh11.264"]) func keyframesHaveBothFields(_ name: String) throws {
    let all = try pictures(name, threads: 1, flags: GST_SEGMENT_FLAG_NONE)
    let keyframes = try pictures(name, threads: 1, flags: GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS)
    #expect(!keyframes.isEmpty && keyframes.count < all.count / 4)
    // The second field of a later one may refer to pictures that are left out.
    #expect(keyframes.first == all.first)
    #expect(try pictures(name, threads: 4, flags: GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS) == keyframes)
  }

  /// Pictures that come too late leave those beside them as they are, fields too.
  @Test(
    arguments: ["HPCAFL_BRCM_C.264", "freh11.264", "freh3.264"],
    ["max-threads=1", "max-threads=3", "isolation=process max-threads=2"])
  func skippingLatePicturesDoesNotChangeOthers(_ name: String, _ properties: String) throws {
    let units = try Clip.accessUnits(in: bytes(name), of: H264.self)
    func decode(late: Range<Int>, _ properties: String) throws -> (pictures: [Picture], dropped: Int) {
      let harness = try Harness.decoder("swifth264dec \(properties)")
      for (index, unit) in units.prefix(80).enumerated() {
        if index == late.lowerBound || index == late.upperBound {
          let position: GstClockTime = index == late.lowerBound ? 10_000_000_000 : 0
          let kind = index == late.lowerBound ? GST_QOS_TYPE_UNDERFLOW : GST_QOS_TYPE_OVERFLOW
          harness.pushUpstream(
            unsafe Event(owning: gst_event_new_qos(kind, 2, position > 0 ? 1_000_000_000 : 0, position)))
        }
        #expect(harness.push(unit, pts: Clip.time(index)) == 0)
      }
      harness.endOfStream()
      return (try harness.takePictures(), harness.statistic("dropped") ?? 0)
    }
    let whole = try decode(late: 1000..<1000, "max-threads=1")
    let right = Set(whole.pictures.map(\.fingerprint))
    for start in [12, 19, 20, 25] {
      let run = try decode(late: start..<start + 3, properties)
      #expect(run.pictures.allSatisfy { right.contains($0.fingerprint) && !$0.flags.contains(.corrupted) }, "\(start)")
    }
  }
}
