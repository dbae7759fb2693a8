// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension H264Parse {
  /// Sends caps when what they say has changed. Answers whether there are caps.
  ///
  /// Called before every unit; costs two comparisons when nothing has changed.
  func updateSourceCaps() -> Bool {
    let id =
      unit.coded.slice?.sequenceParameterSetID ?? capsState.sequenceParameterSetID ?? scanner.lastSequenceParameterSetID
    if capsState.isSet, !capsState.isStale, id == capsState.sequenceParameterSetID { return true }
    guard let format, let id, let sps = scanner.parameterSets.sequenceParameterSet(id) else { return capsState.isSet }
    let codecData = format.isLengthPrefixed && alignment == .accessUnit ? makeCodecData(format, first: id) : []
    guard let codecData else { return capsState.isSet }
    capsState.isStale = false
    capsState.sequenceParameterSetID = id
    capsState.isIntraOnly = sps.profile.isIntraOnly
    var caps = makeCaps(sps, format)
    if !codecData.isEmpty, let buffer = Buffer(copying: codecData.span) { caps.set("codec_data", buffer) }
    sendCaps(caps, codecData)
    return capsState.isSet
  }

  private func sendCaps(_ caps: consuming Caps, _ codecData: [UInt8]) {
    if capsState.isSet, let current = sourcePad.currentCaps {
      if current.isStrictlyEqual(to: caps) { return }
      if capsState.hasSentBuffer, !codecData.isEmpty, !capsState.codecData.isEmpty, differOnlyInCodecData(caps, current)
      {
        // New codec_data in mid-stream would have a decoder drained and rebuilt. The parameter sets go in-band.
        capsState.codecData = codecData
        if !unit.coded.contents.contains(.parameterSets) { insertion.isForced = true }
        Self.log(.debug, self, "only codec_data has changed: parameter sets go in-band at the next IDR picture")
        return
      }
    }
    capsState.codecData = codecData
    Self.log(.info, self, "caps \(caps.description)")
    capsState.isSet = sourcePad.setCaps(caps) || sourcePad.currentCaps != nil
  }

  private func differOnlyInCodecData(_ caps: borrowing Caps, _ current: borrowing Caps) -> Bool {
    var left = caps.copy()
    var right = current.copy()
    left.remove("codec_data")
    right.remove("codec_data")
    return left.isStrictlyEqual(to: right)
  }

  /// The avcC record of the parameter sets so far, `nil` when there are not enough.
  private func makeCodecData(_ format: StreamFormat, first id: UInt8) -> [UInt8]? {
    if format == .avc, !scanner.hasParameterSets { return nil }
    do throws(BitstreamError) {
      let size = inputFormat?.isLengthPrefixed == true ? lengthSize : .four
      let record = try H264.DecoderConfigurationRecord(scanner.parameterSets, nalLengthSize: size)
      return try (format == .avc3 ? record.withoutParameterSets : record).bytes()
    } catch {
      Self.log(.warning, self, "cannot make codec_data: \(error)")
      return nil
    }
  }

  /// What the stream says of itself, under what upstream says.
  private func makeCaps(_ sps: H264.SequenceParameterSet, _ format: StreamFormat) -> Caps {
    let upstream = sinkPad.currentCaps ?? Caps(mediaType: "video/x-h264")
    let given = upstream.first
    var caps = upstream.copy()
    caps.remove("codec_data")
    caps.remove("streamheader")
    let crop = sps.cropRectangle
    let width = given.int("width") ?? Int32(clamping: crop.width)
    let height = given.int("height") ?? Int32(clamping: crop.height)
    caps.set("width", .int(width))
    caps.set("height", .int(height))
    var ratio = given.fraction("pixel-aspect-ratio")
    if ratio == nil, let sent = sps.vui?.sampleAspectRatio {
      let value = GStreamer.Fraction(Int32(clamping: sent.numerator), Int32(clamping: sent.denominator))
      caps.set("pixel-aspect-ratio", .fraction(value))
      ratio = value
    }
    setFrameRate(&caps, sps, given: given.fraction("framerate"))
    setSequenceInformation(&caps, given, width: width, height: height, ratio: ratio ?? GStreamer.Fraction(1, 1))
    caps.set("coded-picture-structure", .string(sps.isFrameOnly ? "frame" : "field"))
    caps.set("chroma-format", .string(sps.chromaFormat.name))
    caps.set("bit-depth-luma", .uint(UInt32(sps.lumaBitDepth)))
    caps.set("bit-depth-chroma", .uint(sps.chromaFormat == .monochrome ? 0 : UInt32(sps.chromaBitDepth)))
    if !given.has("colorimetry"), let signal = sps.vui?.videoSignal, let colour = signal.colour,
      let name = colorimetryName(
        isFullRange: signal.isFullRange, primaries: colour.primaries, transfer: colour.transfer, matrix: colour.matrix)
    {
      caps.set("colorimetry", .string(name))
    }
    caps.set("parsed", .boolean(true))
    caps.set("stream-format", .string(format.rawValue))
    caps.set("alignment", .string(alignment.rawValue))
    if let level = sps.level.name { caps.set("level", .string(level)) }
    setProfile(&caps, sps)
    return caps
  }

  private func setFrameRate(
    _ caps: inout Caps, _ sps: H264.SequenceParameterSet, given: GStreamer.Fraction?
  ) {
    capsState.ignoresVUITiming = false
    var rate = sps.frameRate.map { GStreamer.Fraction(Int32(clamping: $0.numerator), Int32(clamping: $0.denominator)) }
    if let found = rate, exceedsLevel(found, sps) {
      Self.log(.warning, self, "ignored a frame rate of \(found.numerator)/\(found.denominator): beyond the level")
      capsState.ignoresVUITiming = true
      rate = nil
    }
    let wanted = settings.snapshot.frameRate
    if rate == nil, wanted.numerator > 0 { rate = wanted }
    if let given { rate = given.numerator > 0 ? given : nil }
    let value = given ?? rate ?? GStreamer.Fraction(0, 1)
    caps.set("framerate", .fraction(value))
    capsState.frameRate = rate
    let timing = sps.vui?.timing
    capsState.vuiTiming = timing.flatMap { $0.timeScale > 0 && $0.unitsInTick > 0 ? $0 : nil }
    updateLatency()
  }

  /// What SEI messages say of the whole video, where upstream says nothing.
  private func setSequenceInformation(
    _ caps: inout Caps, _ given: StructureView, width: Int32, height: Int32, ratio: GStreamer.Fraction
  ) {
    if !given.has("mastering-display-info"), let text = sequenceInformation.masteringDisplayText {
      caps.set("mastering-display-info", .string(text))
    }
    if !given.has("content-light-level"), let text = sequenceInformation.contentLightText {
      caps.set("content-light-level", .string(text))
    }
    let mode = sequenceInformation.multiviewMode
    guard !given.has("multiview-mode"), let name = mode.name else { return }
    var flags = sequenceInformation.multiviewFlags
    if mode.isLikelyHalfAspect(
      width: UInt32(clamping: width), height: UInt32(clamping: height), pixelAspectRatio: ratio)
    {
      flags.insert(.halfAspect)
    }
    caps.set("multiview-mode", .string(name))
    caps.set("multiview-flags", flags)
  }

  /// Whether a frame rate is more than twice what the level allows for the picture size (A.3.4).
  private func exceedsLevel(_ rate: GStreamer.Fraction, _ sps: H264.SequenceParameterSet) -> Bool {
    let pictureSize = max(1, sps.widthInMacroblocks * sps.heightInMacroblocks)
    let limit = 2 * Double(sps.level.maximumMacroblocksPerSecond) / Double(pictureSize)
    return Double(rate.numerator) / Double(max(rate.denominator, 1)) > limit
  }

  /// An access unit ends where the next one begins, unless the input is cut there already.
  private func updateLatency() {
    guard let rate = capsState.frameRate else { return }
    let sees = inputAlignment == .accessUnit || inputAlignment == .nalUnit && alignment == .nalUnit
    let latency: ClockTime =
      sees ? .zero : .seconds(1, times: UInt32(max(rate.denominator, 0)), over: UInt32(max(rate.numerator, 1)))
    setLatency(minimum: latency, maximum: latency)
  }

  /// The profile, or one that the stream conforms to as well when downstream takes only that.
  private func setProfile(_ caps: inout Caps, _ sps: H264.SequenceParameterSet) {
    if let profile = sps.profile.name { caps.set("profile", .string(profile)) }
    if let current = sourcePad.currentCaps, caps.canIntersect(current) { return }
    guard let peer = sourcePad.peerCaps(), !caps.canIntersect(peer) else { return }
    let views = scanner.parameterSets.subsetSequenceParameterSet(sps.id)?.viewIDs.count
    let compatible = sps.profile.compatibleProfiles(viewCount: views)
    for name in compatible {
      caps.set("profile", .string(name))
      if caps.canIntersect(peer) { return }
    }
    if let profile = sps.profile.name { caps.set("profile", .string(profile)) }
  }
}
