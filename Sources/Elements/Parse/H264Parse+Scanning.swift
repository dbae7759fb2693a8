// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension H264Parse {
  /// The largest access unit: more is taken for an error rather than kept in memory. The largest pictures of the
  /// highest level (6.2: 8192 × 4320) have 53 million samples before compression. When the element pulls, that much is
  /// held at most; when it is pushed to, the base class holds it a second time, in one piece.
  static let maximumUnitSize = 64 << 20

  /// Looks for a unit at the start of the data.
  func scan(_ frame: borrowing BaseParseFrame) throws(FlowError) -> ParseStep {
    let input = frame.withBuffer { (flags: $0.flags, pts: $0.pts, dts: $0.dts) }
    if input.flags.contains(.discontinuity) { isDiscontinuous = true }
    followInput(frame)
    if format == nil {
      negotiate(input: .byteStream, alignment: nil)
    } else if frame.isNew, heldUnitSize == nil, scanner.isBetweenAccessUnits, sourcePad.needsReconfigure {
      negotiateAnew()
    }
    if scanner.isBetweenAccessUnits {
      scanner.listsNALUnits = splitsAccessUnits
      scanner.cutsNALUnits = alignment == .nalUnit && !scanner.listsNALUnits
      scanner.sliceDepth = makesTimestamps ? .referenceMarking : .pictureIdentity
    }
    noticeUpstreamTimes(pts: input.pts, dts: input.dts)
    var finding: H264.AccessUnitScanner.Finding
    let available: Int
    do {
      let map = try frame.map()
      let bytes = map.bytes
      available = bytes.count
      finding = find(bytes, isMarked: input.flags.contains(.marker))
      if case .accessUnit(let size) = finding {
        let isReady = prepareTimestamps(bytes, unitSize: size)
        heldUnitSize = isReady ? nil : size
        if !isReady { finding = .needsMoreData }
      }
    }
    pass(finding)
    let step: ParseStep
    switch finding {
    case .accessUnit(let size): step = try finishUnit(size, frame)
    case .unusable(let size):
      frame.markAsDropped()
      step = .frame(size: size)
    case .garbage(let count): step = .skip(count)
    case .needsMoreData:
      guard available <= Self.maximumUnitSize else { throw tooLarge(available) }
      askForMore(available)
      step = .needsMoreData
    }
    consume(step.size, of: frame)
    if isDraining, sinkPad.isPulling, finding.size == available { reportMissingPicturesAtTheEnd(finding) }
    return step
  }

  /// Whether access units are cut and taken apart on the way out, where NAL units are wanted: that costs half of
  /// handing each to the base class, but a NAL unit waits for those behind it. So only where they are there
  /// already, and where they go out as they came.
  private var splitsAccessUnits: Bool {
    alignment == .nalUnit && format == .byteStream && inputFormat == .byteStream
      && (sinkPad.isPulling || inputAlignment == .accessUnit) && segment.rate > 0 && !discardsBidirectional
      && !settings.snapshot.updatesTimeCode
  }

  /// Counts what is of no use.
  func pass(_ finding: H264.AccessUnitScanner.Finding) {
    switch finding {
    case .unusable(let size):
      statistics.bytesSkipped += UInt64(size)
      isDiscontinuous = true
    case .garbage(let count): statistics.bytesSkipped += UInt64(count)
    case .accessUnit, .needsMoreData: break
    }
  }

  /// Finds the next unit, unless one is held, and reads what its SEI messages say.
  func find(_ bytes: Span<UInt8>, isMarked: Bool) -> H264.AccessUnitScanner.Finding {
    if let heldUnitSize { return .accessUnit(heldUnitSize) }
    let finding = scanner.next(in: bytes, isMarked: isMarked, isDraining: isDraining)
    report(scanner.takeNotices())
    guard case .accessUnit(let size) = finding else { return finding }
    scanner.takeAccessUnit(&unit.coded)
    unit.information = UnitInformation()
    unit.isOrderKnown = false
    if Self.log.isEnabled(.log) { logUnit(bytes.extracting(first: size)) }
    readInformation(bytes)
    return finding
  }

  /// Notices when the data does not follow on what came before.
  private func followInput(_ frame: borrowing BaseParseFrame) {
    // In push mode seeks come with events, and offsets may be missing. Whether the base class calls the frame new says
    // nothing: after a seek back to where it was, it does not.
    guard sinkPad.isPulling, let expectedOffset, frame.offset != expectedOffset else { return }
    resetScan()
    timestamps.awaitsPosition = frame.offset != 0
  }

  private func consume(_ count: Int, of frame: borrowing BaseParseFrame) {
    guard count > 0 else { return }
    bytesSeen += UInt64(count)
    expectedOffset = frame.offset == .max ? nil : frame.offset &+ UInt64(count)
  }

  private func tooLarge(_ size: Int) -> FlowError {
    post(
      ElementError(
        .stream(.format), "This does not look like H.264: an access unit does not end.",
        debug: "found \(size) bytes without the end of an access unit, expected at most \(Self.maximumUnitSize)"))
    return .error
  }

  /// Tells of what the scanner met, and has caps looked at anew when parameter sets are not what they were.
  func report(_ notices: [H264.AccessUnitScanner.Notice]) {
    for notice in notices {
      switch notice {
      case .parameterSet(let type, let byteCount, let change):
        Self.log(.info, self, "\(change) \(type.name), \(byteCount) bytes")
      case .unreadableParameterSet(let type, let byteCount, let error):
        Self.log(.warning, self, "cannot read \(type.name) of \(byteCount) bytes: \(error)")
      case .foreignType(let type):
        Self.log(
          .warning, self, "left out a NAL unit of type \(type.rawValue) (\(type.name)): only RTP packets have them")
      case .badLength(let error, let goodBytes, let byteCount):
        Self.log(
          .warning, self,
          "bad NAL unit length: found \(error), expected at most \(byteCount) bytes; \(goodBytes) bytes are good")
        // A stream that begins with damage may have lost its parameter sets.
        if !capsState.hasSentBuffer { insertion.isForced = true }
      case .lateParameterSets:
        Self.log(.info, self, "the parameter sets of the first picture come behind it")
        insertion.isForced = true
      case .startCodes:
        postWarning(
          ElementError(
            .stream(.format), "The stream was muxed wrongly; it is being repaired.",
            debug: "found start codes inside length-prefixed NAL units, expected one NAL unit behind each length"))
      }
    }
    if capsState.parameterSetChanges != scanner.parameterSetChanges {
      capsState.parameterSetChanges = scanner.parameterSetChanges
      capsState.isStale = true
    }
  }
}
