// SPDX-License-Identifier: MPL-2.0
import AVCodec
package import H26x

/// A session's requirements of a codec, beside its syntax.
protocol SessionCodec: DecodableCodec {
  /// libavcodec's decoder.
  static var decoder: CodecSettings.Codec { get }
  /// Whether a parameter set is withheld from libavcodec: see ``RefusedParameterSets``.
  static func isRefused(_ nalUnit: Span<UInt8>, sets: borrowing ParameterSets) -> Bool
  /// Replacements for parameter sets that libavcodec needs and that are missing or unreadable.
  static func standIns(for sets: borrowing ParameterSets) -> [[UInt8]]
  /// The frames that libavcodec skips; the session skips the rest itself.
  static func codecSkip(_ skip: SessionConfiguration.SkipFrames) -> CodecSettings.Skip
  /// Parameter sets as libavcodec can read them.
  static func decodable(_ sets: FormatDescription.ParameterSetBytes) -> FormatDescription.ParameterSetBytes
  /// Returns a follower, which tracks a stream from access unit to access unit.
  static func makeFollower(lengthSize: NALLengthSize?, verifiesPictureHash: Bool) -> any StreamFollower
}

extension SessionCodec {
  /// The configuration record of a description.
  static func configurationBytes(_ format: FormatDescription) throws(BitstreamError) -> [UInt8] {
    try configurationRecord(format).bytes()
  }
}

extension H264: SessionCodec {
  static var decoder: CodecSettings.Codec { .h264 }
  static func isRefused(_ nalUnit: Span<UInt8>, sets: borrowing ParameterSets) -> Bool {
    RefusedParameterSets.isRefused(nalUnit, sets: sets)
  }
  static func standIns(for sets: borrowing ParameterSets) -> [[UInt8]] { [] }
  /// Nothing: libavcodec would judge the fields of a frame one by one, without reporting that references are missing.
  static func codecSkip(_ skip: SessionConfiguration.SkipFrames) -> CodecSettings.Skip { .none }
  static func decodable(_ sets: FormatDescription.ParameterSetBytes) -> FormatDescription.ParameterSetBytes { sets }
  static func makeFollower(lengthSize: NALLengthSize?, verifiesPictureHash: Bool) -> any StreamFollower {
    H264StreamFollower(lengthSize: lengthSize)
  }
}

extension H265: SessionCodec {
  static var decoder: CodecSettings.Codec { .h265 }
  static func isRefused(_ nalUnit: Span<UInt8>, sets: borrowing ParameterSets) -> Bool {
    RefusedParameterSets.isRefused(nalUnit, sets: sets)
  }

  /// All but unreferenced pictures: libavcodec would count pictures as unreferenced that higher sub-layers refer to.
  /// It needs the headers of the others to derive POC.
  static func codecSkip(_ skip: SessionConfiguration.SkipFrames) -> CodecSettings.Skip {
    skip == .nonReference ? .none : skip.codecSkip
  }

  static func decodable(_ sets: FormatDescription.ParameterSetBytes) -> FormatDescription.ParameterSetBytes {
    var store = ParameterSets()
    for nalUnit in sets.video + sets.sequence { _ = try? store.insert(nalUnit.span) }
    var decodable = sets
    decodable.video = standIns(for: store) + sets.video.filter { !isRefused($0.span, sets: store) }
    return decodable
  }

  /// VPSs that are missing or refused: libavcodec takes no SPS without its VPS, although decoding needs nothing of it.
  static func standIns(for sets: borrowing ParameterSets) -> [[UInt8]] {
    var nalUnits: [[UInt8]] = []
    var usable: Set<VideoParameterSetID> = []
    for nalUnit in sets.nalUnits {
      guard let id = videoParameterSetID(of: nalUnit.span), !isRefused(nalUnit.span, sets: sets) else { continue }
      usable.insert(id)
    }
    for id in UInt8(0)..<16 {
      guard let sps = sets.sequenceParameterSet(.init(id)), !usable.contains(sps.videoParameterSetID) else { continue }
      var vps = VideoParameterSet(profileTierLevel: sps.profileTierLevel)
      vps.id = sps.videoParameterSetID
      vps.subLayerCount = sps.subLayerCount
      vps.hasNestedTemporalIDs = sps.hasNestedTemporalIDs
      vps.buffering = sps.buffering
      nalUnits.append(vps.nalUnit())
    }
    return nalUnits
  }

  static func makeFollower(lengthSize: NALLengthSize?, verifiesPictureHash: Bool) -> any StreamFollower {
    H265StreamFollower(lengthSize: lengthSize, verifiesPictureHash: verifiesPictureHash)
  }
}

extension FormatDescription.Codec {
  /// The codec's syntax, for a session.
  var sessionCodec: any SessionCodec.Type {
    switch self {
    case .h264: H264.self
    case .h265: H265.self
    }
  }
}

/// A codec that a session decodes.
package protocol DecodableCodec: ElementCodecSyntax {
  /// Whether two fields make one decoded picture; else each field is a picture of its own.
  static var pairsFields: Bool { get }
  /// Walks over an access unit with an inspector of its stream, and has its SEI tracked.
  static func describe(
    _ accessUnit: Span<UInt8>, packaging: NALPackaging, with inspector: inout Inspector, _ display: inout DisplayTracker
  ) -> AccessUnitDescription
}

extension H264: DecodableCodec {
  package static var pairsFields: Bool { true }

  /// Walks over an access unit.
  package static func describe(
    _ accessUnit: Span<UInt8>, packaging: NALPackaging, with inspector: inout Inspector, _ display: inout DisplayTracker
  ) -> AccessUnitDescription {
    let info = inspector.inspect(accessUnit, packaging: packaging, depth: .referenceMarking)
    let changesDisplay = display.take(accessUnit, info)
    return AccessUnitDescription(
      .h264(AccessUnitReading(info, inspector.parameterSets)), info, display.display, changesDisplay: changesDisplay)
  }
}

extension H265: DecodableCodec {
  package static var pairsFields: Bool { false }

  /// Walks over an access unit.
  package static func describe(
    _ accessUnit: Span<UInt8>, packaging: NALPackaging, with inspector: inout Inspector, _ display: inout DisplayTracker
  ) -> AccessUnitDescription {
    let info = inspector.inspect(accessUnit, packaging: packaging, depth: .referenceMarking)
    let changesDisplay = display.take(accessUnit, info)
    return AccessUnitDescription(
      .h265(AccessUnitReading(info, inspector.parameterSets)), info, display.display, changesDisplay: changesDisplay)
  }
}
