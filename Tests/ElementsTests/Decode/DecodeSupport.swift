// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import Glibc
import H26x
import HarnessSupport
import TestSupport

/// The clips of `Tests/Media`.
enum Clip {
  /// Access units of an Annex B clip.
  static func accessUnits(_ name: String) throws -> [[UInt8]] { try accessUnits(name, of: H264.self) }

  /// Access units of an Annex B clip of a codec.
  static func accessUnits<Codec: VideoCodecSyntax>(_ name: String, of codec: Codec.Type) throws -> [[UInt8]] {
    accessUnits(in: try read(name), of: codec)
  }

  /// Access units of a byte stream of a codec.
  static func accessUnits<Codec: VideoCodecSyntax>(in bytes: [UInt8], of codec: Codec.Type) -> [[UInt8]] {
    var sets = Codec.ParameterSets()
    var detector = Codec.AccessUnitDetector()
    var units: [[UInt8]] = []
    var nalUnits = AnnexB.NALUnits(bytes.span)
    while let unit = nalUnits.next() {
      let nalUnit = bytes.span.extracting(unit.range)
      _ = try? sets.insert(nalUnit)
      if detector.feed(nalUnit, parameterSets: sets).boundary == .begins { units.append([]) }
      units[units.count - 1] += [0, 0, 0, 1] + bytes[unit.range]
    }
    return units
  }

  /// The NAL units of an access unit without start codes.
  static func nalUnits(_ accessUnit: [UInt8]) -> [[UInt8]] {
    var result: [[UInt8]] = []
    var nalUnits = AnnexB.NALUnits(accessUnit.span)
    while let unit = nalUnits.next() { result.append(Array(accessUnit[unit.range])) }
    return result
  }

  /// The position of each access unit in presentation order, by POC.
  static func presentationOrder(_ units: [[UInt8]]) -> [Int] {
    var sets = H264.ParameterSets()
    var counter = H264.PictureOrderCounter()
    var epoch = 0
    var keys: [(epoch: Int, count: Int32, index: Int)] = []
    for (index, unit) in units.enumerated() {
      for nalUnit in nalUnits(unit) {
        _ = try? sets.insert(nalUnit.span)
        guard
          let slice = try? H264.SliceHeader(
            nalUnit: nalUnit.span, parameterSets: sets, depth: .referenceMarking),
          let sps = sets.sequenceParameterSet(slice.sequenceParameterSetID)
        else { continue }
        let count = counter.next(slice, sps: sps)
        if count.resetsPOC { epoch += 1 }
        keys.append((epoch, count.picture, index))
        break
      }
    }
    var positions = Array(units.indices)
    for (position, key) in keys.sorted(by: { ($0.epoch, $0.count) < ($1.epoch, $1.count) }).enumerated() {
      positions[key.index] = position
    }
    return positions
  }

  /// A slice that refers to a PPS that was never sent.
  static var undecodable: [UInt8] {
    var writer = BitWriter()
    writer.u(8, 0x41)
    writer.ue(0)
    writer.ue(5)
    writer.ue(77)
    writer.u(24, 0xABCDEF)
    writer.trailingBits()
    return [0, 0, 0, 1] + writer.bytes
  }

  /// Whether other pictures may refer to the picture of an access unit.
  static func isReference(_ unit: [UInt8]) -> Bool {
    nalUnits(unit).contains { 1...5 ~= $0[0] & 31 && $0[0] & 0x60 != 0 }
  }

  /// The time of a frame number.
  static func time(_ frame: Int) -> ClockTime {
    ClockTime(nanoseconds: UInt64(max(frame, 0)) * frameDuration.nanoseconds)
  }

  static func path(_ name: String) -> String {
    var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    parts.removeLast(3)
    return parts.joined(separator: "/") + "/Media/" + name
  }

  /// The path of a conformance vector; nil if it is not there.
  static func vector(_ name: String, of codec: StreamCodec = .h264) -> String? { Vectors.path("\(codec)/\(name)") }

  struct Unreadable: Error {}

  static func read(_ name: String) throws -> [UInt8] {
    guard let file = unsafe fopen(path(name), "rb") else { throw Unreadable() }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe fread(&chunk, 1, chunk.count, file)
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
  }

  /// MD5 of all pictures of `clip.h264`, as `checksums.md5` has it.
  static func checksum() throws -> String {
    String(decoding: try read("checksums.md5").prefix(32), as: UTF8.self)
  }

  /// Frames of `clip.h264`, their duration, and how deep they are reordered.
  static let frameCount = 62
  static let frameDuration = ClockTime(nanoseconds: 40_000_000)
}

/// An output picture.
struct Picture {
  var bytes: [UInt8]
  var pts: ClockTime?
  var duration: ClockTime?
  var flags: Buffer.Flags
  var fingerprint: Int { bytes.hashValue }
}

extension Harness {
  static let byteStream = "video/x-h264, stream-format=byte-stream, alignment=au"

  /// A decoder in a harness, alone or followed by other elements.
  static func decoder(
    _ description: String = "swifth264dec", input: String = byteStream, output: String? = nil,
    takesVideoMeta: Bool = true, isLive: Bool = false
  ) throws -> Harness {
    initialise()
    guard Registration.succeeded else { throw Failure.noSuchElement }
    let harness = try Harness(description)
    harness.setLive(isLive)
    if takesVideoMeta { harness.proposeVideoMeta() }
    if let output { harness.setOutputCaps(output) }
    harness.setInputCaps(input)
    return harness
  }

  /// Pushes access units with timestamps by their presentation order, the first at frame number `first`.
  @discardableResult
  func push(units: [[UInt8]], from first: Int = 0) -> [Int32] {
    let positions = Clip.presentationOrder(units)
    return units.indices.map { index in
      push(units[index], pts: Clip.time(first + positions[index]), duration: Clip.frameDuration)
    }
  }

  /// Pulls all output pictures.
  func takePictures() throws -> [Picture] {
    var pictures: [Picture] = []
    guard waiting > 0 else { return [] }
    let caps = try outputCaps()
    guard let info = VideoInfo(caps) else { throw Failure.noCaps }
    while let buffer = tryPull() {
      pictures.append(
        Picture(bytes: try buffer.packed(info), pts: buffer.pts, duration: buffer.duration, flags: buffer.flags))
    }
    return pictures
  }

  /// The number of force-key-unit events that went upstream since the last call.
  func takeForceKeyUnitEvents() -> Int {
    var count = 0
    while let event = tryPullUpstreamEvent() { if ForceKeyUnit(event) != nil { count += 1 } }
    return count
  }

  /// The number of QoS messages on the bus. Takes all messages.
  func takeQualityOfServiceMessages() -> Int {
    guard let bus = unsafe gst_element_get_bus(element) else { return 0 }
    defer { unsafe gst_object_unref(bus) }
    var count = 0
    while let message = unsafe gst_bus_pop(bus) {
      if unsafe message.pointee.type == GST_MESSAGE_QOS { count += 1 }
      unsafe gst_message_unref(message)
    }
    return count
  }

  /// Pushes all access units and the end of the stream, and pulls all pictures.
  func decode(_ units: [[UInt8]]) throws -> [Picture] {
    push(units: units)
    endOfStream()
    return try takePictures()
  }
}

extension Buffer {
  /// The samples of all planes without padding.
  borrowing func packed(_ info: VideoInfo) throws(FlowError) -> [UInt8] {
    let map = try VideoFrameMap(self, info: info, for: .reading)
    var bytes: [UInt8] = []
    for index in 0..<map.planeCount {
      guard let plane = unsafe map.plane(index) else { continue }
      let size = info.planeSize(index)
      for row in 0..<size.rows {
        let start = unsafe plane.start + row * map.stride(ofPlane: index)
        unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: start, count: size.rowBytes))
      }
    }
    return bytes
  }
}

extension VideoInfo {
  /// The bytes of samples in a row of a plane, and its rows.
  func planeSize(_ plane: Int) -> (rowBytes: Int, rows: Int) {
    let bytes = format.bitDepth > 8 ? 2 : 1
    let height = interlaceMode == .alternate ? height / 2 : height
    if planeCount == 1 { return (width * (format.kind == .rgb ? 4 : bytes), height) }
    guard plane > 0 else { return (width * bytes, height) }
    let shift = format.chromaShift
    let columns = (width + (1 << shift.horizontal) - 1) >> shift.horizontal
    let rows = (height + (1 << shift.vertical) - 1) >> shift.vertical
    return (columns * bytes * (planeCount == 2 ? 2 : 1), rows)
  }
}

/// MD5 of the samples of all pictures.
func checksum(_ pictures: [Picture]) -> String {
  let sum = unsafe g_checksum_new(G_CHECKSUM_MD5)
  defer { unsafe g_checksum_free(sum) }
  for picture in pictures {
    unsafe picture.bytes.withUnsafeBufferPointer { unsafe g_checksum_update(sum, $0.baseAddress, $0.count) }
  }
  return unsafe String(cString: g_checksum_get_string(sum))
}
