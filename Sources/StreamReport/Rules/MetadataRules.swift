// SPDX-License-Identifier: MPL-2.0
package import H26x

/// The container's statements about metadata, beside the configuration record.
package struct ContainerMetadata: Sendable {
  /// The record of Dolby Vision; nil without one.
  var dolbyVision: DolbyVision.Configuration?
  /// Whether it has ST 2086.
  var hasMasteringDisplay: Bool

  package init(dolbyVision: DolbyVision.Configuration?, hasMasteringDisplay: Bool) {
    (self.dolbyVision, self.hasMasteringDisplay) = (dolbyVision, hasMasteringDisplay)
  }

  init(_ description: MP4.VisualSampleDescription) {
    self.init(dolbyVision: description.dolbyVision, hasMasteringDisplay: description.hasMasteringDisplay)
  }
}

/// Checks Dolby Vision, HDR10+ and captions.
struct MetadataRules<Codec: CheckedCodec> {
  private var stated = ContainerMetadata(dolbyVision: nil, hasMasteringDisplay: false)
  /// Whether ``stated`` was not compared with the stream yet.
  private var isUnchecked = false

  /// RPUs of the access unit.
  private var count = 0
  /// The profile by its last RPU.
  private var profile: UInt8?
  private var hasEnhancementLayer = false
  private var hasMetRPU = false
  /// Pictures before the first RPU.
  private var early = Tally()

  private var hasMasteringDisplay = false
  private var hasReportedHDR10Plus = false
  private var captions = CaptionRules()

  // MARK: Dolby Vision

  /// Takes the container's statements, which hold for the next sample and later ones.
  mutating func take(_ stated: ContainerMetadata) {
    self.stated = stated
    isUnchecked = stated.dolbyVision != nil
  }

  mutating func beginAccessUnit() { (count, profile, hasEnhancementLayer) = (0, nil, false) }

  /// Takes an RPU.
  ///
  /// - Parameters:
  ///   - rpu: nil if it cannot be read.
  ///   - error: the reason that it cannot be read.
  ///   - picture: the picture in front of it.
  mutating func take(_ rpu: WalkedRPU?, _ error: BitstreamError?, in picture: PictureRecord, log: inout FindingLog) {
    count += 1
    // A sample of MP4 may have two fields, each with metadata.
    if count == 2, !picture.isFieldPair {
      log.report(.rpuRepeated, "a second RPU in the picture", expected: "one RPU")
    }
    profile = rpu?.profile
    if let rpu, !rpu.hasValidCRC {
      log.report(.rpuCRC, "an RPU whose rpu_data_crc32 does not fit", expected: "the CRC of its bytes")
    } else if let error, error.reason != .unsupported {
      log.report(.rpuCRC, ReportText(error), expected: "an RPU that can be read")
    }
  }

  /// Takes a NAL unit that is not read.
  mutating func take(_ unit: NALUnitRecord) {
    if Codec.NALUnitType(rawValue: unit.type) == .dolbyVisionEnhancementLayer { hasEnhancementLayer = true }
  }

  /// Checks the access unit.
  ///
  /// - Parameters:
  ///   - pictures: the walk at its end.
  ///   - timescale: ticks a second of the container's times; 0 without any.
  mutating func check(
    _ accessUnit: AccessUnitRecord, _ pictures: borrowing Codec.Pictures, timescale: UInt32, log: inout FindingLog
  ) {
    guard accessUnit.letter != nil else { return }
    checkPresence(accessUnit.isSecondField, log: &log)
    if isUnchecked, let profile, let record = stated.dolbyVision {
      isUnchecked = false
      check(
        record, profile, pictures.sps.flatMap { Codec.format($0).colour }, pictures.messages.preferredTransfer,
        log: &log)
    }
    let messages = pictures.messages
    hasMasteringDisplay = hasMasteringDisplay || messages.hasMasteringDisplay
    if messages.hasHDR10Plus, accessUnit.keyframe != .none, !hasReportedHDR10Plus, !hasMasteringDisplay,
      !stated.hasMasteringDisplay
    {
      hasReportedHDR10Plus = true
      log.report(
        .hdr10PlusWithoutMasteringDisplay, "HDR10+ without mastering display",
        expected: "ST 2086 in the stream or in the container")
    }
    if let error = messages.userDataError {
      log.report(.unreadableSEI, ReportText(error), expected: "captions or HDR10+ that can be read")
    }
    if messages.isRepeated { captions.isRepeating = true }
    if !messages.captions.isEmpty || captions.hasBegun {
      let time = timescale > 0 ? accessUnit.sample.map { Double($0.pts) / Double(timescale) } : nil
      captions.check(messages, accessUnit, pictures.fixedFrameRate, time, log)
    }
  }

  private mutating func checkPresence(_ isSecondField: Bool, log: inout FindingLog) {
    if count == 0 {
      // The frame's first field may have had it.
      guard !isSecondField else { return }
      guard hasMetRPU else { return early.add(log) }
      log.report(.rpuMissing, "a picture without RPU", expected: "an RPU, as with other pictures")
    } else if !hasMetRPU {
      hasMetRPU = true
      let pictures: ReportText = early.count == 1 ? "a picture" : "\(early.count) pictures"
      early.report(.rpuMissing, to: &log) {
        ("\(pictures) without RPU in front of the first one", "an RPU, as with other pictures")
      }
    }
  }

  /// Compares the container's record with the RPU of a picture and with its colour.
  private func check(
    _ record: DolbyVision.Configuration, _ profile: UInt8, _ colour: ColourDescription?, _ preferredTransfer: UInt8?,
    log: inout FindingLog
  ) {
    if record.profile != profile, !Self.indistinctProfiles.contains(record.profile) {
      log.report(.dolbyVisionRecord, "dv_profile \(record.profile)", expected: "\(profile) as in the RPU")
      return
    }
    if !record.hasRPU { log.report(.dolbyVisionRecord, "rpu_present_flag 0", expected: "1, as there are RPUs") }
    if record.hasBaseLayer, record.hasEnhancementLayer != hasEnhancementLayer {
      log.report(
        .dolbyVisionRecord, "el_present_flag \(record.hasEnhancementLayer ? 1 : 0)",
        expected: "\(hasEnhancementLayer ? 1 : 0), as in the stream")
    }
    guard let transfer = preferredTransfer ?? colour?.transfer else { return }
    if !Self.fits(transfer, record.compatibilityID) {
      log.report(
        .dolbyVisionRecord, "dv_bl_signal_compatibility_id \(record.compatibilityID)",
        expected: "an id for transfer_characteristics \(transfer), as in the stream")
    }
  }

  /// The profiles that an RPU does not state: 20 of MV-HEVC, and those of H.264 and H.265 that are no longer in use.
  private static var indistinctProfiles: [UInt8] { [0, 1, 2, 3, 6, 20] }

  /// Whether a base layer may have these transfer characteristics. 2 is unspecified.
  private static func fits(_ transfer: UInt8, _ compatibilityID: UInt8) -> Bool {
    switch compatibilityID {
    // HDR10: PQ.
    case 1, 6: transfer == 16 || transfer == 2
    // SDR: neither PQ nor HLG.
    case 2: transfer != 16 && transfer != 18
    // HLG, or BT.2020 in front of SEI that prefers HLG.
    case 4: [2, 14, 18].contains(transfer)
    default: true
    }
  }

  /// Ends the stream.
  mutating func finish(log: inout FindingLog) {
    captions.finish(log: &log)
    if let record = stated.dolbyVision, record.hasRPU, record.hasBaseLayer, !hasMetRPU {
      early.report(.dolbyVisionRecord, to: &log) { ("rpu_present_flag 1", "an RPU with each picture") }
    }
  }
}

/// Pictures with one finding, reported at the place of the first.
private struct Tally: Sendable {
  private(set) var count: UInt64 = 0
  private var place: (accessUnit: UInt64, offset: UInt64) = (0, 0)

  mutating func add(_ log: borrowing FindingLog) {
    if count == 0 { place = (log.accessUnit, log.offset) }
    count += 1
  }

  /// Adds those of another one. Returns whether their first is in front.
  mutating func add(_ other: Tally) -> Bool {
    let isInFront = count == 0 || other.place.accessUnit < place.accessUnit
    if isInFront { place = other.place }
    count += other.count
    return isInFront
  }

  /// Reports the finding, unless there are no such pictures.
  func report(_ rule: Rule, to log: inout FindingLog, _ text: () -> (found: ReportText, expected: ReportText)) {
    guard count > 0 else { return }
    let current = (log.accessUnit, log.offset)
    (log.accessUnit, log.offset) = place
    let (found, expected) = text()
    log.report(rule, found, expected: expected)
    (log.accessUnit, log.offset) = current
  }
}

/// Checks the number and the order of captions.
private struct CaptionRules: Sendable {
  /// Pictures whose `cc_count` does not fit the fixed frame rate.
  private var misfits = Tally()
  /// The `cc_count` of the first of them, and the one that fits.
  private var counts = (found: 0, expected: 0)
  /// Pictures without a fixed frame rate, by their `cc_count`.
  private var unjudged = [Tally](repeating: Tally(), count: CaptionTriplet.limit + 1)
  private var clock = ConstantCaptionRate()
  /// Whether pictures are shown for different times, as of films in 60 fields a second.
  var isRepeating = false

  private var decoded = DoubledCodes()
  private var presented = DoubledCodes()
  private var queue = PresentationQueue<(captions: [CaptionTriplet], time: Double?)>()
  /// The pictures with captions.
  private var pictures = Tally()

  /// Fewer doubled codes may be chance.
  private static let fewest = 4

  /// Whether a picture had captions.
  var hasBegun: Bool { pictures.count > 0 }

  /// Takes a picture with captions, and each one behind it.
  ///
  /// - Parameters:
  ///   - rate: frames a second; nil if they may vary.
  ///   - time: when it is shown by the container, in seconds; nil without times.
  mutating func check(
    _ messages: AccessUnitSEI, _ accessUnit: AccessUnitRecord, _ rate: Ratio?, _ time: Double?,
    _ log: borrowing FindingLog
  ) {
    if !messages.captions.isEmpty { pictures.add(log) }
    if let count = messages.captionCount, !accessUnit.isField {
      if rate == nil {
        unjudged[min(count, CaptionTriplet.limit)].add(log)
      } else if let expected = rate.flatMap({ CaptionRate($0)?.tripletCount }), count != expected {
        if misfits.count == 0 { counts = (count, expected) }
        misfits.add(log)
      }
    }
    guard let order = accessUnit.pictureOrderCount else { return }
    decoded.add(messages.captions)
    // A field's frame has one time.
    let next = (messages.captions, accessUnit.isField ? nil : time)
    if let first = queue.add(next, sequence: accessUnit.sequence, order: order) { take(first) }
  }

  private mutating func take(_ picture: (captions: [CaptionTriplet], time: Double?)) {
    presented.add(picture.captions)
    clock.add(picture.time)
  }

  /// Ends the stream.
  mutating func finish(log: inout FindingLog) {
    for picture in queue.finish() { take(picture) }
    if !isRepeating {
      report(misfits, counts.found, expected: "\(counts.expected) at the fixed frame rate", to: &log)
      reportUnjudged(to: &log)
    }
    let (sent, shown, codes) = (decoded.doubled, presented.doubled, decoded.count)
    // By chance, a half stays doubled if every other picture is a B picture.
    guard sent >= Self.fewest, shown * 3 <= sent * 2, sent * 4 >= codes else { return }
    pictures.report(.captionOrder, to: &log) {
      (
        "\(sent) control codes of CTA-608 are doubled in decoding order, \(shown) in presentation order",
        "presentation order"
      )
    }
  }

  private func report(_ misfits: Tally, _ found: Int, expected: ReportText, to log: inout FindingLog) {
    misfits.report(.captionCount, to: &log) {
      let others: ReportText = misfits.count == 1 ? "" : ", and \(misfits.count - 1) more pictures"
      return ("cc_count \(found)\(others)", expected)
    }
  }

  /// Reports pictures that do not fit the container's constant frame rate.
  private func reportUnjudged(to log: inout FindingLog) {
    guard let expected = clock.tripletCount else { return }
    var (misfits, found) = (Tally(), 0)
    for (count, pictures) in unjudged.enumerated() where count != expected && pictures.count > 0 {
      if misfits.add(pictures) { found = count }
    }
    report(misfits, found, expected: "\(expected) at the constant frame rate of the container", to: &log)
  }
}

/// Finds the constant frame rate of captions by the container's times of pictures in a row.
private struct ConstantCaptionRate: Sendable {
  /// Fewer pictures may be of several rates.
  private static let fewest = 9
  /// How far a time may be from a constant rate, in seconds: Matroska and FLV round to milliseconds.
  private static let rounding = 0.001_01

  private var count = 0
  private var first = 0.0
  /// The rates, by `cdp_frame_rate` less 1, that fit all times so far.
  private var fits = [Bool](repeating: true, count: 8)

  /// Takes the time of the next picture in presentation order; nil for a picture without one, which ends the rate.
  mutating func add(_ time: Double?) {
    guard let time else {
      fits = [Bool](repeating: false, count: fits.count)
      return
    }
    if count == 0 { first = time }
    for index in fits.indices where fits[index] {
      let rate = CaptionRate(code: UInt8(truncatingIfNeeded: index) + 1)?.ratio
      let place = rate.map { Double(count) * Double($0.denominator) / Double($0.numerator) } ?? -1
      fits[index] = abs(time - first - place) <= Self.rounding
    }
    count += 1
  }

  /// `cc_count` of its pictures; nil if the rate is variable or unknown.
  var tripletCount: Int? {
    guard count >= Self.fewest else { return nil }
    let counts = fits.indices.compactMap {
      fits[$0] ? CaptionRate(code: UInt8(truncatingIfNeeded: $0) + 1)?.tripletCount : nil
    }
    return counts.allSatisfy { $0 == counts.first } ? counts.first : nil
  }
}

/// Counts the control codes of CTA-608 that are sent twice in a row, as they should be.
private struct DoubledCodes: Sendable {
  private struct Field: Sendable {
    var count = 0
    var doubled = 0
    /// The last pair.
    private var last: UInt16 = 0

    mutating func take(_ pair: UInt16) {
      let isControl = 0x10...0x1F ~= pair >> 8
      if isControl { count += 1 }
      let isRepetition = isControl && pair == last
      if isRepetition { doubled += 1 }
      // A third one is another code.
      last = isRepetition ? 0 : pair
    }
  }

  private var fields = (Field(), Field())

  /// Control codes.
  var count: Int { fields.0.count + fields.1.count }
  /// Those that repeat the pair before.
  var doubled: Int { fields.0.doubled + fields.1.doubled }

  mutating func add(_ triplets: [CaptionTriplet]) {
    for triplet in triplets where triplet.isValid {
      // The eighth bit is for parity.
      let pair = UInt16(triplet.first & 0x7F) << 8 | UInt16(triplet.second & 0x7F)
      switch triplet.kind {
      case .field1: fields.0.take(pair)
      case .field2: fields.1.take(pair)
      case .packetData, .packetStart: break
      }
    }
  }
}
