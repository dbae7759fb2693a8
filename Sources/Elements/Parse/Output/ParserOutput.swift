// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The state of earlier stages that the output needs.
struct OutputSurroundings<Codec: ElementCodecSyntax> {
  var packaging: OutputPackaging<Codec>
  /// The packing of NAL units.
  var nalPackaging: NALPackaging
  /// The contents of the access unit so far, if NAL units come one by one; else nil.
  var contentsSoFar: AccessUnitContents?
  var frameRate: Fraction?
  var tick: FormatDescription.Tick?
  /// Seconds between insertions of parameter sets.
  var configInterval: Int32
}

/// Stage: turns an access unit into the buffers that are output.
struct ParserOutput<Codec: ParserCodec>: Sendable {
  /// The next step for the access unit.
  private enum Step { case position, tags, segment, keyUnit, insertions, pieces, done }

  /// An access unit delimiter of the lowest temporal sub-layer, with its start code.
  private let delimiter = [0, 0, 0, 1] + Codec.accessUnitDelimiter(temporalID: 0)

  /// The access unit that is being sent.
  var accessUnit = ParsedAccessUnit<Codec>()
  /// Its beginning in the base class's frame, or in the buffer that is output instead, in bytes.
  private var start = 0
  private var insertion = ParameterSetInsertion()

  private var step = Step.done
  /// It is the last of the frame, which the base class pushes.
  private var isLast = true
  private var sendsTags = false
  /// The shifted segment that is sent next.
  private var segment: SegmentShift.Announcement?
  /// Inserted NAL units that are output next, in reverse order.
  private var queued: [[UInt8]] = []
  private var insertsDelimiter = false
  /// Parameter sets that go in front of the first slice.
  private var parameterSets: [[UInt8]] = []
  private var nextNALUnit = 0
  private var awaitsSEI = true

  /// Takes an access unit, in exchange for one whose memory can be reused.
  ///
  /// - Parameter start: its beginning in the frame, or in the buffer that is output instead, in bytes.
  mutating func take(_ next: inout ParsedAccessUnit<Codec>, at start: Int) {
    swap(&accessUnit, &next)
    self.start = start
  }

  /// Whether it is at the beginning of the frame.
  var isFirstOfFrame: Bool { start == 0 }

  /// Begins to send the access unit, by the times that it has before the first action.
  ///
  /// - Parameters:
  ///   - isFirst: whether nothing was output under these caps.
  ///   - isLast: whether it is the last one of its frame, which the base class pushes.
  ///   - segment: the shifted segment, if it has to be sent.
  mutating func begin(isFirst: Bool, isLast: Bool, segment: SegmentShift.Announcement?) {
    step = .position
    self.isLast = isLast
    sendsTags = isFirst
    self.segment = segment
    nextNALUnit = 0
    awaitsSEI = true
    if !queued.isEmpty { queued = [] }
    if !parameterSets.isEmpty { parameterSets = [] }
  }

  /// The next action in front of the access unit; nil when there is none.
  mutating func nextAnnouncement() -> OutputAction? {
    if step == .position {
      step = .tags
      if let position = accessUnit.position { return .advance(position) }
    }
    if step == .tags {
      step = .segment
      if sendsTags { return .tags }
    }
    if step == .segment {
      step = .keyUnit
      if let segment { return .segment(segment) }
    }
    if step == .keyUnit {
      step = .insertions
      if !accessUnit.outgoing.flags.contains(.deltaUnit), !accessUnit.continuesPicture {
        return .keyUnit(pts: accessUnit.completed.pts, outgoing: accessUnit.outgoing.pts)
      }
    }
    return nil
  }

  /// The next buffer, once insertions are decided on.
  mutating func nextBuffer(
    _ frame: borrowing BaseParseFrame, _ surroundings: OutputSurroundings<Codec>, _ log: ElementLog
  ) throws(FlowError) -> OutputAction {
    while step == .pieces {
      if let nalUnit = queued.popLast() {
        if let buffer = try own(nalUnit, surroundings.nalPackaging, log) { return .push(buffer) }
        continue
      }
      guard surroundings.packaging.alignment == .accessUnit || accessUnit.scanned.nalUnits.isEmpty else {
        if let action = try nextPiece(of: frame, surroundings, log) { return action }
        continue
      }
      step = .done
      return try send(0..<accessUnit.scanned.end, of: frame, accessUnit.outgoing, carriesSEI: true, surroundings, log)
    }
    return .leave
  }

  // MARK: Putting in what the stream lacks

  /// Parameter sets are inserted before the next IDR picture, whatever the interval.
  mutating func insertParameterSets() { insertion.force() }

  /// Changed parameter sets are not output in their place in the stream. All are inserted before the next IDR
  /// picture, even if it has some of its own.
  mutating func makeUpForParameterSets() { insertion.makeUp() }

  /// New caps: cancels ``insertParameterSets()``.
  mutating func cancelParameterSets() { insertion.cancel() }

  /// Times begin again.
  mutating func forgetTime() { insertion.forgetTime() }

  /// Decides on the insertions, once per access unit. Returns whether parameter sets are: then hand them over.
  mutating func decideOnInsertions(_ surroundings: OutputSurroundings<Codec>) -> Bool {
    guard step == .insertions else { return false }
    step = .pieces
    let contents = accessUnit.scanned.contents
    insertsDelimiter =
      surroundings.packaging.format == .byteStream && contents.contains(.accessUnitStart)
      && !contents.contains(.delimiter)
      && (surroundings.packaging.alignment == .accessUnit || Codec.delimitsNALUnits)
    if insertsDelimiter, surroundings.packaging.alignment == .nalUnit { queued.append([UInt8](delimiter.dropFirst(4))) }
    return accessUnit.scanned.randomAccessOffset != nil && accessUnit.beginsPicture
      && insertion.takeDue(
        at: accessUnit.completed.pts, interval: surroundings.configInterval,
        hasOwn: (surroundings.contentsSoFar ?? contents).contains(.parameterSets))
  }

  /// Inserts parameter sets.
  mutating func insert(_ parameterSets: [[UInt8]], _ alignment: StreamAlignment) {
    if alignment == .nalUnit, accessUnit.scanned.nalUnits.isEmpty {
      queued.insert(contentsOf: parameterSets.reversed(), at: 0)
    } else {
      self.parameterSets = parameterSets
    }
  }

  @inline(__always) private func insert(into buffer: inout Buffer, _ packaging: NALPackaging, _ log: ElementLog) {
    if !parameterSets.isEmpty, let offset = accessUnit.scanned.parameterSetOffset {
      Self.insert(parameterSets, into: &buffer, at: offset, packaging, log)
      buffer.flags.insert(.header)
    }
    guard insertsDelimiter else { return }
    let temporalID = accessUnit.scanned.slice?.temporalID ?? 0
    let bytes = temporalID == 0 ? delimiter : [0, 0, 0, 1] + Codec.accessUnitDelimiter(temporalID: temporalID)
    if let delimiter = Buffer(copying: bytes.span) { buffer.prepend(delimiter) }
  }

  private static func insert(
    _ nalUnits: [[UInt8]], into buffer: inout Buffer, at offset: Int, _ packaging: NALPackaging, _ log: ElementLog
  ) {
    var bytes: [UInt8] = []
    do throws(BitstreamError) {
      for nalUnit in nalUnits { bytes += try packaging.packaged(nalUnit) }
    } catch {
      return log(.warning, "parameter sets cannot be inserted: \(error)")
    }
    guard !bytes.isEmpty, let inserted = Buffer(copying: bytes.span) else { return }
    buffer.insert(inserted, at: offset)
  }

  /// A buffer of an inserted NAL unit.
  @inline(__always) private func own(
    _ nalUnit: [UInt8], _ packaging: NALPackaging, _ log: ElementLog
  ) throws(FlowError) -> Buffer? {
    let bytes: [UInt8]
    do throws(BitstreamError) {
      bytes = try packaging.packaged(nalUnit)
    } catch {
      log(.warning, "parameter sets cannot be inserted: \(error)")
      return nil
    }
    guard var buffer = Buffer(copying: bytes.span) else { throw .error }
    var own = buffer.attributes
    (own.pts, own.dts, own.duration) = (accessUnit.outgoing.pts, accessUnit.outgoing.dts, .zero)
    own.flags.insert(.deltaUnit)
    if nalUnit[...] != delimiter.dropFirst(4) { own.flags.insert(.header) }
    buffer.attributes = own
    return buffer
  }

  // MARK: Cutting

  /// The next NAL unit of an access unit that is split; nil when parameter sets come before it.
  private mutating func nextPiece(
    of frame: borrowing BaseParseFrame, _ surroundings: OutputSurroundings<Codec>, _ log: ElementLog
  ) throws(FlowError) -> OutputAction? {
    let nalUnits = accessUnit.scanned.nalUnits
    while nextNALUnit < nalUnits.count, nalUnits[nextNALUnit].contents == nil { nextNALUnit += 1 }
    guard nextNALUnit < nalUnits.count, let contents = nalUnits[nextNALUnit].contents else {
      step = .done
      return .leave
    }
    let range = nalUnits[nextNALUnit].start..<nalUnits[nextNALUnit].range.upperBound
    if !parameterSets.isEmpty, let offset = accessUnit.scanned.parameterSetOffset, range.lowerBound >= offset {
      queued = parameterSets.reversed()
      parameterSets = []
      return nil
    }
    let carriesSEI = awaitsSEI && contents.contains(.sei)
    if carriesSEI { awaitsSEI = false }
    repeat { nextNALUnit += 1 } while nextNALUnit < nalUnits.count && nalUnits[nextNALUnit].contents == nil
    let endsAccessUnit = nextNALUnit == nalUnits.count
    let piece = Buffer.Attributes(
      pts: accessUnit.outgoing.pts, dts: accessUnit.outgoing.dts,
      duration: contents.contains(.pictureStart) ? accessUnit.attributes.duration : .zero,
      flags: flags(of: contents, endsAccessUnit: endsAccessUnit))
    accessUnit.outgoing.flags.remove(.discontinuity)
    if endsAccessUnit { step = .done }
    return try send(range, of: frame, piece, carriesSEI: carriesSEI, surroundings, log)
  }

  /// The flags of one NAL unit of the access unit.
  @inline(__always) private func flags(of contents: AccessUnitContents, endsAccessUnit: Bool) -> Buffer.Flags {
    var result = accessUnit.outgoing.flags
    result.remove([.marker, .header, .deltaUnit, .droppable])
    let mayBeKey: AccessUnitContents =
      accessUnit.scanned.contents.contains(.recoveryPoint) ? [.slice, .sei] : .slice
    let isKey = !accessUnit.outgoing.flags.contains(.deltaUnit) && !contents.isDisjoint(with: mayBeKey)
    if !isKey { result.insert(.deltaUnit) }
    if !contents.isDisjoint(with: .headers) { result.insert(.header) }
    if contents.contains(.slice), !contents.contains(.reference) { result.insert(.droppable) }
    if endsAccessUnit { result.insert(.marker) }
    return result
  }

  /// A part of the access unit. The frame's last one is left to the base class.
  ///
  /// - Parameter carriesSEI: whether metas made of SEI messages go with it.
  private mutating func send(
    _ range: Range<Int>, of frame: borrowing BaseParseFrame, _ attributes: Buffer.Attributes, carriesSEI: Bool,
    _ surroundings: OutputSurroundings<Codec>, _ log: ElementLog
  ) throws(FlowError) -> OutputAction {
    let range = start + range.lowerBound..<start + range.upperBound
    if isLast, step == .done {
      frame.modifyOutput { buffer in
        if range != 0..<buffer.size { buffer.resize(to: range) }
        if range.lowerBound > 0, buffer.offset != .max { buffer.offset &+= UInt64(range.lowerBound) }
        if buffer.attributes != attributes { buffer.attributes = attributes }
        complete(&buffer, carriesSEI: carriesSEI, surroundings, log)
      }
      return .leave
    }
    let offset = frame.offset == .max ? .max : frame.offset &+ UInt64(range.lowerBound)
    let part = frame.withOutput { $0.region(range, attributes, offset: offset) }
    guard var part else { throw .error }
    complete(&part, carriesSEI: carriesSEI, surroundings, log)
    if step == .done { return .pushLast(part) }
    return .push(part)
  }

  /// Adds insertions and metas. `mutating` only because a borrowed value would be copied.
  @inline(__always) private mutating func complete(
    _ buffer: inout Buffer, carriesSEI: Bool, _ surroundings: OutputSurroundings<Codec>, _ log: ElementLog
  ) {
    if surroundings.packaging.alignment == .accessUnit { insert(into: &buffer, surroundings.nalPackaging, log) }
    if carriesSEI, accessUnit.sei.concernsBuffer {
      accessUnit.sei.attach(to: &buffer, rate: surroundings.frameRate, tick: surroundings.tick)
    }
  }
}

/// A step of the element to send an access unit.
enum OutputAction: ~Copyable {
  /// Report to the base class how far the stream has been output.
  case advance(ClockTime)
  /// Send tags.
  case tags
  /// Send the segment, shifted.
  case segment(SegmentShift.Announcement)
  /// A keyframe is next, with this PTS in upstream's and in the outgoing segment: answer a pending request that is due,
  /// and report with `answeredKeyUnit`.
  case keyUnit(pts: ClockTime?, outgoing: ClockTime?)
  /// Push a buffer.
  case push(Buffer)
  /// Push a buffer; nothing follows it.
  case pushLast(Buffer)
  /// The base class pushes the rest, which is in the frame.
  case leave
}
