// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension H264Parse {
  /// Reads the SEI NAL units of the unit in hand: now that it is complete, as the parameter sets that they need may
  /// stand behind them.
  func readInformation(_ bytes: Span<UInt8>) {
    let beginsSequence = unit.coded.contents.contains(.idr) && unit.coded.contents.contains(.pictureStart)
    guard beginsSequence || !unit.coded.seiNALUnits.isEmpty else { return }
    let before = sequenceInformation
    for nalUnit in unit.coded.seiNALUnits {
      let range = nalUnit.range
      var messages = SEIMessages(bytes.extracting(range))
      do throws(BitstreamError) {
        while let message = try messages.next() { try take(message, in: range) }
      } catch {
        statistics.informationErrors += 1
        Self.log(.debug, self, "SEI: \(error)")
      }
    }
    if beginsSequence {
      sequenceInformation.masteringDisplay.pass()
      sequenceInformation.contentLight.pass()
    }
    if sequenceInformation != before { capsState.isStale = true }
    scanner.accessUnitContents.formUnion(unit.coded.contents)
  }

  private func take(_ message: borrowing SEIMessages.Message, in range: Range<Int>) throws(BitstreamError) {
    switch message.type {
    case .recoveryPoint:
      _ = try H264.RecoveryPoint(message)
      unit.coded.contents.insert(.recoveryPoint)
    case .bufferingPeriod: unit.information.hasBufferingPeriod = true
    case .pictureTiming:
      guard let sps = activeSequenceParameterSet else { return }
      unit.information.pictureTiming = try H264.PictureTiming(message, sps: sps)
      unit.information.pictureTimingRange = range
    case .userDataRegistered: take(try RegisteredUserData(message))
    case .userDataUnregistered:
      let data = try UnregisteredUserData(message)
      if unit.information.userData.count < UnitInformation.limit { unit.information.userData.append(data) }
    case .masteringDisplayColourVolume:
      sequenceInformation.masteringDisplay.set(try MasteringDisplayColourVolume(message))
    case .contentLightLevel: sequenceInformation.contentLight.set(try ContentLightLevel(message))
    case .framePackingArrangement: sequenceInformation.take(try FramePackingArrangement(message))
    case .stereoVideoInformation: take(try StereoVideoInformation(message))
    default: break
    }
  }

  private func take(_ stereo: StereoVideoInformation) {
    sequenceInformation.multiviewFlags = []
    switch stereo.arrangement {
    case .fields(let isTopLeft):
      sequenceInformation.multiviewMode = .rowInterleaved
      if !isTopLeft { sequenceInformation.multiviewFlags = .rightViewFirst }
    case .frames(let isLeft, let nextIsSecondView):
      sequenceInformation.multiviewMode = .frameByFrame
      // Which view comes first is said with the first one, and lasts for the second.
      if nextIsSecondView { unit.information.isFirstView = true }
      if nextIsSecondView ? !isLeft : isLeft { sequenceInformation.multiviewFlags = .rightViewFirst }
    }
  }

  private func take(_ data: RegisteredUserData) {
    switch data.content() {
    case .closedCaptions(let bytes): takeCaptions(.cea708Raw, bytes)
    case .captionPacket(let bytes): takeCaptions(.cea708Packet, bytes)
    case .barData(let bars): unit.information.bars = bars
    case .activeFormat(let code):
      // The other codes are reserved: nobody could tell what they ask for.
      if let code, [1, 5, 6, 7, 12].contains(code) { return }
      unit.information.activeFormat = code
    case nil: break
    }
  }

  private func takeCaptions(_ format: Buffer.CaptionFormat, _ bytes: [UInt8]) {
    guard unit.information.captions.count < UnitInformation.limit else { return }
    unit.information.captions.append(UnitInformation.Captions(format: format, bytes: bytes))
  }

  /// The SPS of the picture in hand, or before there is one, of the picture to come.
  var activeSequenceParameterSet: H264.SequenceParameterSet? {
    (unit.coded.slice?.sequenceParameterSetID ?? capsState.sequenceParameterSetID ?? scanner.lastSequenceParameterSetID)
      .flatMap { scanner.parameterSets.sequenceParameterSet($0) }
  }

  // MARK: On the way out

  /// Puts what SEI messages said onto the outgoing buffer, except for what a parser upstream has put there already.
  func attachInformation(_ buffer: inout Buffer) {
    guard !outgoing.coded.seiNALUnits.isEmpty else { return }
    let information = outgoing.information
    let isSecondField = information.pictureTiming?.structure == .bottomField
    if !information.captions.isEmpty, !buffer.hasCaptions {
      for captions in information.captions { buffer.addCaptions(captions.bytes.span, format: captions.format) }
    }
    if !information.userData.isEmpty, !buffer.hasUserData {
      for data in information.userData { buffer.addUserData(identifier: data.uuid.span, data.data.span) }
    }
    if let code = information.activeFormat, !buffer.hasActiveFormat {
      buffer.addActiveFormat(code, isSecondField: isSecondField)
    }
    if let bars = information.bars, !buffer.hasBars { attach(bars, to: &buffer, isSecondField: isSecondField) }
    if !buffer.hasTimeCode { attachTimeCodes(information, to: &buffer) }
  }

  private func attach(_ bars: RegisteredUserData.BarData, to buffer: inout Buffer, isSecondField: Bool) {
    if bars.topEnd != nil || bars.bottomStart != nil {
      buffer.addBars(
        isLetterbox: true, first: UInt32(bars.topEnd ?? 0), second: UInt32(bars.bottomStart ?? 0),
        isSecondField: isSecondField)
    }
    if bars.leftEnd != nil || bars.rightStart != nil {
      buffer.addBars(
        isLetterbox: false, first: UInt32(bars.leftEnd ?? 0), second: UInt32(bars.rightStart ?? 0),
        isSecondField: isSecondField)
    }
  }

  private func attachTimeCodes(_ information: UnitInformation, to buffer: inout Buffer) {
    guard let timing = information.pictureTiming, !timing.clockTimestamps.isEmpty, let rate = capsState.frameRate,
      let ticks = capsState.vuiTiming
    else { return }
    for (index, timestamp) in timing.clockTimestamps.enumerated() {
      guard let timestamp else { continue }
      // n_frames counts ticks, or pairs of them (equation D-1): in frames of the caps' rate.
      let numerator =
        UInt64(rate.numerator) * UInt64(ticks.unitsInTick) * (timestamp.isFieldBased ? 2 : 1)
      let denominator = UInt64(rate.denominator) * UInt64(ticks.timeScale)
      let (product, overflow) = UInt64(timestamp.frames).multipliedReportingOverflow(by: numerator)
      guard !overflow, denominator > 0 else { continue }
      buffer.addTimeCode(
        Buffer.TimeCode(
          hours: UInt32(timestamp.hours ?? 0), minutes: UInt32(timestamp.minutes ?? 0),
          seconds: UInt32(timestamp.seconds ?? 0), frames: UInt32(clamping: product / denominator), frameRate: rate,
          dropsFrames: dropsFrames(timestamp, rate), isInterlaced: timestamp.scanType == 1,
          fieldCount: fieldCount(timing.structure, index)))
    }
  }

  /// Table D-3: type 4 leaves out frames 0 and 1 of most minutes, type 6 an unspecified number.
  private func dropsFrames(_ timestamp: H264.PictureTiming.ClockTimestamp, _ rate: GStreamer.Fraction) -> Bool {
    timestamp.countingType == 4
      || timestamp.countingType == 6 && rate.denominator == 1001 && [30000, 60000, 120_000].contains(rate.numerator)
  }

  /// The field that a clock timestamp is for (table D-1).
  private func fieldCount(_ structure: H264.PictureTiming.Structure?, _ index: Int) -> UInt32 {
    switch structure {
    case .topField: 1
    case .bottomField: 2
    case .topBottom, .topBottomTop: index % 2 == 0 ? 1 : 2
    case .bottomTop, .bottomTopBottom: index % 2 == 0 ? 2 : 1
    case .frame, .frameDoubling, .frameTripling, nil: 0
    }
  }

  /// Which field comes first and whether it is shown twice.
  ///
  /// ONEFIELD is not among the flags, although a field may be alone in its access unit: to decoders it means fields as
  /// pictures of their own (interlace-mode=alternate), and they would put out halves.
  func insertInterlaceFlags(_ flags: inout Buffer.Flags) {
    switch unit.information.pictureTiming?.structure {
    case .topField, .topBottom: flags.formUnion([.interlaced, .topFieldFirst])
    case .bottomField, .bottomTop: flags.insert(.interlaced)
    case .topBottomTop: flags.formUnion([.interlaced, .topFieldFirst, .repeatFirstField])
    case .bottomTopBottom: flags.formUnion([.interlaced, .repeatFirstField])
    case .frame, .frameDoubling, .frameTripling: break
    case nil:
      guard let slice = unit.coded.slice, slice.isField else { break }
      flags.insert(.interlaced)
      if !slice.isBottomField { flags.insert(.topFieldFirst) }
    }
  }
}
