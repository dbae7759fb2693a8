// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension ParserElement {
  // MARK: Input

  /// Autopluggers chain every parser that is registered. Behind another parser there, this one would only cost time: it
  /// refuses the caps, and autoplugging continues with the decoders. Once it is plugged, its pad has caps, and new ones
  /// are accepted.
  ///
  /// - Returns: whether the query is answered.
  func answer(_ query: borrowing Query) -> Bool {
    guard let caps = query.capsToAccept, caps.first.boolean("parsed") == true, !sinkPad.hasCaps else { return false }
    let words = parentClassification?.split(separator: "/") ?? []
    guard words.contains("Bin"), words.contains("Decoder") || words.contains("Parser") else { return false }
    query.setAcceptCapsResult(false)
    return true
  }

  /// Takes upstream's caps. Returns whether they can be handled.
  func acceptSinkCaps(_ caps: borrowing Caps) -> Bool {
    let isChanged: Bool
    switch sinkPad.currentCaps {
    case .some(let old): isChanged = !old.isEqual(to: caps)
    case .none: isChanged = false
    }
    do throws(SinkCapsRefusal) {
      let isReadable = try core.take(CompressedCaps<Codec>(caps), isChanged: isChanged, ElementLog(Self.log, self))
      guard isReadable else {
        try passThrough(caps)
        return true
      }
      setPassthrough(false)
      agreeOnPackaging(isNewInput: true)
      return true
    } catch {
      Self.log(.warning, self, "refused caps: \(error.rawValue); found \(caps.description)")
      return false
    }
  }

  /// Passes the stream through if downstream takes it unchanged, and leaves `codec_data` to downstream.
  private func passThrough(_ caps: borrowing Caps) throws(SinkCapsRefusal) {
    let packaging = wantedPackaging()
    guard packaging.format == core.inputPackaging.format, packaging.alignment == .accessUnit else {
      throw .unreadableCodecData
    }
    postWarning(
      ElementError(
        .stream(.format), "The stream's codec_data cannot be read; the stream is passed through unchanged.",
        debug: "found \(caps.description), expected a configuration record in codec_data"))
    var outgoing = caps.copy()
    outgoing.set("parsed", .boolean(true))
    packaging.setFields(of: &outgoing)
    setPassthrough(true)
    core.passThrough(packaging)
    sourcePad.setCaps(outgoing)
  }

  /// Returns the caps that upstream may send for an output that downstream takes.
  func acceptableSinkCaps(filter: borrowing Caps?) -> Caps {
    let template = sinkPad.templateCaps
    // Downstream's wishes, without the fields that are converted here.
    let wishes: Caps
    switch filter {
    case .some(let filter):
      var question = withoutConvertedFields(filter, packagingIncluded: true)
      // Downstream need not list the profile itself.
      question.remove("profile")
      let asked = Optional(question)
      wishes = Self.withConformingProfiles(sourcePad.peerCaps(filter: asked) ?? sourcePad.templateCaps)
    case .none: wishes = Self.withConformingProfiles(sourcePad.peerCaps() ?? sourcePad.templateCaps)
    }
    var result = withoutConvertedFields(wishes, packagingIncluded: true).intersection(template)
    switch filter {
    case .some(let filter): result = result.intersection(filter)
    case .none: break
    }
    // Caps that downstream takes unchanged come first: they need no conversion.
    let unconverted = withoutConvertedFields(wishes, packagingIncluded: false).intersection(result)
    guard !unconverted.isEmpty else { return result }
    var ordered = unconverted.share()
    ordered.merge(result)
    return ordered
  }

  // MARK: Output

  private func wantedPackaging() -> OutputPackaging<Codec> {
    // Not the pad's allowed caps: once caps are set, the base class allows no others.
    let template = Optional(sourcePad.templateCaps)
    let allowed = sourcePad.peerCaps(filter: template)
    let input = core.inputPackaging
    return OutputPackaging<Codec>(from: input.format ?? .byteStream, input.alignment, allowed: allowed)
  }

  /// Queries which packaging downstream accepts.
  func agreeOnPackaging(isNewInput: Bool) {
    let packaging = wantedPackaging()
    let size = core.agree(on: packaging, isNewInput: isNewInput, ElementLog(Self.log, self))
    if let size { setMinimumFrameSize(size) }
  }

  /// Sends caps for the current access unit when they have changed.
  func announceCaps() {
    let log = ElementLog(Self.log, self)
    let upstream = sinkPad.currentCaps ?? Caps(mediaType: Codec.mediaType)
    guard let proposal = core.proposeCaps(upstream: upstream, log) else { return }
    announce(proposal, log)
  }

  private func announce(_ proposal: consuming CapsProposal, _ log: ElementLog) {
    var proposal = proposal
    setLatency(minimum: proposal.latency, maximum: proposal.latency)
    chooseProfile(&proposal.caps, among: proposal.compatibleProfiles)
    let current = sourcePad.currentCaps
    let change = core.judgeCaps(proposal.caps, codecData: proposal.codecData, current: current, log)
    guard case .caps = change else { return }
    Self.log(.info, self, "caps \(proposal.caps.description)")
    let isAccepted = sourcePad.setCaps(proposal.caps)
    core.sentCaps(isAccepted || sourcePad.hasCaps)
  }

  /// Sends caps before the first access unit, for an event that needs some. They come from the parameter sets of
  /// upstream's caps. Without these, upstream's caps are sent, less the fields that a byte stream does not have.
  /// Returns false if parameter sets are needed that have not come.
  func announceCapsBeforeData() -> Bool {
    guard let upstream = sinkPad.currentCaps, core.inputPackaging.format != nil else { return true }
    if core.packaging == nil { agreeOnPackaging(isNewInput: false) }
    guard let packaging = core.packaging else { return true }
    let log = ElementLog(Self.log, self)
    if let proposal = core.proposeCapsBeforeData(upstream: upstream, log) { announce(proposal, log) }
    if sourcePad.hasCaps { return true }
    guard packaging.format == .byteStream else { return false }
    var outgoing = upstream.copy()
    outgoing.remove("codec_data")
    outgoing.set("parsed", .boolean(true))
    packaging.setFields(of: &outgoing)
    return sourcePad.setCaps(outgoing)
  }

  /// Keeps the stream's profile, or sets a compatible profile if downstream takes only that.
  private func chooseProfile(_ caps: inout Caps, among others: [String]) {
    switch sourcePad.currentCaps {
    case .some(let current): if caps.canIntersect(current) { return }
    case .none: break
    }
    switch sourcePad.peerCaps() {
    case .some(let peer):
      if caps.canIntersect(peer) { return }
      for name in others {
        var candidate = caps.copy()
        candidate.set("profile", .string(name))
        if candidate.canIntersect(peer) {
          caps.set("profile", .string(name))
          return
        }
      }
    case .none: return
    }
  }
}

private func withoutConvertedFields(_ caps: borrowing Caps, packagingIncluded: Bool) -> Caps {
  var copy = caps.copy()
  if packagingIncluded {
    copy.remove("alignment")
    copy.remove("stream-format")
  }
  copy.remove("parsed")
  return copy
}

extension ParserElement {
  /// Adds to the profiles that downstream lists those whose streams conform to a listed one.
  fileprivate static func withConformingProfiles(_ caps: consuming Caps) -> Caps {
    guard !caps.isAny else { return caps }
    var result = Caps.empty()
    for index in 0..<caps.count {
      guard var structure = caps.structure(at: index) else { continue }
      let listed = structure.first.strings("profile")
      if !listed.isEmpty {
        let more = Codec.conformingProfiles.filter { profile in
          !listed.contains(profile.name) && profile.others.contains { listed.contains($0) }
        }
        structure.set("profile", .strings(listed + more.map(\.name)))
      }
      result.append(structure)
    }
    return result
  }
}
