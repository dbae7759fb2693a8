// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Stage: the source caps, and when they change.
struct SourceCaps<Codec: ParserCodec>: Sendable {
  /// Caps were sent.
  private(set) var isSet = false
  /// Frame rate and reordering, for other stages.
  private(set) var timing = StreamTiming()
  /// A buffer was output under these caps.
  private var hasSentBuffer = false
  /// The configuration record that belongs to them.
  private var codecData: [UInt8] = []
  private var isStale = true
  private var sequenceParameterSetID: SequenceParameterSetID?
  private var parameterSetChanges: UInt64 = 0

  /// The SPS that they describe.
  var describedID: SequenceParameterSetID? { sequenceParameterSetID }

  /// The first buffer under these caps is yet to be output.
  var awaitsFirstBuffer: Bool { !hasSentBuffer }

  // MARK: Going stale

  /// Upstream's caps have changed: the sent caps are kept, to be compared with new caps.
  mutating func restart(parameterSetChanges: UInt64) {
    let before = self
    self = SourceCaps<Codec>()
    (isSet, hasSentBuffer, codecData) = (before.isSet, before.hasSentBuffer, before.codecData)
    self.parameterSetChanges = parameterSetChanges
  }

  /// Something that they are made from has changed.
  mutating func invalidate() { isStale = true }

  mutating func follow(parameterSetChanges: UInt64) {
    guard self.parameterSetChanges != parameterSetChanges else { return }
    self.parameterSetChanges = parameterSetChanges
    isStale = true
  }

  /// Whether they describe pictures of this SPS.
  func describe(_ id: SequenceParameterSetID?) -> Bool { isSet && !isStale && id == sequenceParameterSetID }

  // MARK: Making them

  /// Caps made from the stream and upstream's caps; nil when there is no SPS yet, or not enough for a configuration
  /// record.
  ///
  /// - Parameter describedSEI: the SEI of upstream's `codec_data`.
  mutating func propose(
    _ id: SequenceParameterSetID?, of scanner: borrowing Codec.Scanner, as packaging: OutputPackaging<Codec>,
    input: ParserInputFormat<Codec>, sequence: SequenceSEI, describedSEI: [[UInt8]], upstream: borrowing Caps,
    settings: ParserSettings, _ log: ElementLog
  ) -> CapsProposal? {
    guard let id else { return nil }
    let description: FormatDescription
    let record: [UInt8]
    let followsDecodingOrder: Bool
    do throws(BitstreamError) {
      guard let sps = scanner.parameterSets.sequenceParameterSet(id) else { return nil }
      followsDecodingOrder = sps.followsDecodingOrder
      let lengthSize = packaging.format.isLengthPrefixed ? (input.isLengthPrefixed ? input.lengthSize : .four) : nil
      description = try Codec.formatDescription(
        scanner.parameterSets, sequenceParameterSetID: id, nalLengthSize: lengthSize)
      if packaging.format == .outOfBand, packaging.alignment == .accessUnit, !scanner.hasParameterSets { return nil }
      record = try Self.codecData(scanner.parameterSets, describedSEI, lengthSize, as: packaging)
    } catch {
      log(.warning, "cannot make codec_data: \(error)")
      return nil
    }
    isStale = false
    sequenceParameterSetID = id
    timing.reorderDepth = followsDecodingOrder ? 0 : description.maximumReorderFrames
    timing.tick = description.tick
    timing.isTickBeyondLevel = description.isFrameRateBeyondLevel
    timing.isIntraOnly = description.isIntraOnly
    timing.signalsReordering = description.sentReorderFrames ?? 0 > 0
    var caps = makeCaps(description, packaging, sequence: sequence, upstream: upstream, settings: settings, log)
    if !record.isEmpty, let buffer = Buffer(copying: record.span) { caps.set("codec_data", buffer) }
    // The end of an access unit is found with the next one, unless buffers end there.
    let seesEnd =
      input.alignment == .accessUnit || input.alignment == .nalUnit && packaging.alignment == .nalUnit
    let latency = timing.frameRate.map { rate in
      seesEnd
        ? ClockTime.zero : .seconds(1, times: UInt32(max(rate.denominator, 0)), over: UInt32(max(rate.numerator, 1)))
    }
    // The base class keeps the latency of the stream before, even in another run: always set.
    return CapsProposal(
      caps: caps, codecData: record, compatibleProfiles: description.compatibleProfileNames, latency: latency ?? .zero)
  }

  /// A record of all parameter sets, whichever is active: it does not change with that. It keeps the SEI of upstream's.
  private static func codecData(
    _ parameterSets: borrowing Codec.ParameterSets, _ sei: [[UInt8]], _ lengthSize: NALLengthSize?,
    as packaging: OutputPackaging<Codec>
  ) throws(BitstreamError) -> [UInt8] {
    guard let lengthSize, packaging.alignment == .accessUnit else { return [] }
    let all = try Codec.ConfigurationRecord(parameterSets, nalLengthSize: lengthSize)
    let record = packaging.format == .inBand ? all.withoutParameterSets : all
    do { return try Codec.record(record, with: sei).bytes() } catch { return try record.bytes() }
  }

  private mutating func makeCaps(
    _ description: FormatDescription, _ packaging: OutputPackaging<Codec>, sequence: SequenceSEI,
    upstream: borrowing Caps,
    settings: ParserSettings, _ log: ElementLog
  ) -> Caps {
    let given = upstream.first
    var caps = upstream.copy()
    caps.remove("codec_data")
    caps.remove("streamheader")
    // Containers may be wrong about the size.
    let width = Int32(clamping: description.cropRectangle.width)
    let height = Int32(clamping: description.frameSize.height)
    caps.set("width", .int(width))
    caps.set("height", .int(height))
    var ratio = given.fraction("pixel-aspect-ratio")
    if ratio == nil, let sent = description.pixelAspectRatioOfCaps {
      caps.set("pixel-aspect-ratio", .fraction(sent))
      ratio = sent
    }
    setFrameRate(&caps, description, given: given.fraction("framerate"), wanted: settings.frameRate, log)
    Self.set(sequence, in: &caps, given, width: width, height: height, ratio: ratio ?? Fraction(1, 1))
    description.setCodingFields(of: &caps)
    let preferred = sequence.alternativeTransfer.value?.preferredTransfer
    if !given.has("colorimetry"), let colorimetry = description.colorimetry(preferringTransfer: preferred) {
      caps.set("colorimetry", .string(colorimetry))
    }
    caps.set("parsed", .boolean(true))
    packaging.setFields(of: &caps)
    return caps
  }

  private mutating func setFrameRate(
    _ caps: inout Caps, _ description: FormatDescription, given: Fraction?, wanted: Fraction,
    _ log: ElementLog
  ) {
    var rate = description.frameRateOfCaps
    if rate == nil, let ignored = description.frameRate {
      log(.warning, "ignored a frame rate of \(ignored): beyond the level")
    }
    if rate == nil, wanted.numerator > 0 { rate = wanted }
    // Upstream's 0/1 stands for a variable rate, or for an unknown rate.
    let isGiven = given?.numerator ?? 0 > 0
    if isGiven { rate = given }
    if !isGiven, let rate { caps.set("framerate", .fraction(rate)) }
    timing.frameRate = rate
    timing.pictureRate = rate.flatMap { Ratio(UInt32(clamping: $0.numerator), UInt32(clamping: $0.denominator)) }
  }

  /// Fields from SEI messages, if upstream's caps have none.
  private static func set(
    _ sequence: SequenceSEI, in caps: inout Caps, _ given: StructureView, width: Int32, height: Int32,
    ratio: Fraction
  ) {
    if !given.has("mastering-display-info"), let text = sequence.masteringDisplay.value?.capsText {
      caps.set("mastering-display-info", .string(text))
    }
    if !given.has("content-light-level"), let text = sequence.contentLight.value?.capsText {
      caps.set("content-light-level", .string(text))
    }
    if !given.has("hdr-format"), let format = highDynamicRange(of: sequence, caps.first) {
      caps.set("hdr-format", .string(format))
    }
    let mode = sequence.multiviewMode
    guard !given.has("multiview-mode"), let name = mode.name else { return }
    var flags = sequence.multiviewFlags
    if mode.isLikelyHalfAspect(
      width: UInt32(clamping: width), height: UInt32(clamping: height), pixelAspectRatio: ratio)
    {
      flags.insert(.halfAspect)
    }
    caps.set("multiview-mode", .string(name))
    caps.set("multiview-flags", flags)
  }

  /// The caps field `hdr-format`; nil if neither HDR10+ metadata comes nor both messages of HDR10.
  private static func highDynamicRange(of sequence: SequenceSEI, _ caps: StructureView) -> String? {
    if sequence.dynamicMetadata.value == true { return "hdr10+" }
    return caps.has("mastering-display-info") && caps.has("content-light-level") ? "hdr10" : nil
  }

  // MARK: Sending them

  /// Compares proposed caps with those that were sent last.
  mutating func judge(_ caps: borrowing Caps, codecData: [UInt8], current: borrowing Caps?) -> CapsChange {
    switch current {
    case .some(let current) where isSet:
      if current.isStrictlyEqual(to: caps) { return .none }
      if hasSentBuffer, !codecData.isEmpty, !self.codecData.isEmpty, Self.differOnlyInCodecData(caps, current) {
        self.codecData = codecData
        return .inBand
      }
    default: break
    }
    self.codecData = codecData
    return .caps
  }

  private static func differOnlyInCodecData(_ caps: borrowing Caps, _ current: borrowing Caps) -> Bool {
    var left = caps.copy()
    var right = current.copy()
    left.remove("codec_data")
    right.remove("codec_data")
    return left.isStrictlyEqual(to: right)
  }

  /// Caps were sent, or could not be.
  mutating func sent(_ isSet: Bool) { self.isSet = isSet }

  /// A buffer is sent.
  mutating func noticeBuffer() { hasSentBuffer = true }
}

/// Caps to send, as far as they can be made without a query to downstream.
struct CapsProposal: ~Copyable {
  var caps: Caps
  /// The configuration record in them; empty when they have none.
  let codecData: [UInt8]
  /// Other profiles that the stream conforms to, for a downstream that refuses its own.
  let compatibleProfiles: [String]
  /// Latency of the parser: a frame, or zero if no frame rate gives its duration.
  let latency: ClockTime
}

/// The change that proposed caps bring.
enum CapsChange {
  /// They are those that were sent before.
  case none
  /// Only `codec_data` has changed: in mid-stream new caps would make a decoder drain and restart, so the parameter
  /// sets go in-band.
  case inBand
  /// They are sent.
  case caps
}
