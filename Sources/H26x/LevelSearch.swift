// SPDX-License-Identifier: MPL-2.0

extension StreamEditing {
  /// The lowest level that a stream keeps: its pictures' size and rate, its tiles, its decoded picture buffer, its HRD
  /// parameters and the given bit rate.
  ///
  /// - Parameters:
  ///   - nalUnits: the stream's parameter sets, before the edits.
  ///   - edits: the other changes.
  ///   - demand: the demands that parameter sets do not state.
  /// - Returns: nil if there is no SPS, and when the stream keeps no level.
  public static func lowestLevel(
    of nalUnits: [[UInt8]], after edits: [StreamEdit], _ demand: LevelDemand = LevelDemand()
  ) -> StreamLevel? {
    levels.first { level in
      do throws(StreamEditError) {
        return try excess(of: nalUnits, after: edits + [.level(level)], demand) == nil
      } catch {
        return false
      }
    }
  }

  /// Returns the property of a stream for which its level has no room.
  ///
  /// - Parameters:
  ///   - nalUnits: the stream's parameter sets, before the edits.
  ///   - edits: the changes, perhaps of the level too.
  ///   - demand: the demands that parameter sets do not contain.
  /// - Returns: nil if the stream keeps its level.
  /// - Throws: the refusal of an edit.
  package static func excess(
    of nalUnits: [[UInt8]], after edits: [StreamEdit], _ demand: LevelDemand
  ) throws(StreamEditError) -> LevelExcess? {
    let sets = ParameterSets(nalUnits)
    var edited: [[UInt8]] = []
    for nalUnit in nalUnits {
      switch try Self.edited(parameterSet: nalUnit.span, edits, sets: sets) {
      case .replaced(let bytes, _): edited.append(bytes)
      case .unchanged, .unreadable: edited.append(nalUnit)
      }
    }
    return switch codec {
    case .h264: H264.ParameterSets(edited).excess(demand)
    case .h265: H265.ParameterSets(edited).excess(demand)
    }
  }
}

extension H264.ParameterSets {
  fileprivate func excess(_ demand: LevelDemand) -> LevelExcess? {
    let sequences = sequenceParameterSets
    guard !sequences.isEmpty else { return .unknown }
    for sps in sequences {
      guard let limits = sps.levelLimits else { return .unknown }
      let size = UInt64(clamping: sps.widthInMacroblocks) * UInt64(clamping: sps.heightInMacroblocks)
      if let excess = limits.excess(size: size, sps.frameRate ?? demand.frameRate, demand) { return excess }
      let frames = sps.decodedPictureBufferFrames
      if frames > sps.maximumDecodedPictureBufferFrames { return .buffer(frames) }
    }
    return nil
  }
}

extension H265.ParameterSets {
  fileprivate func excess(_ demand: LevelDemand) -> LevelExcess? {
    let sequences = sequenceParameterSets
    guard !sequences.isEmpty else { return .unknown }
    for sps in sequences {
      guard let limits = sps.levelLimits else { return .unknown }
      let size = UInt64(clamping: sps.codedSize.width) * UInt64(clamping: sps.codedSize.height)
      let pictures: UInt64 = sps.isFieldSequence ? 2 : 1
      let excess = limits.excess(size: size, picturesPerFrame: pictures, sps.frameRate ?? demand.frameRate, demand)
      if let excess = excess ?? self.excess(of: sps, demand) { return excess }
      do throws(StreamEditError) { try sps.checkBuffer() } catch { return .buffer(sps.decodedPictureBufferPictures) }
    }
    return nil
  }

  /// Into how many parts its pictures are divided, tiles and slice segments.
  private func excess(of sps: H265.SequenceParameterSet, _ demand: LevelDemand) -> LevelExcess? {
    guard let limits = sps.level.partitionLimits else { return nil }
    if demand.sliceSegments > limits.sliceSegments {
      return .sliceSegments(demand.sliceSegments, limit: limits.sliceSegments)
    }
    for id in UInt8(0)...63 {
      guard let pps = pictureParameterSet(PictureParameterSetID(id)), pps.sequenceParameterSetID == sps.id,
        let tiles = pps.tiles
      else { continue }
      let (columns, rows) = (Int(tiles.columnCount), Int(tiles.rowCount))
      if columns > limits.tileColumns { return .tileColumns(columns, limit: limits.tileColumns) }
      if rows > limits.tileRows { return .tileRows(rows, limit: limits.tileRows) }
    }
    return nil
  }
}

extension LevelLimits {
  /// Whether pictures of this size, in the unit of ``LevelLimits/pictureSize``, keep to the limits.
  func keep(size: UInt64, sentRate: Ratio?, _ demand: LevelDemand) -> Bool {
    excess(size: size, sentRate ?? demand.frameRate, demand) == nil
  }

  /// - Parameter size: of a picture, in the unit of ``LevelLimits/pictureSize``.
  fileprivate func excess(
    size: UInt64, picturesPerFrame: UInt64 = 1, _ frameRate: Ratio?, _ demand: LevelDemand
  ) -> LevelExcess? {
    if size > pictureSize { return .size(size, limit: pictureSize) }
    if let frames = frameRate {
      let (pictures, seconds) = (UInt64(frames.numerator) * picturesPerFrame, UInt64(frames.denominator))
      if isExceeded(bySize: size, pictures: pictures, inSeconds: seconds) {
        let (product, isBeyond) = size.multipliedReportingOverflow(by: pictures)
        return .rate(isBeyond ? .max : product / seconds, limit: rate)
      }
    }
    if let bitRate = demand.bitRate, bitRate > nalBitRate { return .bitRate(bitRate, limit: nalBitRate) }
    return firstLate(demand.accessUnits)
  }

  /// The first access unit that has not arrived when it is decoded. The buffer is full in front of the first one.
  private func firstLate(_ accessUnits: [LevelDemand.AccessUnit]) -> LevelExcess? {
    var coded = Bucket(bitRate, codedBuffer)
    var whole = Bucket(nalBitRate, nalCodedBuffer)
    for (index, accessUnit) in accessUnits.enumerated() {
      if !coded.remove(accessUnit.codedBits, after: accessUnit.seconds) {
        return .late(index, bitRate: bitRate, codedBuffer: codedBuffer)
      }
      if !whole.remove(accessUnit.bits, after: accessUnit.seconds) {
        return .late(index, bitRate: nalBitRate, codedBuffer: nalCodedBuffer)
      }
    }
    return nil
  }

  /// The coded picture buffer of a level (Annex C), filled at MaxBR as long as there is room.
  private struct Bucket {
    private let (bitRate, size): (Double, Double)
    private var fullness: Double

    init(_ bitRate: UInt64, _ size: UInt64) {
      (self.bitRate, self.size) = (Double(bitRate), Double(size))
      fullness = Double(size)
    }

    /// Returns whether all bits are there; a few ticks of a clock are no delay.
    mutating func remove(_ bits: UInt64, after seconds: Double?) -> Bool {
      fullness = min(size, seconds.map { fullness + bitRate * $0 } ?? size) - Double(bits)
      return fullness >= -(bitRate / 90_000 * 4 + 64)
    }
  }
}

extension ParameterSetStore {
  /// The sets of these NAL units that can be read.
  fileprivate init(_ nalUnits: [[UInt8]]) {
    self.init()
    for nalUnit in nalUnits {
      do throws(BitstreamError) { try insert(nalUnit.span) } catch {
        // References to it cannot be resolved.
      }
    }
  }

  fileprivate var sequenceParameterSets: [SequenceParameterSet] {
    (UInt8(0)...31).compactMap { sequenceParameterSet(SequenceParameterSetID($0)) }
  }
}
