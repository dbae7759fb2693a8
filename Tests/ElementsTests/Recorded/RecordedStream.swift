// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport

/// The packaging and timestamps of an input stream.
enum RecordedInput: String, CaseIterable, Sendable {
  /// A byte stream in pieces of a thousand bytes, without timestamps.
  case pieces
  /// A byte stream, an access unit a buffer, with presentation times only.
  case accessUnits
  /// A byte stream, a NAL unit a buffer; the first of each access unit has both times.
  case nalUnits
  /// The same, and the last of each access unit is marked.
  case markedNALUnits
  /// Packets with the parameter sets in the caps only, and presentation times only.
  case packets
  /// Packets with the parameter sets in the stream too, both times and a duration.
  case timedPackets

  var isLengthPrefixed: Bool { self == .packets || self == .timedPackets }
}

/// The first access units of a clip, as input buffers.
struct RecordedStream: Sendable {
  /// An input buffer.
  struct Piece: Sendable {
    var bytes: [UInt8]
    var pts: ClockTime?
    var dts: ClockTime?
    var duration: ClockTime?
    var flags: Buffer.Flags = []

    var buffer: Buffer {
      var buffer = Buffer(copying: bytes.span) ?? Buffer()
      (buffer.pts, buffer.dts, buffer.duration) = (pts, dts, duration)
      if !flags.isEmpty { buffer.flags.formUnion(flags) }
      return buffer
    }
  }

  var caps: String
  var pieces: [Piece]

  /// The most access units of a clip.
  static let limit = 28

  /// - Parameter hasFrameRate: whether the stream keeps its VUI, and with that the frame rate.
  init(_ clip: String, as input: RecordedInput, hasFrameRate: Bool = true) throws {
    let codec: StreamCodec = clip.hasSuffix("5") ? .h265 : .h264
    let bytes = try Clip.read(clip)
    let units = codec.accessUnits(in: hasFrameRate ? bytes : codec.withoutVUI(bytes))
    switch codec {
    case .h264: try self.init(units, as: input, codec, H264.self)
    case .h265: try self.init(units, as: input, codec, H265.self)
    }
  }

  private init<Codec: ElementCodecSyntax>(
    _ accessUnits: [[UInt8]], as input: RecordedInput, _ codec: StreamCodec, _: Codec.Type
  ) throws {
    let units = Array(accessUnits.prefix(Self.limit))
    var sets = Codec.ParameterSets()
    for nalUnit in Clip.nalUnits(units.first ?? []) { _ = try? sets.insert(nalUnit.span) }
    let record = try Codec.ConfigurationRecord(sets, nalLengthSize: .four)
    let times = Self.times(of: units.flatMap { $0 }, Codec.self)
    let start = times.first?.pts ?? .zero
    pieces = []
    switch input {
    case .pieces:
      caps = codec.mediaType
      let bytes = units.flatMap { $0 }
      for start in stride(from: 0, to: bytes.count, by: 1000) {
        pieces.append(Piece(bytes: Array(bytes[start..<min(start + 1000, bytes.count)])))
      }
    case .accessUnits:
      caps = "\(codec.mediaType), stream-format=byte-stream, alignment=au"
      for (unit, time) in zip(units, times) { pieces.append(Piece(bytes: unit, pts: time.pts - start)) }
    case .nalUnits, .markedNALUnits:
      caps = "\(codec.mediaType), stream-format=byte-stream, alignment=nal"
      for (unit, time) in zip(units, times) {
        let nalUnits = Clip.nalUnits(unit)
        for (place, nalUnit) in nalUnits.enumerated() {
          var piece = Piece(bytes: [0, 0, 0, 1] + nalUnit)
          if place == 0 { (piece.pts, piece.dts) = (time.pts, time.dts) }
          if input == .markedNALUnits, place == nalUnits.count - 1 { piece.flags = .marker }
          pieces.append(piece)
        }
      }
    case .packets, .timedPackets:
      let isTimed = input == .timedPackets
      let data = try (isTimed ? record.withoutParameterSets : record).bytes()
      caps =
        "\(codec.mediaType), stream-format=\(isTimed ? codec.inBand : codec.outOfBand), alignment=au, "
        + "codec_data=(buffer)\(ParseStream.hexadecimal(data))"
      for (unit, time) in zip(units, times) {
        let nalUnits = Clip.nalUnits(unit).filter { isTimed || !record.nalUnits.contains($0) }
        var piece = Piece(bytes: RepackStream.lengthPrefixed(nalUnits), pts: time.pts - start)
        if isTimed { (piece.pts, piece.dts, piece.duration) = (time.pts, time.dts, Clip.frameDuration) }
        pieces.append(piece)
      }
    }
  }

  /// The presentation and decoding times of access units at 25 pictures a second.
  private static func times<Codec: ElementCodecSyntax>(
    of bytes: [UInt8], _: Codec.Type
  ) -> [(pts: ClockTime, dts: ClockTime)] {
    var scanner = Codec.Scanner()
    scanner.sliceDepth = .referenceMarking
    var timeline = Codec.Timeline()
    var times: [(pts: ClockTime, dts: ClockTime)] = []
    var begin = 0
    while begin < bytes.count {
      let rest = bytes.span.extracting(begin...)
      let finding = scanner.next(in: rest, isMarked: false, isDraining: true)
      guard finding.size > 0 else { break }
      begin += finding.size
      guard case .accessUnit(let size) = finding else { continue }
      let accessUnit = scanner.takeAccessUnit()
      guard let slice = accessUnit.slice else { continue }
      let (rate, changes) = (Ratio(25, 1), scanner.parameterSetChanges)
      if !timeline.read(slice, rate: rate, generation: changes) {
        _ = timeline.read(
          slice, isContinued: false, endsSequence: false, rate: rate, parameterSets: scanner.parameterSets,
          generation: changes, lookingAt: rest, from: size, isComplete: true)
      }
      guard let time = timeline.takeTimes() else { continue }
      times.append((ClockTime(nanoseconds: time.presentation), ClockTime(nanoseconds: time.decoding)))
    }
    return times
  }
}
