// SPDX-License-Identifier: MPL-2.0
import AVCodec
import AVFormat
import Containers
import H26x

/// A format of caption files that are written.
enum CaptionFormat: String, Sendable, CaseIterable {
  /// MCC (MacCaption): everything.
  case mcc
  /// SCC (Scenarist): a field of CTA-608 at 29.97 frames a second.
  case scc
  /// SRT (SubRip): the text of a field of CTA-608.
  case srt

  /// The format of a file's suffix; `nil` for another one.
  init?(fileName: String) {
    guard let dot = fileName.lastIndex(of: ".") else { return nil }
    self.init(rawValue: fileName[fileName.index(after: dot)...].lowercased())
  }
}

/// Writes the captions of a stream.
struct CaptionOutput {
  private let captions: CaptionCollection
  private let track: CaptionTrack
  private var source: String { captions.source }

  /// - Throws: a `Failure` without captions.
  init(_ captions: CaptionCollection) throws(Failure) {
    guard let track = captions.track else { throw Failure("\(captions.source): no captions") }
    (self.captions, self.track) = (captions, track)
  }

  /// Writes a file.
  ///
  /// - Parameter write: gets the file, piece by piece.
  /// - Returns: lines for the user about captions that are not in the file.
  /// - Throws: a `Failure`, before anything was written, for captions that the format does not have.
  func write(_ format: CaptionFormat, _ write: ([UInt8]) -> Void) throws(Failure) -> [String] {
    let remarks =
      switch format {
      case .mcc: try writeMacCaption(write)
      case .scc: try writeScenarist(write)
      case .srt: try writeSubRip(write)
      }
    let lost = [
      (captions.damagedCount, "cannot be read, and is left out", "cannot be read, and are left out"),
      (captions.strayCount, "belongs to no picture, and is left out", "belong to no picture, and are left out"),
    ]
    return remarks
      + lost.filter { $0.0 > 0 }.map { "\(Text.count($0.0, "message")) \($0.0 == 1 ? $0.1 : $0.2)" }
  }

  /// Performs something for each frame with captions, in their order.
  private func forEachFrame(_ body: (Int, [CaptionMessage?]) throws(Failure) -> Void) throws(Failure) {
    var frame = 0
    while let next = track.first(from: frame) {
      try body(next.frame, track.messages(ofFrame: next.frame))
      frame = next.frame + 1
    }
  }

  // MARK: MCC

  private func writeMacCaption(_ write: ([UInt8]) -> Void) throws(Failure) -> [String] {
    var writer = MacCaptionWriter(
      rate: try captions.clock.rate(source), form: track.form ?? CaptionMessage(CaptionData([])))
    do throws(BitstreamError) { write(try writer.header(program: "h26x \(ReleaseVersion.text)")) } catch {
      throw Failure("\(source): the captions' user data cannot be written: \(error)")
    }
    try forEachFrame { frame, messages throws(Failure) in
      do throws(BitstreamError) { write(try writer.lines(ofFrame: frame, messages)) } catch {
        throw Failure("\(source): frame \(frame): captions that MCC cannot hold: \(error)")
      }
    }
    let (joined, others) = (captions.joinedCount, captions.count.otherForms)
    let remarks =
      joined > 0
      ? ["\(Text.count(joined, "picture")) with several messages of captions, which are joined into one"] : []
    guard others > 0 else { return remarks }
    return remarks + [
      "\(others) of \(Text.count(captions.count.all, "message")) have other user data around the captions than the first, "
        + "which MCC does not keep"
    ]
  }

  // MARK: SCC

  private func writeScenarist(_ write: ([UInt8]) -> Void) throws(Failure) -> [String] {
    let rate = try captions.clock.rate(source)
    guard rate.ratio == CaptionRate(code: 4)?.ratio else {
      throw Failure("\(source): \(rate.text) frames a second, but SCC has 29.97 alone; MCC has all rates (OUT.mcc)")
    }
    var writer = ScenaristWriter()
    try forEachFrame { frame, messages in writer.add(Self.triplets(messages), ofFrame: frame) }
    guard let field = [.field1, .field2].first(where: { writer.hasPairs($0) }) else { throw withoutPairs("SCC") }
    write(writer.text(field))
    return remarks(field, "SCC", isBoth: writer.hasPairs(.field1) && writer.hasPairs(.field2))
  }

  /// The triplets that decoders read.
  private static func triplets(_ messages: [CaptionMessage?]) -> [CaptionTriplet] {
    messages.flatMap { message -> [CaptionTriplet] in
      switch message?.content {
      case .data(let data): data.isProcessed ? data.triplets : []
      case .packet(let packet, trailingBytes: _): packet.triplets
      case nil: []
      }
    }
  }

  private func withoutPairs(_ format: String) -> Failure {
    let digital = digitalServices
    guard !digital.isEmpty else { return Failure("\(source): no captions of CTA-608, which \(format) is made of") }
    return Failure(
      "\(source): captions of CTA-708 alone (\(Text.list(digital))), but \(format) is made of CTA-608; MCC has both "
        + "(OUT.mcc)")
  }

  private var digitalServices: [String] {
    captions.services.services.filter { if case .digital = $0 { true } else { false } }.map { $0.name }
  }

  /// Lines about the captions that a file of one field does not have.
  private func remarks(_ field: CaptionTriplet.Kind, _ format: String, isBoth: Bool) -> [String] {
    var left = isBoth ? [field == .field1 ? "field 2 of CTA-608" : "field 1 of CTA-608"] : []
    left += digitalServices.map { "\($0) of CTA-708" }
    guard !left.isEmpty else { return [] }
    return ["\(Text.list(left)) left out: \(format) has one field of CTA-608, and MCC everything"]
  }

  // MARK: SRT

  private func writeSubRip(_ write: ([UInt8]) -> Void) throws(Failure) -> [String] {
    var cues: [[SubtitleConverter.Cue]] = []
    for field: CaptionTriplet.Kind in [.field1, .field2] { cues.append(try self.cues(field)) }
    guard let index = cues.firstIndex(where: { !$0.isEmpty }) else { throw withoutPairs("SRT") }
    for (number, cue) in cues[index].enumerated() {
      // Text ends with an empty line, and has none in it.
      let lines = cue.text.split { $0 == 10 || $0 == 13 }
      guard !lines.isEmpty else { continue }
      write(Array("\(number + 1)\n\(Self.time(cue.start)) --> \(Self.time(cue.end))\n".utf8))
      for line in lines { write(line + [10]) }
      write([10])
    }
    let field: CaptionTriplet.Kind = index == 0 ? .field1 : .field2
    return remarks(field, "SRT", isBoth: cues.allSatisfy { !$0.isEmpty })
  }

  /// The text of a field, with its times.
  private func cues(_ field: CaptionTriplet.Kind) throws(Failure) -> [SubtitleConverter.Cue] {
    let converter: SubtitleConverter
    do throws(AVError) { converter = try SubtitleConverter(captionsTo: .subRip) } catch {
      throw Failure("SRT: libavcodec cannot decode captions of CTA-608: \(error)")
    }
    var cues: [SubtitleConverter.Cue] = []
    var time: Int64 = 0
    func decode(_ triplets: [CaptionTriplet]) throws(Failure) {
      do throws(AVError) {
        guard let cue = try converter.cue(triplets.flatMap { $0.bytes }, at: time), cue.end > 0 else { return }
        cues.append(cue)
      } catch { throw Failure("\(source): captions cannot be decoded: \(error)") }
    }
    var hasPairs = false
    try forEachFrame { frame, messages throws(Failure) in
      guard let found = captions.clock.time(ofFrame: frame) else {
        throw Failure("\(source): no times and no frame rate, which SRT depends on; h26x edit --frame-rate sets it")
      }
      time = found
      let triplets = Self.triplets(messages).filter { $0.kind == field }
      hasPairs = hasPairs || triplets.contains { $0.isCaptionPair }
      if !triplets.isEmpty { try decode(triplets) }
    }
    // Text that is shown up to the end.
    if hasPairs { try decode([]) }
    return cues
  }

  /// "00:01:02,480".
  private static func time(_ milliseconds: Int64) -> String {
    let time = max(milliseconds, 0)
    func digits(_ number: Int64, _ count: Int) -> String {
      let text = "\(number)"
      return String(repeating: "0", count: max(count - text.count, 0)) + text
    }
    return "\(digits(time / 3_600_000, 2)):\(digits(time / 60_000 % 60, 2)):\(digits(time / 1000 % 60, 2)),"
      + digits(time % 1000, 3)
  }
}
