// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

// Caps: every field but the packaging's own is kept, in both directions.
extension H264Repack {
  private static let inputPackagings = [
    ("byte-stream", ["au", "nal"]), ("avc", ["au", "nal"]), ("avc3", ["au", "nal"]),
  ]
  private static let outputPackagings = [("avc", ["au"]), ("avc3", ["au"]), ("byte-stream", ["au", "nal"])]

  /// What can be on the other side: first the same packaging, then all others.
  func possibleCaps(_ caps: borrowing Caps, on side: Direction, filter: borrowing Caps?) -> Caps {
    var result = Caps.empty()
    if caps.isAny {
      result = side == .sink ? sourcePad.templateCaps : sinkPad.templateCaps
    } else {
      for index in 0..<caps.count {
        guard var same = caps.structure(at: index), same.first.name == "video/x-h264" else { continue }
        same.remove("codec_data")
        result.merge(same)
      }
      for index in 0..<caps.count {
        guard var other = caps.structure(at: index), other.first.name == "video/x-h264" else { continue }
        other.remove("codec_data")
        for (format, alignments) in side == .sink ? Self.outputPackagings : Self.inputPackagings {
          other.set("stream-format", .string(format))
          other.set("alignment", .strings(alignments))
          result.merge(other.copy())
        }
      }
    }
    switch filter {
    case .some(let filter): return filter.intersection(result)
    case .none: return result
    }
  }

  /// Chooses the output: the input's packaging when it may stay, else what downstream named first.
  func chosenCaps(_ input: borrowing Caps, from possible: consuming Caps) -> Caps {
    let format: H264RepackFormat
    do throws(ElementError) {
      format = try H264RepackFormat(input)
    } catch {
      return possible.fixated()
    }
    let same = (0..<possible.count).first { possible[$0].allows("stream-format", format.streamFormat.rawValue) }
    guard var chosen = possible.structure(at: same ?? 0) else { return .empty() }
    let streamFormat =
      same == nil ? chosen.first.strings("stream-format").first ?? "avc" : format.streamFormat.rawValue
    let keepsNALAlignment =
      streamFormat == "byte-stream" && format.alignment == .nalUnit && chosen.first.allows("alignment", "nal")
    let alignment =
      keepsNALAlignment ? "nal" : chosen.first.allows("alignment", "au") ? "au" : "nal"
    chosen.set("stream-format", .string(streamFormat))
    chosen.set("alignment", .string(alignment))
    if let kind = StreamFormat(rawValue: streamFormat), kind.isLengthPrefixed {
      let bytes = codecData(for: kind, input: format)
      if let buffer = Buffer(copying: bytes.span), !bytes.isEmpty { chosen.set("codec_data", buffer) }
    }
    return chosen.fixated()
  }

  /// `codec_data` of the output; empty when it cannot be made yet.
  func codecData(for streamFormat: StreamFormat, input: H264RepackFormat) -> [UInt8] {
    let lengthSize = settings.snapshot.nalLengthSize.size
    if input.streamFormat == .avc3, streamFormat == .avc3, let bytes = input.recordBytes(lengthSize: lengthSize) {
      return bytes
    }
    return sets.codecData(for: streamFormat, lengthSize: lengthSize) ?? []
  }

  /// Reads the caps that were agreed on.
  func adopt(output caps: borrowing Caps) -> Bool {
    let format: H264RepackFormat
    do throws(ElementError) {
      format = try H264RepackFormat(caps)
    } catch {
      Self.log(.warning, self, "no output: \(error.debug)")
      return false
    }
    output = Output(streamFormat: format.streamFormat, alignment: format.alignment, packaging: format.packaging)
    if format.streamFormat == .avc { sets.markDelivered(outOfBand: true) }
    setPassthrough(isIdentity)
    updateLatency()
    return true
  }

  /// Gives downstream new caps when `codec_data` has changed.
  func updateCodecData() throws(FlowError) {
    guard let output, let input, output.streamFormat.isLengthPrefixed, let current = sourcePad.currentCaps else {
      return
    }
    let bytes = codecData(for: output.streamFormat, input: input)
    guard !bytes.isEmpty, let buffer = Buffer(copying: bytes.span) else {
      post(
        ElementError(
          .stream(.format), "The stream's parameter sets do not fit codec_data.",
          debug: "an avcC holds 31 sequence and 255 picture parameter sets"))
      throw .error
    }
    var caps = current.copy()
    caps.set("codec_data", buffer)
    guard !caps.isEqual(to: current) else { return }
    Self.log(.info, self, "parameter sets changed: \(bytes.count) bytes of codec_data")
    statistics.withLock { $0.parameterSetChanges += 1 }
    try updateSourceCaps(caps)
  }

  /// Which format the output will have, as far as can be told before the caps are set.
  func predictedOutput(for caps: borrowing Caps) -> StreamFormat? {
    let possible = possibleCaps(caps, on: .sink, filter: nil).intersection(sourcePad.templateCaps)
    let filter: Caps? = possible.share()
    guard let peer = sourcePad.peerCaps(filter: filter) else {
      return StreamFormat(rawValue: chosenCaps(caps, from: possible).first.string("stream-format") ?? "")
    }
    let allowed = peer.intersection(possible)
    guard !allowed.isEmpty else { return nil }
    return StreamFormat(rawValue: chosenCaps(caps, from: allowed).first.string("stream-format") ?? "")
  }

  /// Says on the bus why no caps could be agreed on.
  func explainRefusal() {
    guard !sourcePad.isFlushing, !sinkPad.isFlushing else { return }
    let found = sinkPad.currentCaps
    let wanted = sourcePad.peerCaps()
    var debug = "input: "
    if let found { debug += found.description } else { debug += "no caps" }
    debug += "; downstream takes: "
    if let wanted { debug += wanted.description } else { debug += "anything" }
    post(
      ElementError(
        .core(.negotiation), "Downstream takes no packaging of H.264 that the input can be brought into.", debug: debug)
    )
  }

  // MARK: Latency

  /// Publishes what latency queries are answered with.
  func updateLatency() {
    let waits = input?.alignment == .nalUnit && !collector.seesMarkers && !isIdentity
    let duration = input?.frameRate.map {
      ClockTime.seconds(1, times: UInt32($0.denominator), over: UInt32($0.numerator))
    }
    let changed = latency.withLock { latency in
      let changed = latency.waitsForNextAccessUnit != waits || latency.accessUnitDuration != duration
      latency = Latency(waitsForNextAccessUnit: waits, accessUnitDuration: duration)
      return changed
    }
    if changed { postLatencyChanged() }
  }

  /// Adds an access unit's duration to upstream's latency where the next one has to be waited for.
  func answerLatency(_ query: borrowing Query) -> Bool {
    guard sinkPad.queryPeer(query), let upstream = query.latency else { return false }
    let latency = latency.snapshot
    guard latency.waitsForNextAccessUnit, let own = latency.accessUnitDuration else { return true }
    query.setLatency(
      isLive: upstream.isLive, minimum: upstream.minimum + own, maximum: upstream.maximum.map { $0 + own })
    return true
  }
}

extension StructureView {
  /// Whether a field may have this value.
  fileprivate func allows(_ field: String, _ value: String) -> Bool {
    !has(field) || strings(field).contains(value)
  }
}
