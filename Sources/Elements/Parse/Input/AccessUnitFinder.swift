// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Stage: finds access units in the data, and reads their SEI messages.
struct AccessUnitFinder<Codec: ParserCodec>: Sendable {
  /// Holds the parameter sets, and counts. Stored and read in place: it is large.
  private(set) var scanner = Codec.Scanner()
  private(set) var sei = SEIReader<Codec>()
  /// SEI NAL units of `codec_data`, which hold for the whole stream (ISO/IEC 14496-15, 8.3.3.1.2).
  private(set) var describedSEI: [[UInt8]] = []
  /// Size of the access unit that was found and was not output yet.
  private(set) var heldSize: Int?
  /// Computes POC for the log, at level LOG only.
  private var orderLog = PictureOrderLog<Codec>()
  private var changes: Changes?

  /// Changes that matter to other stages.
  struct Changes: Sendable {
    /// Parameter sets must be inserted: those in the stream came too late.
    fileprivate(set) var wantsParameterSets = false
    /// A NAL unit length was bad: data was lost, perhaps parameter sets.
    fileprivate(set) var hasBadLength = false
    /// SEI messages that persist beyond their access unit have changed.
    fileprivate(set) var changesSequence = false
    /// To be posted on the bus.
    fileprivate(set) var warning: ElementError?
  }

  // MARK: Search

  /// Sets the packaging of input and output.
  mutating func configure(_ input: ParserInputFormat<Codec>, for output: OutputPackaging<Codec>) {
    scanner.packaging = input.packaging
    switch input.alignment {
    case .accessUnit: scanner.inputAlignment = .accessUnit
    case .nalUnit: scanner.inputAlignment = .nalUnits
    case nil: scanner.inputAlignment = .none
    }
    // In-band parameter sets are output as they are; only codec_data needs readable ones.
    scanner.sparesUnreadablePictureParameterSets = output.format != .outOfBand
  }

  /// Sets what to find out about the next access unit.
  ///
  /// - Parameters:
  ///   - listing: whether its NAL units are listed, so that it can be split or repackaged.
  ///   - cutting: whether NAL units are found one by one, unless they are listed.
  ///   - depth: how far the header of its first slice is read.
  mutating func aim(listing: Bool, cutting: Bool, _ depth: SliceHeaderDepth) {
    scanner.listsNALUnits = listing
    scanner.cutsNALUnits = cutting && !listing
    scanner.sliceDepth = depth
  }

  /// Whether no access unit was found or has started.
  var isBetweenAccessUnits: Bool { heldSize == nil && scanner.isBetweenAccessUnits }

  // MARK: Finding

  /// Finds the next access unit, and reads its SEI messages.
  ///
  /// - Parameter describedID: id of the SPS that the caps describe, for SEI in front of a picture.
  mutating func find(
    in bytes: Span<UInt8>, isMarked: Bool, isDraining: Bool, describedID: SequenceParameterSetID?,
    _ accessUnit: inout ParsedAccessUnit<Codec>, _ log: ElementLog
  ) -> ScannerFinding {
    let finding = scanner.next(in: bytes, isMarked: isMarked, isDraining: isDraining)
    follow(scanner.takeNotices(), log)
    guard case .accessUnit(let size) = finding else { return finding }
    heldSize = size
    accessUnit.begin(&scanner)
    if log.isEnabled(.log) { logAccessUnit(bytes.extracting(first: size), log) }
    if accessUnit.beginsSequence || !accessUnit.scanned.seiNALUnits.isEmpty {
      let sps = sequenceParameterSetID(of: accessUnit, described: describedID)
      if accessUnit.readSEI(with: &sei, bytes, sps: sps, scanner, log) { record { $0.changesSequence = true } }
    }
    return finding
  }

  /// The SPS id of an access unit's picture or, in front of its first slice, of the next picture.
  func sequenceParameterSetID(of accessUnit: ParsedAccessUnit<Codec>, described: SequenceParameterSetID?)
    -> SequenceParameterSetID?
  {
    accessUnit.scanned.slice?.sequenceParameterSetID ?? described ?? scanner.lastSequenceParameterSetID
  }

  /// The access unit is handed to the output.
  mutating func letGo() { heldSize = nil }

  /// Returns the changes since the last call; nil if there are none.
  @inline(__always) mutating func takeChanges() -> Changes? {
    guard changes != nil else { return nil }
    return changes.take()
  }

  // MARK: Parameter sets

  /// Takes the parameter sets and SEI of `codec_data`.
  mutating func store(_ record: Codec.ConfigurationRecord, _ log: ElementLog) {
    describedSEI = []
    for nalUnit in record.nalUnits {
      guard let type = nalUnit.first.map({ Codec.NALUnitType(headerByte: $0) }) else { continue }
      if type.isParameterSet { scanner.store(nalUnit.span) }
      if type.isSEI { describedSEI.append(nalUnit) }
    }
    follow(scanner.takeNotices(), log)
  }

  /// Whether parameter sets came, whether or not they can be read.
  var hasMetParameterSets: Bool {
    let (sps, pps) = (Codec.NALUnitType.sequenceParameterSet, Codec.NALUnitType.pictureParameterSet)
    return scanner.nalUnitCounts[Int(sps.rawValue)] > 0 || scanner.nalUnitCounts[Int(pps.rawValue)] > 0
  }

  /// The NAL units to insert in front of an access unit that lacks them, in this output: parameter sets. A byte
  /// stream has no `codec_data`, so the SEI of `codec_data` is inserted, too.
  func inserted(into output: OutputPackaging<Codec>) -> [[UInt8]] {
    scanner.parameterSets.nalUnits + (output.format == .byteStream ? describedSEI : [])
  }

  // MARK: Forgetting

  /// Forgets the format, parameter sets too.
  mutating func forgetFormat() {
    scanner.removeParameterSets()
    describedSEI = []
    sei.removeAll()
  }

  /// Forgets the position in the stream: the next data need not continue the last.
  mutating func forgetPosition() {
    scanner.resetPosition()
    orderLog = PictureOrderLog<Codec>()
    heldSize = nil
  }

  // MARK: Notices

  private mutating func record(_ change: (inout Changes) -> Void) {
    var current = changes ?? Changes()
    change(&current)
    changes = current
  }

  /// Logs the scanner's notices, and keeps what other stages need.
  private mutating func follow(_ notices: [ScannerNotice<Codec.NALUnitType>], _ log: ElementLog) {
    // No parameter set changes without a notice.
    guard !notices.isEmpty else { return }
    record { _ in }
    for notice in notices {
      switch notice {
      case .parameterSet(let type, let byteCount, let change):
        log(.info, "\(change) \(type.name), \(byteCount) bytes")
      case .unreadableParameterSet(let type, let byteCount, let error):
        log(.warning, "cannot read \(type.name) of \(byteCount) bytes: \(error)")
      case .foreignType(let type):
        log(.warning, "dropped a NAL unit of type \(type.rawValue) (\(type.name)): only RTP packets have them")
      case .badLength(let error, let goodBytes, let byteCount):
        log(
          .warning,
          "bad NAL unit length: found \(error), expected at most \(byteCount) bytes; \(goodBytes) bytes are good"
        )
        record { $0.hasBadLength = true }
      case .lateParameterSets:
        log(.info, "the parameter sets of the first picture follow it")
        record { $0.wantsParameterSets = true }
      case .startCodes:
        record {
          $0.warning = .muxedWrongly(
            "found start codes inside length-prefixed NAL units, expected one NAL unit after each length")
        }
      }
    }
  }

  /// One line for each NAL unit of an access unit.
  private mutating func logAccessUnit(_ bytes: Span<UInt8>, _ log: ElementLog) {
    // The scanner has reported a bad length.
    for range in scanner.packaging.nalUnits(of: bytes) { logNALUnit(bytes.extracting(range), log) }
  }

  private mutating func logNALUnit(_ nalUnit: Span<UInt8>, _ log: ElementLog) {
    let type = Codec.NALUnitType(headerByte: nalUnit[0])
    var line = "\(type.name), \(nalUnit.count) bytes"
    do throws(BitstreamError) {
      if Codec.role(of: nalUnit) == .slice {
        let slice = try Codec.SliceHeader(
          nalUnit: nalUnit, parameterSets: scanner.parameterSets, depth: .referenceMarking)
        line += ", \(Codec.describe(slice))"
        if let count = orderLog.count(slice, scanner.parameterSets) { line += ", POC \(count)" }
      }
    } catch {
      line += ", \(error)"
    }
    log(.log, line)
  }
}
