// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// The parameter sets of pictures that are encoded for a seam: an SPS of the source, and the encoder's PPS under it.
struct SeamParameterSets {
  /// The encoder's, for pictures that can stand under the SPS.
  let settings: EncoderSettings
  /// The SPS, as it is in the source.
  let spsNALUnit: [UInt8]
  /// The PPS, whose id the source does not use.
  let ppsNALUnit: [UInt8]
  private let sps: H264.SequenceParameterSet
  private let id: PictureParameterSetID

  /// - Parameters:
  ///   - spsNALUnit: the SPS of the source.
  ///   - id: a PPS id that the source does not use.
  ///   - quality: see `EncoderSettings.quality`.
  /// - Throws: the reason for which pictures cannot be encoded under the SPS.
  init(_ spsNALUnit: [UInt8], id: PictureParameterSetID, quality: Double) throws(SeamObstacle) {
    (self.spsNALUnit, self.id) = (spsNALUnit, id)
    do throws(BitstreamError) { sps = try H264.SequenceParameterSet(nalUnit: spsNALUnit.span) } catch {
      throw .unsupported("its SPS cannot be read")
    }
    settings = try Self.settings(under: sps, quality)
    let bytes: [UInt8]
    do throws(AVError) { bytes = try EncoderContext.parameterSets(settings) } catch { throw .noEncoder }
    var sets = H264.ParameterSets()
    do throws(BitstreamError) {
      for range in NALPackaging.annexB.nalUnits(of: bytes.span) where !range.isEmpty {
        guard H264.NALUnitType(headerByte: bytes[range.lowerBound]).isParameterSet else { continue }
        try sets.insert(bytes.span.extracting(range))
      }
    } catch { throw .encoder }
    ppsNALUnit = try Self.adapted(sets, to: sps, id)
  }

  private static func settings(
    under sps: H264.SequenceParameterSet, _ quality: Double
  ) throws(SeamObstacle) -> EncoderSettings {
    let constraints: H264.CodingConstraints
    do throws(H264.CodingConstraints.Obstacle) { constraints = try H264.CodingConstraints(sps) } catch {
      switch error {
      case .pictureOrderCountCycle: throw .unsupported("its SPS has pic_order_cnt_type 1")
      case .separateColourPlanes: throw .unsupported("its SPS has separate color planes")
      }
    }
    guard !constraints.bypassesTransformAtZero else { throw .unsupported("its SPS allows lossless macroblocks") }
    guard constraints.maximumReferenceFrames > 0 else { throw .unsupported("its SPS allows intra pictures only") }
    let depth = constraints.lumaBitDepth
    let isMonochrome = constraints.chromaFormat == .monochrome
    guard isMonochrome || constraints.chromaBitDepth == depth else {
      throw .unsupported("luma and chroma have different bit depths")
    }
    let chroma =
      switch constraints.chromaFormat {
      case .monochrome: "gray"
      case .yuv420: "yuv420p"
      case .yuv422: "yuv422p"
      case .yuv444: "yuv444p"
      }
    guard let format = FrameFormat(name: depth == 8 ? chroma : "\(chroma)\(depth)le"),
      !CodecLibrary.encoderNames(for: .h264, format: format).isEmpty
    else { throw .noEncoder }
    var settings = EncoderSettings(
      codec: .h264, width: constraints.widthInMacroblocks * 16, height: constraints.heightInMacroblocks * 16,
      format: format)
    settings.quality = quality
    settings.usesCABAC = constraints.allowsCABAC
    settings.uses8x8Transform = constraints.allows8x8Transform
    settings.referenceCount = min(settings.referenceCount, Int(constraints.maximumReferenceFrames))
    settings.isTopFieldFirst = constraints.needsMBAFF ? true : nil
    settings.threadCount = Int(clamping: min(CodecSettings(codec: .h264).effectiveThreadCount, 4))
    return settings
  }

  /// The encoder's only PPS, under the source's SPS.
  private static func adapted(
    _ sets: H264.ParameterSets, to sps: H264.SequenceParameterSet, _ id: PictureParameterSetID
  ) throws(SeamObstacle) -> [UInt8] {
    let all = (UInt8.min...UInt8.max).compactMap { sets.pictureParameterSet(.init($0)) }
    guard let pps = all.first, all.count == 1, let own = sets.sequenceParameterSet(pps.sequenceParameterSetID) else {
      throw .encoder
    }
    do throws(BitstreamError) {
      var adapted = try pps.adapted(from: own, to: sps)
      adapted.id = id
      return adapted.nalUnit()
    } catch {
      throw .unsupported("its SPS does not allow the encoder's pictures (\(error.element))")
    }
  }

  // MARK: Slices

  /// Returns the slices of an encoded picture, under these parameter sets.
  ///
  /// - Parameters:
  ///   - packet: from the encoder.
  ///   - sets: the encoder's. Gets those of the packet.
  ///   - number: of the picture, from 0.
  ///   - idrPictureID: `idr_pic_id` of the first picture.
  ///   - isTopFieldFirst: the order of its fields; `nil` if it is not interlaced.
  func slices(
    of packet: Packet, _ sets: inout H264.ParameterSets, number: Int, idrPictureID: UInt16, isTopFieldFirst: Bool?
  ) throws(SeamObstacle) -> [[UInt8]] {
    let bytes = packet.bytes
    let nalUnits = NALPackaging.annexB.nalUnits(of: bytes).filter { !$0.isEmpty }
    var slices: [[UInt8]] = []
    do throws(BitstreamError) {
      for range in nalUnits where H264.NALUnitType(headerByte: bytes[range.lowerBound]).isParameterSet {
        try sets.insert(bytes.extracting(range))
      }
      var target = H264.ParameterSets()
      try target.insert(spsNALUnit.span)
      try target.insert(ppsNALUnit.span)
      let rewriter = H264.SliceRewriter(from: sets, to: target)
      let order = pictureOrder(number, target, isTopFieldFirst)
      let frameNumber = UInt32(truncatingIfNeeded: number) & (1 << UInt32(sps.log2MaximumFrameNumber) - 1)
      for range in nalUnits where H264.NALUnitType(headerByte: bytes[range.lowerBound]).isVCL {
        slices.append(
          try rewriter.rewritten(bytes.extracting(range)) { values in
            values.pictureParameterSetID = id
            values.frameNumber = frameNumber
            values.pictureOrder = order
            guard values.isIDR else { return }
            values.idrPictureID = idrPictureID
            values.references.marking = .idr(noOutputOfPriorPictures: false, isLongTerm: false)
          })
      }
    } catch { throw .encoder }
    // The encoder must not have changed its PPS since the description was written.
    guard !slices.isEmpty, try Self.adapted(sets, to: sps, id) == ppsNALUnit else { throw .encoder }
    return slices
  }

  private func pictureOrder(
    _ number: Int, _ target: H264.ParameterSets, _ isTopFieldFirst: Bool?
  ) -> H264.SliceHeaderValues.PictureOrder {
    guard case .leastSignificantBits(let log2Maximum) = sps.pictureOrderCountType else { return .decodingOrder }
    let isBottomPresent = target.pictureParameterSet(id)?.isBottomFieldPictureOrderPresent ?? false
    let deltaBottom: Int32 = isBottomPresent ? isTopFieldFirst.map { $0 ? 1 : -1 } ?? 0 : 0
    // The earlier field of an IDR picture has the order count 0 (8.2.1).
    let order = UInt32(truncatingIfNeeded: number) &* 2 &+ (deltaBottom < 0 ? 1 : 0)
    return .leastSignificantBits(order & (1 << UInt32(log2Maximum) - 1), deltaBottom: deltaBottom)
  }
}
