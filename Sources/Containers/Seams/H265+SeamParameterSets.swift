// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

extension H265: SeamSyntax {
  static var continuation: (any SeamContinuing<H265>)? { nil }
  static var sourceReferences: (any SourceReferencing<H265>)? { nil }

  static func add(_ nalUnits: [[UInt8]], to record: inout DecoderConfigurationRecord) {
    for nalUnit in nalUnits where !nalUnit.isEmpty && !record.parameterSets.contains(nalUnit) {
      let type = NALUnitType(headerByte: nalUnit[0])
      if let place = record.arrays.firstIndex(where: { $0.type == type }) {
        record.arrays[place].nalUnits.append(nalUnit)
      } else {
        record.arrays.append(.init(type: type, isComplete: true, nalUnits: [nalUnit]))
      }
    }
  }

  /// A CRA picture becomes a BLA picture (3.12), which begins a sequence, and may activate other parameter sets. It may
  /// have RADL pictures. Decoders would discard pictures that wait for output at a CRA picture behind an end of sequence
  /// (C.5.2.2).
  static func beginningSequence(
    _ accessUnit: [[UInt8]], _ sets: ParameterSets
  ) throws(BitstreamError) -> [[UInt8]] {
    let rewriter = SliceSegmentRewriter(from: sets)
    var nalUnits = accessUnit
    for (place, nalUnit) in accessUnit.enumerated() where !nalUnit.isEmpty {
      let type = NALUnitType(headerByte: nalUnit[0])
      guard type.isSlice else { continue }
      nalUnits[place] = try rewriter.rewritten(
        nalUnit.span, .init(type: type == .cra ? .blaWithRADL : nil, discardsPriorPictures: false))
    }
    return nalUnits
  }

  /// The parameter sets of pictures that are encoded for a seam: the encoder's, signaled as the source's.
  ///
  /// They have ids that the source does not use. The source's own sets apply again from the IDR or BLA picture behind the
  /// seam.
  struct SeamSets: SeamParameterSets {
    let settings: EncoderSettings
    let spsNALUnit: [UInt8]
    let nalUnits: [[UInt8]]
    let sps: SequenceParameterSet
    private let ids: Identifiers

    private struct Identifiers {
      let video: VideoParameterSetID
      let sequence: SequenceParameterSetID
      let picture: PictureParameterSetID
    }

    init(_ spsNALUnit: [UInt8], in sets: ParameterSets, quality: Double) throws(SeamObstacle) {
      self.spsNALUnit = spsNALUnit
      do throws(BitstreamError) { sps = try SequenceParameterSet(nalUnit: spsNALUnit.span) } catch {
        throw .unsupported("its SPS cannot be read")
      }
      guard sets.videoParameterSet(sps.videoParameterSetID)?.layerCount ?? 1 == 1 else {
        throw .unsupported("it has several layers")
      }
      ids = try Self.freeIdentifiers(sets)
      settings = try Self.settings(under: sps, sets.videoParameterSet(sps.videoParameterSetID), quality)
      nalUnits = try Self.adapted(settings.parameterSets(of: H265.self), to: sps, ids)
    }

    /// Encoders use low ids.
    private static func freeIdentifiers(_ sets: ParameterSets) throws(SeamObstacle) -> Identifiers {
      // A VPS has its place whether it can be read or not.
      let videos = sets.videoParameterSetNALUnits.compactMap { $0.count > 2 ? $0[2] >> 4 : nil }
      guard let video = (UInt8.min..<16).last(where: { !videos.contains($0) }),
        let sequence = (UInt8.min..<16).last(where: { sets.sequenceParameterSet(.init($0)) == nil }),
        let picture = (UInt8.min..<64).last(where: { sets.pictureParameterSet(.init($0)) == nil })
      else { throw .unsupported("its parameter sets use all ids") }
      return Identifiers(video: .init(video), sequence: .init(sequence), picture: .init(picture))
    }

    private static func settings(
      under sps: SequenceParameterSet, _ vps: VideoParameterSet?, _ quality: Double
    ) throws(SeamObstacle) -> EncoderSettings {
      guard !sps.isFieldSequence else { throw .unsupported("its pictures are fields") }
      // The buffer also has the current picture (C.5.2.2).
      guard sps.decodedPictureBufferPictures > 1 else { throw .unsupported("its SPS allows intra pictures only") }
      var settings = try EncoderSettings(
        seamOf: .h265, sps.codedSize, sps.chromaFormat, depths: (sps.lumaBitDepth, sps.chromaBitDepth),
        quality: quality)
      let hrd = sps.vui?.timing?.hrdParameters ?? vps?.hrdParameters.first?.parameters
      let buffer = hrd?.subLayers.last.flatMap { $0.nal.first ?? $0.vcl.first }
      settings.limitRate(
        to: hrd.flatMap { hrd in buffer.map { (hrd.bitRate(of: $0), hrd.size(of: $0)) } }, sps.levelLimits,
        at: sps.frameRate(vps))
      return settings
    }

    /// The encoder's only VPS, SPS and PPS, signaled as the source's.
    private static func adapted(
      _ sets: ParameterSets, to source: SequenceParameterSet, _ ids: Identifiers
    ) throws(SeamObstacle) -> [[UInt8]] {
      guard var pps = picture(sets), var sps = sets.sequenceParameterSet(pps.sequenceParameterSetID),
        var vps = sets.videoParameterSet(sps.videoParameterSetID)
      else { throw .encoder }
      do throws(BitstreamError) { sps = try sps.adapted(to: source) } catch {
        throw .unsupported("its SPS does not allow the encoder's pictures (\(error.element))")
      }
      vps = vps.adapted(to: sps)
      (vps.id, sps.videoParameterSetID) = (ids.video, ids.video)
      (sps.id, pps.sequenceParameterSetID) = (ids.sequence, ids.sequence)
      pps.id = ids.picture
      return [vps.nalUnit(), sps.nalUnit(), pps.nalUnit()]
    }

    private static func picture(_ sets: ParameterSets) -> PictureParameterSet? {
      let all = (UInt8.min..<64).compactMap { sets.pictureParameterSet(.init($0)) }
      return all.count == 1 ? all.first : nil
    }

    /// A CRA picture becomes a BLA picture.
    var needsIDRBehind: Bool { false }

    /// Recovery points do not follow.
    func leads(to recoveryPoint: SliceSegmentHeader, _ place: SeamPlace<H265>) -> Bool { false }

    func slices(
      of packet: Packet, _ sets: inout ParameterSets, _ place: SeamPlace<H265>
    ) throws(SeamObstacle) -> [[UInt8]] {
      let bytes = packet.bytes
      var slices: [[UInt8]] = []
      do throws(BitstreamError) {
        let ranges = try sets.insert(from: bytes, of: H265.self)
        var identifiers = ParameterSetIdentifiers()
        if let pps = Self.picture(sets) { identifiers[pps.id] = ids.picture }
        let rewriter = SliceSegmentRewriter(from: sets, identifiers: identifiers)
        for range in ranges {
          slices.append(try rewriter.rewritten(bytes.extracting(range), .init(discardsPriorPictures: false)))
        }
      } catch { throw .encoder }
      // The encoder must not have changed its parameter sets since the description was written.
      guard !slices.isEmpty, try Self.adapted(sets, to: sps, ids) == nalUnits else { throw .encoder }
      return slices
    }
  }
}
