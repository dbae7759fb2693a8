// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import Slices

/// Reads the slices of access units to their last bit.
///
/// Slices whose header or kind cannot be read are no damage here: the decoder judges them.
struct SliceVerification {
  private let packaging: NALPackaging
  private var h264 = H264.SliceReader()
  private var h265 = H265.SliceReader()
  private var leftovers = LeftoverCoefficients()

  init(_ packaging: NALPackaging) { self.packaging = packaging }

  /// The damage in an access unit; nil if there is none.
  ///
  /// - Parameter isCancelled: whether nobody wants to know any more.
  mutating func verdict(on task: SliceTask, isCancelled: () -> Bool = { false }) -> SliceVerdict? {
    let findings = read(task.packet.bytes, task.reading, thread: task.thread, isCancelled)
    guard let first = findings.first else { return nil }
    return SliceVerdict(task: task, first: first, count: findings.count)
  }

  /// Whether slices of an access unit are damaged or missing, or their headers cannot be read although libavcodec reports
  /// nothing.
  mutating func findsDamage(in accessUnit: Span<UInt8>, _ reading: AccessUnitDescription.Reading) -> Bool {
    let findings = read(accessUnit, reading, thread: nil) { false }
    return findings.first != nil || findings.hasUnreadableHeader
  }

  private mutating func read(
    _ accessUnit: Span<UInt8>, _ reading: AccessUnitDescription.Reading, thread: Int?, _ isCancelled: () -> Bool
  ) -> Findings {
    var findings = Findings()
    switch reading {
    case .h264(let reading): read(h264: accessUnit, reading.parameterSets, thread: thread, &findings, isCancelled)
    case .h265(let reading): read(h265: accessUnit, reading, &findings, isCancelled)
    }
    return findings
  }

  /// Access units were decoded that have not been verified.
  mutating func forgetLeftovers() { leftovers = LeftoverCoefficients() }

  /// The results of an access unit's slices so far.
  private struct Findings {
    private(set) var first: SliceVerdict.Fault?
    private(set) var count = 0
    /// A header of H.265 cannot be read. libavcodec reports those of H.264.
    private(set) var hasUnreadableHeader = false
    /// The number of slices so far.
    private var sliceCount = 0
    /// The blocks of the picture that are in its slices.
    private var blockCount = 0
    /// Every slice of the picture was read to its end.
    private var isWhole = true

    mutating func add(_ extent: SliceExtent) {
      sliceCount += 1
      blockCount += extent.blockCount
    }

    mutating func add(_ damage: SliceDamage) {
      isWhole = false
      defer { sliceCount += 1 }
      guard damage.reason != .unsupported, damage.reason != .header else { return }
      first = first ?? .damage(damage, slice: sliceCount)
      count += 1
    }

    mutating func noteUnreadableHeader() { hasUnreadableHeader = true }

    /// A slice that is not read.
    mutating func skip() {
      isWhole = false
      sliceCount += 1
    }

    /// No more slices of the picture follow.
    ///
    /// - Parameter size: the number of the picture's blocks; nil if unknown.
    mutating func endPicture(size: Int?) {
      if isWhole, blockCount > 0, let size, blockCount < size {
        first = first ?? .missing(blocks: size - blockCount)
        count += 1
      }
      (blockCount, isWhole) = (0, true)
    }

    /// All slices are sound, unless others are not, but the picture is not.
    mutating func noteLeftovers() { first = first ?? .leftovers }

    /// The slices cannot be judged.
    mutating func forget() { self = Findings() }
  }

  private mutating func read(
    h264 accessUnit: Span<UInt8>, _ sets: H264.ParameterSets, thread: Int?, _ findings: inout Findings,
    _ isCancelled: () -> Bool
  ) {
    var last: H264.SliceHeader?
    var isMixed = false
    var hasSecondPicture = false
    h264.beginPicture()
    for range in packaging.nalUnits(of: accessUnit) where !range.isEmpty {
      let nalUnit = accessUnit.extracting(range)
      let type = H264.NALUnitType(headerByte: nalUnit[0])
      // The parameter sets at hand are those of the end: which of them the first slices use is unknown.
      if last != nil, H264.role(of: nalUnit).isParameterSet { return findings.forget() }
      if type == .slicePartitionA { findings.skip() }
      guard type == .slice || type == .idrSlice else { continue }
      guard !isCancelled() else { return findings.forget() }
      guard let header = try? H264.SliceHeader(nalUnit: nalUnit, parameterSets: sets) else {
        findings.skip()
        continue
      }
      // libavcodec does not decode them.
      guard !header.isRedundant else { continue }
      if let previous = last, isOfAnotherPicture(header, previous) {
        findings.endPicture(size: size(ofPictureOf: previous, sets))
        // Two fields at most. A few bytes can cover a picture, so that a thousand pictures would take too long.
        guard !hasSecondPicture else { return }
        hasSecondPicture = true
        h264.beginPicture()
      }
      last = header
      h264.collectsBlocks = thread.map { leftovers.exist(inThread: $0) } ?? false
      do throws(SliceDamage) {
        findings.add(try h264.verify(nalUnit, parameterSets: sets))
      } catch {
        findings.add(error)
      }
      if let thread, leftovers.decode(h264.codedBlocks, damaged: h264.damagedBlocks, inThread: thread) {
        isMixed = true
      }
    }
    if let last { findings.endPicture(size: size(ofPictureOf: last, sets)) }
    if isMixed { findings.noteLeftovers() }
  }

  /// Whether two slices of an access unit belong to different fields, or one of them to another picture by mistake. The
  /// slices of a picture may refer to different PPSs.
  private func isOfAnotherPicture(_ slice: H264.SliceHeader, _ last: H264.SliceHeader) -> Bool {
    slice.isField != last.isField || slice.isBottomField != last.isBottomField
      || slice.frameNumber != last.frameNumber || slice.pictureOrderCountLSB != last.pictureOrderCountLSB
  }

  /// The number of macroblocks, in all color planes.
  private func size(ofPictureOf slice: H264.SliceHeader, _ sets: H264.ParameterSets) -> Int? {
    guard let sps = sets.sequenceParameterSet(slice.sequenceParameterSetID) else { return nil }
    let frame = sps.widthInMacroblocks * sps.heightInMacroblocks
    return (slice.isField ? frame / 2 : frame) * (sps.hasSeparateColourPlanes ? 3 : 1)
  }

  private mutating func read(
    h265 accessUnit: Span<UInt8>, _ reading: AccessUnitReading<H265>, _ findings: inout Findings,
    _ isCancelled: () -> Bool
  ) {
    let sets = reading.parameterSets
    let sps = reading.info.slice.flatMap { sets.sequenceParameterSet($0.sequenceParameterSetID) }
    let size = sps.flatMap { $0.hasSeparateColourPlanes ? nil : $0.codingTreeBlockCount }
    var hasSlice = false
    h265.beginPicture()
    for range in packaging.nalUnits(of: accessUnit) where range.count > 2 {
      let nalUnit = accessUnit.extracting(range)
      // Other layers have a nuh_layer_id (7.3.1.2).
      guard nalUnit[0] & 1 == 0, nalUnit[1] >> 3 == 0 else { continue }
      let role = H265.role(of: nalUnit)
      // As in H.264.
      if hasSlice, role.isParameterSet { return findings.forget() }
      guard role == .slice else { continue }
      guard !isCancelled() else { return findings.forget() }
      // first_slice_segment_in_pic_flag (7.3.6.1): a second picture, by mistake.
      if hasSlice, nalUnit[2] & 0x80 != 0 { findings.endPicture(size: size) }
      hasSlice = true
      do throws(SliceDamage) {
        findings.add(try h265.verify(nalUnit, parameterSets: sets))
      } catch {
        findings.add(error)
        if error.reason == .header { findings.noteUnreadableHeader() }
      }
    }
    if hasSlice { findings.endPicture(size: size) }
  }
}
