// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// Parameter sets that other decoders tolerate: start codes inside avcC and hvcC, and a VUI that cannot be read.
@Suite struct BrokenParameterSetTests {
  init() { #expect(Registration.succeeded) }

  // MARK: Start codes in configuration records

  enum Record: String, CaseIterable, Sendable {
    /// Each set has a start code.
    case each, eachShort
    /// All sets are in the place of the first one.
    case together
  }

  @Test(arguments: StreamCodec.allCases, Record.allCases)
  func acceptsStartCodesInRecords(codec: StreamCodec, record: Record) throws {
    let clip = try RecordedStream("clip.\(codec)", as: .packets)
    let sets = Clip.nalUnits(codec.accessUnits(in: try Clip.read("clip.\(codec)"))[0]).filter(codec.isParameterSet)
    let bytes =
      switch codec {
      case .h264: try Self.record264(sets, record)
      case .h265: try Self.record265(sets, record)
      }
    let caps =
      "\(codec.mediaType), stream-format=\(codec.outOfBand), alignment=au, "
      + "codec_data=(buffer)\(ParseStream.hexadecimal(bytes))"
    for element in ["parse", "repack"] {
      for output in ["byte-stream", codec.outOfBand] {
        let sound = try repackage(clip, clip.caps, codec, element, to: output)
        #expect(sound.count == clip.pieces.count)
        // A repackager that passes access units through unchanged does not read codec_data.
        #expect(try repackage(clip, caps, codec, element, to: output) == sound, "\(element) \(output)")
      }
    }
    let pictures = try decode(clip.pieces.map(\.bytes), clip.caps, codec)
    #expect(try decode(clip.pieces.map(\.bytes), caps, codec) == pictures && pictures.count == clip.pieces.count)
  }

  private static func written(_ sets: [[UInt8]], _ record: Record) -> [[UInt8]] {
    switch record {
    case .each: sets.map { [0, 0, 0, 1] + $0 }
    case .eachShort: sets.map { [0, 0, 1] + $0 }
    case .together: [sets.flatMap { [0, 0, 0, 1] + $0 }]
    }
  }

  private static func record264(_ sets: [[UInt8]], _ kind: Record) throws -> [UInt8] {
    let (sps, pps) = (sets.filter { $0[0] & 31 == 7 }, sets.filter { $0[0] & 31 == 8 })
    var record = try H264.DecoderConfigurationRecord(sequenceParameterSets: sps, pictureParameterSets: pps)
    record.sequenceParameterSets = written(kind == .together ? sps + pps : sps, kind)
    record.pictureParameterSets = kind == .together ? [] : written(pps, kind)
    return try record.bytes()
  }

  private static func record265(_ sets: [[UInt8]], _ kind: Record) throws -> [UInt8] {
    var store = H265.ParameterSets()
    for set in sets { try store.insert(set.span) }
    var record = try H265.DecoderConfigurationRecord(store)
    if kind == .together {
      record.arrays = [.init(type: .videoParameterSet, isComplete: true, nalUnits: written(sets, kind))]
    } else {
      for index in record.arrays.indices {
        record.arrays[index].nalUnits = written(record.arrays[index].nalUnits, kind)
      }
    }
    return try record.bytes()
  }

  // MARK: VUI

  enum VUI: String, CaseIterable, Sendable {
    /// Its last bytes are missing.
    case cutShort
    /// `chroma_sample_loc_type` is 6.
    case badChromaLocation

    func sps(_ nalUnit: [UInt8], _ codec: StreamCodec) throws -> [UInt8] {
      let location = ChromaLocation(topField: 6, bottomField: 6)
      var bytes: [UInt8]
      let bare: Int
      switch codec {
      case .h264:
        var set = try H264.SequenceParameterSet(nalUnit: nalUnit.span)
        var vui = H264.VUI()
        vui.timing = .init(unitsInTick: 1, timeScale: 50, isFixedFrameRate: true)
        if self == .badChromaLocation { vui.chromaLocation = location }
        set.vui = nil
        bare = set.nalUnit().count
        set.vui = vui
        bytes = set.nalUnit()
      case .h265:
        var set = try H265.SequenceParameterSet(nalUnit: nalUnit.span)
        var vui = H265.VUIParameters()
        vui.timing = .init(unitsInTick: 1, timeScale: 25)
        if self == .badChromaLocation { vui.chromaLocation = location }
        set.vui = nil
        bare = set.nalUnit().count
        set.vui = vui
        bytes = set.nalUnit()
      }
      if self == .cutShort { bytes.removeLast((bytes.count - bare) / 2) }
      return bytes
    }
  }

  @Test(arguments: StreamCodec.allCases, VUI.allCases)
  func anUnreadableVUILosesNoPicture(codec: StreamCodec, vui: VUI) throws {
    let units = Array(codec.accessUnits(in: try Clip.read("clip.\(codec)")).prefix(20))
    var altered: [[UInt8]] = []
    for unit in units {
      var stream: [UInt8] = []
      for nalUnit in Clip.nalUnits(unit) {
        stream += [0, 0, 0, 1]
        if codec.isSequence(nalUnit) { stream += try vui.sps(nalUnit, codec) } else { stream += nalUnit }
      }
      altered.append(stream)
    }
    #expect(altered[0] != units[0])
    let caps = "\(codec.mediaType), stream-format=byte-stream, alignment=au"
    let expected = try decode(units, caps, codec)
    // libavcodec refuses an SPS of H.265 that it reads beyond its end.
    if codec == .h264 || vui != .cutShort {
      #expect(try decode(altered, caps, codec) == expected && expected.count == units.count)
    }
    let harness = try Harness("\(codec.element)parse")
    harness.setOutputCaps("\(codec.mediaType), stream-format=\(codec.outOfBand), alignment=au")
    harness.setInputCaps(caps)
    for (index, unit) in altered.enumerated() { harness.push(unit, pts: .milliseconds(UInt64(40 * index))) }
    harness.endOfStream()
    #expect(harness.waiting == units.count)
    let outgoing = try harness.outputCaps()
    #expect(outgoing.first.int("width") ?? 0 > 0)
  }

  // MARK: Running

  private func repackage(
    _ clip: RecordedStream, _ caps: String, _ codec: StreamCodec, _ element: String, to output: String
  ) throws -> [[UInt8]] {
    let harness = try Harness("\(codec.element)\(element)")
    harness.setOutputCaps("\(codec.mediaType), stream-format=\(output), alignment=au")
    harness.setInputCaps(caps)
    for piece in clip.pieces { #expect(harness.push(piece.buffer) == 0) }
    harness.endOfStream()
    var buffers: [[UInt8]] = []
    while harness.waiting > 0 { buffers.append(try harness.pullBytes()) }
    return buffers
  }

  private func decode(_ units: [[UInt8]], _ caps: String, _ codec: StreamCodec) throws -> [String] {
    let harness = try Harness("\(codec.element)dec max-threads=1")
    harness.setLive(false)
    harness.setOutputCaps("video/x-raw")
    harness.setInputCaps(caps)
    for (index, unit) in units.enumerated() { harness.push(unit, pts: .milliseconds(UInt64(40 * index))) }
    harness.endOfStream()
    return try harness.takePictures().map { checksum([$0]) }
  }
}

extension StreamCodec {
  /// Whether a NAL unit is an SPS.
  fileprivate func isSequence(_ nalUnit: [UInt8]) -> Bool {
    switch self {
    case .h264: H264.NALUnitType(headerByte: nalUnit[0]) == .sequenceParameterSet
    case .h265: H265.NALUnitType(headerByte: nalUnit[0]) == .sequenceParameterSet
    }
  }
}
