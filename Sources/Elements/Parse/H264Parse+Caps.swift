// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension H264Parse {
  // MARK: Input

  /// Autopluggers put every parser they know behind one another. Behind another one there, this one only costs time:
  /// it refuses, and they go on to the decoders.
  func isSuperfluous(for caps: borrowing Caps) -> Bool {
    guard caps.first.boolean("parsed") == true, let bin = parentClassification else { return false }
    let words = bin.split(separator: "/")
    return words.contains("Bin") && (words.contains("Decoder") || words.contains("Parser"))
  }

  /// Takes what upstream says of the stream. Answers whether it can be handled.
  func acceptSinkCaps(_ caps: borrowing Caps) -> Bool {
    if let old = sinkPad.currentCaps, !old.isEqual(to: caps) {
      let sent = capsState
      resetFormats()
      // What went out does not change with what comes in: new caps are compared with it.
      (capsState.isSet, capsState.hasSentBuffer, capsState.codecData) = (sent.isSet, sent.hasSentBuffer, sent.codecData)
    }
    insertion.isForced = false
    do throws(CapsProblem) {
      try takeSinkCaps(caps)
      return true
    } catch {
      Self.log(.warning, self, "refused caps: \(error.rawValue); found \(caps.description)")
      return false
    }
  }

  /// Why caps are refused.
  private enum CapsProblem: String, Error {
    case missingCodecData = "avc and avc3 need codec_data"
    case unreadableCodecData = "codec_data is no avcC record"
    case wrongAlignment = "avc and avc3 need alignment=au"
    case unexpectedCodecData = "byte-stream has its parameter sets in the stream, not in codec_data"
  }

  private func takeSinkCaps(_ caps: borrowing Caps) throws(CapsProblem) {
    let fields = caps.first
    let codecData = fields.buffer("codec_data")
    let hasCodecData = fields.has("codec_data")
    let input =
      fields.string("stream-format").flatMap(StreamFormat.init) ?? (hasCodecData ? .avc : .byteStream)
    var inputAlignment = fields.string("alignment").flatMap(StreamAlignment.init)
    if input.isLengthPrefixed {
      guard inputAlignment != .nalUnit else { throw .wrongAlignment }
      guard let codecData else { throw hasCodecData ? .unreadableCodecData : .missingCodecData }
      inputAlignment = .accessUnit
      try takeCodecData(codecData)
    } else if hasCodecData {
      throw .unexpectedCodecData
    }
    inputFormat = input
    self.inputAlignment = inputAlignment
    capsState.isStale = true
    negotiate(input: input, alignment: inputAlignment)
    // A packet is whole however short it is; left in the base class, it would stand in front of the next.
    setMinimumFrameSize(input.isLengthPrefixed ? 1 : H264.AccessUnitScanner.minimumInput)
    // What was in codec_data goes in-band where there is none, or where NAL units go out one by one. Otherwise packets
    // stay as they are: parameter sets in-band are not legal in every file of avc.
    if input.isLengthPrefixed, format != input || alignment != .accessUnit { insertion.isForced = true }
  }

  private func takeCodecData(_ buffer: borrowing Buffer) throws(CapsProblem) {
    do {
      let map = try buffer.map()
      let record = try H264.DecoderConfigurationRecord(map.bytes)
      lengthSize = record.nalLengthSize
      for nalUnit in record.sequenceParameterSets { scanner.store(nalUnit.span) }
      for nalUnit in record.high?.sequenceParameterSetExtensions ?? [] { scanner.store(nalUnit.span) }
      for nalUnit in record.pictureParameterSets { scanner.store(nalUnit.span) }
      report(scanner.takeNotices())
    } catch {
      Self.log(.warning, self, "codec_data: \(error)")
      throw .unreadableCodecData
    }
  }

  /// What upstream may send so that downstream gets what it takes.
  func acceptableSinkCaps(filter: borrowing Caps?) -> Caps {
    let template = sinkPad.templateCaps
    // Downstream's wishes, without the fields that are converted here.
    let wishes: Caps
    switch filter {
    case .some(let filter):
      var question = Self.withoutConvertedFields(filter, packagingIncluded: true)
      // Downstream need not list the profile itself.
      question.remove("profile")
      let asked = Optional(question)
      wishes = Self.relaxed(sourcePad.peerCaps(filter: asked) ?? sourcePad.templateCaps)
    case .none: wishes = Self.relaxed(sourcePad.peerCaps() ?? sourcePad.templateCaps)
    }
    var result = Self.withoutConvertedFields(wishes, packagingIncluded: true).intersection(template)
    switch filter {
    case .some(let filter): result = result.intersection(filter)
    case .none: break
    }
    // What downstream takes as it is goes first: it needs no conversion.
    let unconverted = Self.withoutConvertedFields(wishes, packagingIncluded: false).intersection(result)
    guard !unconverted.isEmpty else { return result }
    var ordered = unconverted.share()
    ordered.merge(result)
    return ordered
  }

  private static func withoutConvertedFields(_ caps: borrowing Caps, packagingIncluded: Bool) -> Caps {
    var copy = caps.copy()
    if packagingIncluded {
      copy.remove("alignment")
      copy.remove("stream-format")
    }
    copy.remove("parsed")
    return copy
  }

  /// Adds to the profiles that downstream lists those whose streams conform to a listed one as well.
  private static func relaxed(_ caps: consuming Caps) -> Caps {
    guard !caps.isAny else { return caps }
    var result = Caps.empty()
    for index in 0..<caps.count {
      guard var structure = caps.structure(at: index) else { continue }
      let listed = structure.first.strings("profile")
      if !listed.isEmpty {
        let more = conformingProfiles.filter { profile in
          guard let name = profile.name, !listed.contains(name) else { return false }
          return profile.compatibleProfiles.contains { listed.contains($0) }
        }
        structure.set("profile", .strings(listed + more.compactMap(\.name)))
      }
      result.append(structure)
    }
    return result
  }

  /// A stream of each profile, for the others that it conforms to. Plain "baseline" and "extended" conform to others
  /// only by flags that caps do not tell.
  private static let conformingProfiles: [H264.Profile] = [
    H264.Profile(idc: 66, constraintFlags: 0x40), H264.Profile(idc: 77, constraintFlags: 0),
    H264.Profile(idc: 100, constraintFlags: 0), H264.Profile(idc: 100, constraintFlags: 0x08),
    H264.Profile(idc: 100, constraintFlags: 0x0C), H264.Profile(idc: 110, constraintFlags: 0),
    H264.Profile(idc: 110, constraintFlags: 0x10), H264.Profile(idc: 122, constraintFlags: 0),
    H264.Profile(idc: 122, constraintFlags: 0x10), H264.Profile(idc: 244, constraintFlags: 0x10),
  ]

  // MARK: What to send

  /// Decides on format and alignment of the output from what comes in and what downstream allows.
  ///
  /// - Parameter inputAlignment: `nil` when the input is not aligned to anything.
  func negotiate(input: StreamFormat, alignment inputAlignment: StreamAlignment?) {
    inputFormat = input
    // Not the pad's allowed caps: once caps are set, the base class says that they are all there is.
    let template = Optional(sourcePad.templateCaps)
    let allowed = sourcePad.peerCaps(filter: template)
    let wanted: (format: StreamFormat, alignment: StreamAlignment)
    if let allowed, !allowed.isEmpty {
      let wish = allowed.copy().truncated()
      // What needs the least work goes first.
      let alignments = [inputAlignment ?? .accessUnit, .accessUnit, .nalUnit]
      if let kept = alignments.first(where: { wish.canIntersect(Self.packagingCaps(input, $0)) }) {
        wanted = (input, kept)
      } else {
        let fixed = wish.fixated()
        wanted = (
          fixed.first.string("stream-format").flatMap(StreamFormat.init) ?? input,
          fixed.first.string("alignment").flatMap(StreamAlignment.init) ?? .accessUnit
        )
      }
    } else {
      wanted = (input, inputAlignment ?? .accessUnit)
    }
    if wanted != (format ?? wanted.format, alignment) { capsState.isStale = true }
    (format, alignment) = wanted
    configureScanner()
    Self.log(
      .debug, self,
      "\(input.rawValue)/\(inputAlignment?.rawValue ?? "unaligned") in, \(wanted.format.rawValue)/\(alignment.rawValue) out"
    )
  }

  private func configureScanner() {
    scanner.packaging = inputFormat?.isLengthPrefixed == true ? .lengthPrefixed(lengthSize) : .annexB
    switch inputAlignment {
    case .accessUnit: scanner.inputAlignment = .accessUnit
    case .nalUnit: scanner.inputAlignment = .nalUnits
    case nil: scanner.inputAlignment = .none
    }
    // In-band sets go out as they are; only codec_data must be made of some that can be read.
    scanner.sparesUnreadablePictureParameterSets = format != .avc
  }

  /// Downstream wants to be asked again.
  func negotiateAnew() {
    guard sourcePad.checkReconfigure(), let inputFormat else { return }
    let before = format
    negotiate(input: inputFormat, alignment: inputAlignment)
    // Who begins to look for parameter sets in the stream has seen none there.
    if before != format, before == .avc { insertion.isForced = true }
  }

  private static func packagingCaps(_ format: StreamFormat, _ alignment: StreamAlignment) -> Caps {
    var caps = Caps(mediaType: "video/x-h264")
    caps.set("parsed", .boolean(true))
    caps.set("stream-format", .string(format.rawValue))
    caps.set("alignment", .string(alignment.rawValue))
    return caps
  }
}
