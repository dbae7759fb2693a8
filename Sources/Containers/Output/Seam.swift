// SPDX-License-Identifier: MPL-2.0
import H26x

/// A stage of a copy between window and sink. It encodes the pictures of seams.
///
/// ```
/// copying ──an access unit that is needed or encoded──▶ in a seam ──one that is copied, or the end──▶ copying
/// ```
///
/// Encoded pictures are an IDR picture and P pictures under the source's own SPS, so that the copy has one format. Their
/// PPS has an id that the source does not use. In containers with a description of the video, the description has that
/// PPS; elsewhere, it is in front of the IDR picture.
struct Seam {
  private typealias AccessUnit = MediaOutput.AccessUnit

  private let quality: Double
  private let hasStartCodes: Bool
  /// The access units of the open seam; `nil` for none.
  private var open: OpenSeam?
  /// The parameter sets of encoded pictures, or the reason for which there are none, by the SPS.
  private var known: [[UInt8]: Result<SeamParameterSets, SeamObstacle>] = [:]
  /// The last access unit that left, if it is an entry.
  private var lastEntry: MediaOutput.AccessUnit?
  private var lastDecoding: Int64?
  private var seamCount: UInt16 = 0
  /// Pictures that were encoded.
  private(set) var encodedCount = 0

  /// - Parameter plan: of the copy.
  init(_ plan: CopyPlan) { (quality, hasStartCodes) = (plan.quality, plan.container.hasStartCodes) }

  // MARK: The description

  /// Adds the PPS of encoded pictures to a format whose access units have no parameter sets. Pictures of an SPS that
  /// does not allow it are not encoded.
  mutating func describe(_ format: inout MediaOutput.VideoFormat) {
    guard format.codec == .h264, !hasStartCodes, !format.allowsInBandParameterSets else { return }
    do throws(BitstreamError) {
      var record = try H264.DecoderConfigurationRecord(format.configuration.span)
      var sets = H264.ParameterSets()
      for nalUnit in record.nalUnits { try sets.insert(nalUnit.span) }
      for nalUnit in sets.sequenceParameterSetNALUnits {
        guard let target = target(nalUnit, sets), !record.pictureParameterSets.contains(target.ppsNALUnit) else {
          continue
        }
        record.pictureParameterSets.append(target.ppsNALUnit)
        try sets.insert(target.ppsNALUnit.span)
      }
      format.configuration = try record.bytes()
    } catch {
      // It stays as it is.
    }
  }

  /// Why pictures of a stream cannot be encoded; `nil` if they can.
  mutating func obstacle(_ format: MediaOutput.VideoFormat, under parameterSets: [[UInt8]]) -> SeamObstacle? {
    guard format.codec == .h264 else { return .codec }
    var sets = H264.ParameterSets()
    for nalUnit in parameterSets { do throws(BitstreamError) { try sets.insert(nalUnit.span) } catch {} }
    for nalUnit in sets.sequenceParameterSetNALUnits {
      do throws(SeamObstacle) { _ = try found(nalUnit, sets) } catch { return error }
    }
    return nil
  }

  private mutating func target(_ spsNALUnit: [UInt8], _ sets: H264.ParameterSets) -> SeamParameterSets? {
    do throws(SeamObstacle) { return try found(spsNALUnit, sets) } catch { return nil }
  }

  /// The parameter sets of pictures that are encoded under an SPS.
  ///
  /// - Parameter sets: the source's.
  private mutating func found(
    _ spsNALUnit: [UInt8], _ sets: H264.ParameterSets
  ) throws(SeamObstacle) -> SeamParameterSets {
    if let known = known[spsNALUnit] { return try known.get() }
    let made: Result<SeamParameterSets, SeamObstacle>
    do throws(SeamObstacle) {
      // Encoders use low ids.
      let free = (UInt8.min...UInt8.max).reversed().first { sets.pictureParameterSet(.init($0)) == nil }
      guard let free else { throw .unsupported("its parameter sets use all ids") }
      made = .success(try SeamParameterSets(spsNALUnit, id: .init(free), quality: quality))
    } catch { made = .failure(error) }
    known[spsNALUnit] = made
    return try made.get()
  }

  // MARK: Access units

  /// Takes the next access unit of the window.
  ///
  /// - Returns: the access units to write now.
  /// - Throws: `CopyRefusal.seam` if a picture cannot be encoded.
  mutating func take(
    _ accessUnit: MediaOutput.AccessUnit, _ format: MediaOutput.VideoFormat
  ) throws(CopyRefusal) -> [MediaOutput.AccessUnit] {
    do throws(SeamObstacle) {
      switch accessUnit.disposition {
      case .copied, .hidden:
        var leaving = try close(before: accessUnit)
        leaving.append(accessUnit)
        lastEntry = accessUnit.role.start == .closed ? accessUnit : nil
        lastDecoding = max(lastDecoding ?? .min, accessUnit.decoding)
        return leaving
      case .needed, .encoded:
        try continueSeam(accessUnit, format)
        return []
      }
    } catch { throw .seam(error) }
  }

  /// Ends a range.
  ///
  /// - Returns: the access units to write now.
  mutating func finishRange() throws(CopyRefusal) -> [MediaOutput.AccessUnit] {
    do throws(SeamObstacle) {
      defer { (lastEntry, lastDecoding) = (nil, nil) }
      return try close(before: nil)
    } catch { throw .seam(error) }
  }

  private mutating func continueSeam(
    _ accessUnit: AccessUnit, _ format: MediaOutput.VideoFormat
  ) throws(SeamObstacle) {
    guard format.codec == .h264 else { throw .codec }
    if open == nil { open = OpenSeam(format, hasStartCodes: hasStartCodes) }
    guard var seam = open else { return }
    // A copy of it would be costly.
    open = nil
    seam.read(accessUnit)
    if accessUnit.disposition == .encoded, let spsNALUnit = try seam.spsNALUnit(of: accessUnit) {
      if let target = seam.target {
        guard target.spsNALUnit == spsNALUnit else { throw .formatChange }
      } else {
        seam.target = try found(spsNALUnit, seam.sets)
      }
    }
    try seam.take(accessUnit)
    open = seam
  }

  // MARK: Encoded pictures

  /// Ends the open seam.
  ///
  /// - Parameter next: the access unit that follows; `nil` at the end of a range.
  /// - Returns: its encoded pictures.
  private mutating func close(before next: AccessUnit?) throws(SeamObstacle) -> [AccessUnit] {
    guard let seam = open else { return [] }
    open = nil
    guard let target = seam.target, let coder = seam.coder else { return [] }
    if let next, next.role.start != .closed { throw .recoveryPoint }
    let pictures = try coder.finish()
    let identifier = idrPictureID(before: next, seam)
    let times = decodingTimes(of: pictures.map(\.accessUnit.presentation), before: next, depth: seam.depth ?? 0)
    var (leaving, sets): ([AccessUnit], H264.ParameterSets) = ([], H264.ParameterSets())
    for (number, picture) in pictures.enumerated() {
      var nalUnits = try target.slices(
        of: picture.packet, &sets, number: number, idrPictureID: identifier, isTopFieldFirst: coder.isTopFieldFirst)
      // primary_pic_type: I slices, or also P slices (Table 7-5).
      if seam.hasDelimiters { nalUnits.insert([0x09, number == 0 ? 0x10 : 0x30], at: 0) }
      var accessUnit = picture.accessUnit
      (accessUnit.bytes, accessUnit.decoding) = (try seam.packaged(nalUnits), times[number])
      (accessUnit.isKeyframe, accessUnit.role) = (number == 0, AccessUnitRole())
      if number == 0 {
        accessUnit.role.start = .closed
        (accessUnit.role.isIntra, accessUnit.role.isRandomAccess) = (true, true)
        accessUnit.role.parameterSets = seam.sets.nalUnits.filter { $0 != target.ppsNALUnit } + [target.ppsNALUnit]
        if seam.isInBand { accessUnit.bytes = seam.completed(accessUnit) }
      }
      leaving.append(accessUnit)
    }
    encodedCount += pictures.count
    lastEntry = nil
    lastDecoding = times.last
    return leaving
  }

  /// An `idr_pic_id` that neither neighbor has (7.4.3). It is large, because encoders use small ones.
  private mutating func idrPictureID(before next: AccessUnit?, _ seam: OpenSeam) -> UInt16 {
    let taken = [lastEntry, next].compactMap { $0.flatMap(seam.idrPictureID(of:)) }
    seamCount = (seamCount + 1) % 3
    let first = seamCount
    let wanted = (UInt16.min..<3).map { UInt16.max - (first + $0) % 3 }
    return wanted.first { !taken.contains($0) } ?? .max
  }

  /// Decoding times that ascend, and lie between those of the neighbors.
  ///
  /// - Parameters:
  ///   - presentations: ascending.
  ///   - depth: how much earlier the source decodes an entry than it shows it.
  private func decodingTimes(of presentations: [Int64], before next: AccessUnit?, depth: Int64) -> [Int64] {
    guard let first = presentations.first else { return [] }
    let delay = next.map { $0.presentation &- $0.decoding } ?? depth
    // Pictures of the seam are shown behind those that are copied in front of it.
    let room = lastDecoding.map { first.subtractingReportingOverflow($0).partialValue } ?? 0
    let step = max(room / (Int64(presentations.count) + 1), 1)
    var last = lastDecoding
    return presentations.map { presentation in
      let time = max(presentation &- delay, last.map { $0 &+ step } ?? .min)
      last = min(time, presentation)
      return min(time, presentation)
    }
  }
}
