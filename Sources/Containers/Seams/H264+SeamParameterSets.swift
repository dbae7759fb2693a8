// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

extension H264: SeamSyntax {
  static func add(_ nalUnits: [[UInt8]], to record: inout DecoderConfigurationRecord) {
    for nalUnit in nalUnits where !nalUnit.isEmpty {
      if NALUnitType(headerByte: nalUnit[0]) == .sequenceParameterSet {
        if !record.sequenceParameterSets.contains(nalUnit) { record.sequenceParameterSets.append(nalUnit) }
      } else if !record.pictureParameterSets.contains(nalUnit) {
        record.pictureParameterSets.append(nalUnit)
      }
    }
  }

  /// IDR pictures begin one as they are, and H.264 has no others.
  static func beginningSequence(_ accessUnit: [[UInt8]], _ sets: ParameterSets) -> [[UInt8]] { accessUnit }

  /// The parameter sets of pictures that are encoded for a seam: an SPS of the source, and the encoder's PPS under it.
  ///
  /// Under `pic_order_cnt_type` 1, order counts depend on the source's references. A copy of its SPS with type 0 stands in
  /// then. Only an IDR picture activates the source's SPS again (7.4.1.2.1). Both sets have ids that the source does not
  /// use.
  struct SeamSets: SeamParameterSets {
    let settings: EncoderSettings
    let spsNALUnit: [UInt8]
    let sps: SequenceParameterSet
    /// The SPS that stands in for the source's; `nil` if that serves.
    private let standIn: [UInt8]?
    private let ppsNALUnit: [UInt8]
    private let id: PictureParameterSetID

    var nalUnits: [[UInt8]] { [standIn, ppsNALUnit].compactMap(\.self) }
    var needsIDRBehind: Bool { standIn != nil }

    init(_ spsNALUnit: [UInt8], in sets: ParameterSets, quality: Double) throws(SeamObstacle) {
      // Encoders use low ids.
      let free = (UInt8.min...UInt8.max).reversed().first { sets.pictureParameterSet(.init($0)) == nil }
      guard let free else { throw .unsupported("its parameter sets use all ids") }
      (self.spsNALUnit, id) = (spsNALUnit, .init(free))
      let source: SequenceParameterSet
      do throws(BitstreamError) { source = try SequenceParameterSet(nalUnit: spsNALUnit.span) } catch {
        throw .unsupported("its SPS cannot be read")
      }
      let other = try Self.standIn(for: source, in: sets)
      (sps, standIn) = (other ?? source, other?.nalUnit())
      settings = try Self.settings(under: sps, quality)
      ppsNALUnit = try Self.adapted(settings.parameterSets(of: H264.self), to: sps, id)
    }

    /// The SPS with `pic_order_cnt_type` 0 and a free id; `nil` if it has not type 1.
    private static func standIn(
      for source: SequenceParameterSet, in sets: ParameterSets
    ) throws(SeamObstacle) -> SequenceParameterSet? {
      guard case .cycle = source.pictureOrderCountType else { return nil }
      let free = (UInt8.min..<32).last { sets.sequenceParameterSet(.init($0)) == nil }
      guard let free else { throw .unsupported("its parameter sets use all ids") }
      var sps = source
      (sps.id, sps.pictureOrderCountType) = (.init(free), .leastSignificantBits(log2Maximum: 16))
      return sps
    }

    private static func settings(
      under sps: SequenceParameterSet, _ quality: Double
    ) throws(SeamObstacle) -> EncoderSettings {
      let constraints: CodingConstraints
      do throws(CodingConstraints.Obstacle) { constraints = try CodingConstraints(sps) } catch {
        // The other obstacle is a cycle of order counts, which the SPS that stands in does not have.
        throw .unsupported("its SPS has separate color planes")
      }
      guard !constraints.bypassesTransformAtZero else { throw .unsupported("its SPS allows lossless macroblocks") }
      guard constraints.maximumReferenceFrames > 0 else { throw .unsupported("its SPS allows intra pictures only") }
      var settings = try EncoderSettings(
        seamOf: .h264,
        VideoSize(width: constraints.widthInMacroblocks * 16, height: constraints.heightInMacroblocks * 16),
        constraints.chromaFormat, depths: (constraints.lumaBitDepth, constraints.chromaBitDepth), quality: quality)
      settings.usesCABAC = constraints.allowsCABAC
      settings.uses8x8Transform = constraints.allows8x8Transform
      settings.isTopFieldFirst = constraints.needsMBAFF ? true : nil
      let hrd = sps.vui?.nalHRD ?? sps.vui?.vclHRD
      settings.limitRate(
        to: hrd.flatMap { hrd in hrd.buffers.first.map { (hrd.bitRate(of: $0), hrd.size(of: $0)) } }, sps.levelLimits,
        at: sps.frameRate)
      return settings
    }

    /// The encoder's only PPS, under an SPS.
    private static func adapted(
      _ sets: ParameterSets, to sps: SequenceParameterSet, _ id: PictureParameterSetID
    ) throws(SeamObstacle) -> [UInt8] {
      let all = (UInt8.min...UInt8.max).compactMap { sets.pictureParameterSet(.init($0)) }
      guard let pps = all.first, all.count == 1, let own = sets.sequenceParameterSet(pps.sequenceParameterSetID) else {
        throw .encoder
      }
      do throws(BitstreamError) {
        var adapted = try pps.adapted(from: own, to: sps)
        adapted.id = id
        // Order counts of a seam in front of a recovery point may need it.
        if case .leastSignificantBits = sps.pictureOrderCountType { adapted.isBottomFieldPictureOrderPresent = true }
        return adapted.nalUnit()
      } catch {
        throw .unsupported("its SPS does not allow the encoder's pictures (\(error.element))")
      }
    }

    // MARK: Slices

    func slices(
      of packet: Packet, _ sets: inout ParameterSets, _ place: SeamPlace<H264>
    ) throws(SeamObstacle) -> [[UInt8]] {
      let bytes = packet.bytes
      let numbers = try numbers(place)
      var slices: [[UInt8]] = []
      do throws(BitstreamError) {
        let ranges = try sets.insert(from: bytes, of: H264.self)
        var target = ParameterSets()
        for nalUnit in [spsNALUnit] + nalUnits { try target.insert(nalUnit.span) }
        let rewriter = SliceRewriter(from: sets, to: target)
        for range in ranges {
          slices.append(
            try rewriter.rewritten(bytes.extracting(range)) { values in
              values.pictureParameterSetID = id
              values.frameNumber = numbers.frameNumber
              values.pictureOrder = numbers.pictureOrder
              guard values.isIDR else { return }
              values.idrPictureID = Self.idrPictureID(place)
              values.references.marking = .idr(noOutputOfPriorPictures: false, isLongTerm: false)
            })
        }
      } catch { throw .encoder }
      // The encoder must not have changed its PPS since the description was written.
      guard !slices.isEmpty, try Self.adapted(sets, to: sps, id) == ppsNALUnit else { throw .encoder }
      return slices
    }

    /// An `idr_pic_id` that neither neighbor has (7.4.3). It is large, because encoders use small ones.
    private static func idrPictureID(_ place: SeamPlace<H264>) -> UInt16 {
      let taken = place.neighbors.compactMap { $0.isIDR ? $0.idrPictureID : nil }
      let wanted = (0..<3).map { UInt16.max - UInt16(truncatingIfNeeded: (place.seam % 3 + $0) % 3) }
      return wanted.first { !taken.contains($0) } ?? .max
    }

    private func numbers(_ place: SeamPlace<H264>) throws(SeamObstacle) -> PictureLead.Numbers {
      guard let recoveryPoint = place.recoveryPoint else {
        let number = UInt32(truncatingIfNeeded: place.picture)
        return PictureLead.Numbers(
          frameNumber: number & (1 << UInt32(sps.log2MaximumFrameNumber) - 1), pictureOrder: pictureOrder(place))
      }
      guard sps.allowsFrameNumberGaps else { throw .frameNumberGaps }
      guard let lead = lead(to: recoveryPoint, place), lead.numbers.indices.contains(place.picture) else {
        throw .recoveryPoint
      }
      return lead.numbers[place.picture]
    }

    func leads(to recoveryPoint: SliceHeader, _ place: SeamPlace<H264>) -> Bool {
      !needsIDRBehind && lead(to: recoveryPoint, place) != nil
    }

    private func lead(to recoveryPoint: SliceHeader, _ place: SeamPlace<H264>) -> PictureLead? {
      PictureLead(count: place.count, to: recoveryPoint, under: sps, isTopFieldFirst: place.isTopFieldFirst)
    }

    private func pictureOrder(_ place: SeamPlace<H264>) -> SliceHeaderValues.PictureOrder {
      guard case .leastSignificantBits(let log2Maximum) = sps.pictureOrderCountType else { return .decodingOrder }
      let deltaBottom: Int32 = place.isTopFieldFirst.map { $0 ? 1 : -1 } ?? 0
      // The earlier field of an IDR picture has the order count 0 (8.2.1).
      let order = UInt32(truncatingIfNeeded: place.picture) &* 2 &+ (deltaBottom < 0 ? 1 : 0)
      return .leastSignificantBits(order & (1 << UInt32(log2Maximum) - 1), deltaBottom: deltaBottom)
    }
  }
}
