// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import H26x
import StreamReport

/// The editor of a stream whose codec is known only when it is read.
struct VideoEdit: HeaderEditing {
  /// The edits, until the codec is known: then ``editor`` has them.
  private var waiting: [StreamEdit]
  /// `nil` before the codec is known.
  private var editor: (any VideoEditing)?
  /// Splits a byte stream; `nil` before the codec is known.
  private var splitter: AccessUnitSplitter?
  /// The name of the file, for messages.
  let source: String
  /// Access units so far.
  private(set) var count = 0
  private var packaging = NALPackaging.annexB
  /// Takes access units before the edits; `nil` for none.
  var listing: (any AccessUnitListing)?
  /// Messages that single pictures get.
  var insertions: [MetadataInsertion] = []
  /// The places of access units, and when they are shown, for ``listing``.
  private var times = PresentedTimes()
  /// The last access unit that gets a message of its own; `nil` for none.
  private let lastPlace: Int?
  private let metadata: MetadataEdit
  /// The contents of a container's description of the video, a line each.
  private var containerLines: [String] = []

  /// - Parameters:
  ///   - source: the name for messages.
  ///   - renewsRecord: whether the container's configuration of Dolby Vision is made from the stream.
  ///   - inserted: what becomes of it if Dolby Vision is inserted; `nil` if not.
  init(
    _ edits: [StreamEdit], source: String, renewsRecord: Bool = false, inserting inserted: DolbyVisionRecord? = nil
  ) {
    (waiting, self.source) = (edits, source)
    metadata = MetadataEdit(edits, renewsRecord: renewsRecord, inserting: inserted)
    lastPlace = edits.compactMap(\.lastPlace).max()
  }

  /// Whether there is no edit.
  var isEmpty: Bool {
    insertions.isEmpty && editor?.edits.isEmpty ?? waiting.isEmpty && !metadata.changesRecordOnly
  }

  /// Whether the container is to get the record of Dolby Vision that the stream calls for.
  var changesRecordOnly: Bool { metadata.changesRecordOnly }

  /// Whether an edit can change a property.
  func affects(_ property: StreamProperty) -> Bool {
    (editor?.edits ?? waiting).contains { $0.affects(property) }
      || metadata.makesRecord && property == .metadata(.dolbyVision)
  }

  /// Begins the stream.
  mutating func begin(_ codec: FormatDescription.Codec) {
    guard editor == nil else { return }
    editor = codec == .h264 ? StreamEditor<H264>(waiting) : StreamEditor<H265>(waiting)
    splitter = AccessUnitSplitter(codec)
    waiting = []
  }

  /// Ends the stream.
  ///
  /// - Throws: a `Failure` if the stream lacks an access unit that gets a message of its own, or metadata to convert.
  func finish() throws(Failure) {
    guard Interruption.signal == nil else { return }
    if let editor { try metadata.finish(editor.dolbyVision, source: source) }
    for insertion in insertions { try insertion.finish(count: count, source: source) }
    guard let lastPlace, lastPlace >= count else { return }
    throw Failure(
      "\(source): no access unit \(lastPlace) for an SEI message; it has \(Text.count(count, "access unit")), counted "
        + "from 0")
  }

  mutating func edit(_ format: MediaOutput.VideoFormat) throws(Failure) -> MediaOutput.VideoFormat {
    begin(format.codec)
    var edited = format.edited(configuration: try edit(configuration: format.configuration), by: affects)
    try metadata.describe(&edited, source: source)
    return edited
  }

  /// Edits a configuration record, which decides the packaging of access units that follow. An empty record stands
  /// for a byte stream.
  mutating func edit(configuration: [UInt8]) throws(Failure) -> [UInt8] {
    guard !configuration.isEmpty, editor != nil else {
      packaging = .annexB
      return []
    }
    if listing != nil { editor?.list(configuration: configuration, in: &listing) }
    do throws(RecordRefusal) {
      guard let (bytes, size) = try editor?.edit(configuration: configuration) else { return [] }
      packaging = .lengthPrefixed(size)
      return bytes
    } catch {
      switch error {
      case .edit(let error): throw Failure("\(source): \(error.words)")
      case .bitstream(let error): throw Failure("\(source): its configuration record cannot be read: \(error)")
      }
    }
  }

  /// Edits an access unit.
  mutating func edit(_ accessUnit: [UInt8]) throws(Failure) -> [UInt8] {
    defer { count += 1 }
    if listing != nil {
      let (offset, time) = times.next(byteCount: accessUnit.count)
      let place = AccessUnitPlace(number: count, offset: offset, time: time)
      try editor?.list(accessUnit.span, packaging, place, in: &listing)
    }
    var edited = accessUnit
    do throws(StreamEditError) {
      if let new = try editor?.edit(accessUnit.span, packaging: packaging) { edited = new }
    } catch { throw Failure("\(source): access unit \(count): \(error.words)") }
    for index in insertions.indices {
      let before = edited
      if let new = try editor?.insert(&insertions[index], in: before.span, packaging, number: count, source) {
        edited = new
      }
    }
    return edited
  }

  /// Whether samples that no copy has are read, too. Then numbers of access units differ from those of a copy.
  var includesHidden: Bool { insertions.isEmpty && listing?.includesHidden != false }

  /// Notes when the picture is shown that begins in the bytes that follow: an access unit, or a piece of a byte stream.
  ///
  /// - Parameter time: in nanoseconds since the beginning of the presentation; `nil` if it is not known.
  mutating func show(at time: Int64?, byteCount: Int) { if listing != nil { times.add(time, byteCount: byteCount) } }

  /// Ends ``listing``.
  mutating func finishListing() throws(Failure) { try listing?.finish() }

  /// Edits the next bytes of a byte stream. Bytes that are in no access unit are copied.
  ///
  /// - Parameters:
  ///   - bytes: more of the stream.
  ///   - isLast: nothing more comes.
  ///   - write: gets the edited stream, piece by piece.
  mutating func take(
    _ bytes: [UInt8], isLast: Bool, _ write: ([UInt8]) throws(Failure) -> Void
  ) throws(Failure) {
    splitter?.append(bytes)
    while let piece = splitter?.next(isLast: isLast) {
      if !piece.isAccessUnit, listing != nil { _ = times.next(byteCount: piece.bytes.count) }
      let edited = piece.isAccessUnit ? try edit(piece.bytes) : piece.bytes
      if piece.isAccessUnit { try describeRecord(edited) }
      try write(edited)
    }
    if isLast { try finish() }
    guard splitter?.pendingCount ?? 0 <= AccessUnitLimits.size else {
      throw Failure("\(source): no end of an access unit within \(AccessUnitLimits.size >> 20) MiB")
    }
  }

  /// Notes the description of the video that an MP4 or Matroska file would have beside the stream.
  ///
  /// - Parameter configuration: the edited configuration record.
  mutating func describeContainer(_ codec: FormatDescription.Codec, _ configuration: [UInt8]) {
    guard containerLines.isEmpty, let description = FormatDescription(codec, configuration: configuration) else {
      return
    }
    if affects(.colour) {
      let colour = description.colour
      containerLines.append(
        "container: colour: now \(colour?.primaries ?? 2):\(colour?.transfer ?? 2):\(colour?.matrix ?? 2), "
          + "\(description.isFullRange == true ? "full" : "limited") range")
    }
    if affects(.shape) {
      let aspect = description.pixelAspectRatio.map { "\($0.numerator):\($0.denominator)" }
      containerLines.append("container: sample aspect ratio: \(aspect.map { "now \($0)" } ?? "removed")")
    }
    if affects(.size) {
      let size = description.cropRectangle
      containerLines.append("container: size: now \(size.width)x\(size.height)")
    }
  }

  /// Notes the configuration of Dolby Vision that an MP4 or Matroska file would have, by its first access unit.
  ///
  /// - Throws: a `Failure` if it cannot be made, or if the metadata must not be removed.
  mutating func describeContainer(_ track: VideoTrack, _ accessUnit: [UInt8]) throws(Failure) {
    let line = try metadata.recordLine(.init(track), accessUnit, hasStartCodes: false, source: source)
    if let line { containerLines.append(line) }
  }

  /// Notes the record that a container with a byte stream is to get, by the first access unit with parameter sets.
  private mutating func describeRecord(_ accessUnit: [UInt8]) throws(Failure) {
    guard metadata.changesRecordOnly, containerLines.isEmpty, let editor,
      let format = MediaOutput.VideoFormat(editor.isH264 ? .h264 : .h265, describedBy: accessUnit),
      let line = try metadata.recordLine(format, accessUnit, hasStartCodes: true, source: source)
    else { return }
    containerLines.append(line)
  }

  /// The metadata that was removed or converted, a line for each kind.
  var metadataLines: [String] {
    (editor.map { metadata.lines($0.messages, $0.dolbyVision, includesNone: true) } ?? [])
      + insertions.compactMap(\.line)
  }

  /// The changes, a line each. The codec decides the names of SEI messages.
  var lines: [String] {
    guard let editor else { return [] }
    var lines = editor.changes.map(\.description) + containerLines
    for (type, count) in editor.messages.counts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let name = SEIText.name(type.rawValue, isH264: editor.isH264)
      if count.removed > 0 { lines.append("SEI: \(name): \(count.removed) removed") }
      if count.changed > 0 { lines.append("SEI: \(name): \(count.changed) changed") }
      if count.inserted > 0 { lines.append("SEI: \(name): \(count.inserted) inserted") }
    }
    lines += metadata.lines(editor.messages, editor.dolbyVision, includesNone: false)
    let delimiters = editor.delimiters
    for (count, word) in [
      (delimiters.inserted, "inserted"), (delimiters.changed, "corrected"), (delimiters.removed, "removed"),
    ] where count > 0 {
      lines.append("\(Text.count(count, "access unit delimiter")) \(word)")
    }
    lines += insertions.compactMap(\.line)
    if editor.removedLayerNALUnits > 0 {
      lines.append("layers above the base layer: \(Text.count(editor.removedLayerNALUnits, "NAL unit")) removed")
    }
    if let error = editor.lastUnreadable {
      lines.append("a parameter set that cannot be read stays as it is: \(error)")
    }
    return lines
  }

  /// Whether anything was changed.
  var hasChanged: Bool {
    guard let editor else { return false }
    return !editor.changes.isEmpty || !editor.messages.isEmpty || editor.delimiters != SEIChanges.Count()
      || editor.removedLayerNALUnits > 0 || editor.dolbyVision != DolbyVisionChanges()
      || insertions.contains { $0.changed > 0 }
  }
}

/// The times of access units, in decoding order.
private struct PresentedTimes {
  private var packets = PacketTimes()
  /// The bytes of packets, and of access units so far.
  private var (end, position): (UInt64, UInt64) = (0, 0)

  mutating func add(_ time: Int64?, byteCount: Int) {
    packets.add(time.map { AccessUnitRecord.Sample(pts: $0, dts: nil, duration: 0, isSync: nil) }, at: end)
    end += UInt64(byteCount)
  }

  /// The offset of the next access unit, and its time; `nil` if it begins in no packet, or has no time.
  mutating func next(byteCount: Int) -> (offset: UInt64, time: Int64?) {
    defer { position += UInt64(byteCount) }
    return (position, packets.take(at: position)?.pts)
  }
}

extension StreamEdit {
  /// The last access unit that is to get something of its own; `nil` for none.
  fileprivate var lastPlace: Int? {
    switch self {
    case .insertSEI(let insertion): insertion.place.accessUnits.max()
    case .clockTimestamps(_, let accessUnit): accessUnit
    default: nil
    }
  }
}

extension StreamEditError {
  /// The message for the user, whose option has frames a second, not a number of ticks.
  var words: String {
    guard "\(element)" != "\(Self.incompatibleBaseLayer.element)" else { return "\(self); --force removes it even so" }
    guard isAboutFrameRate else { return "\(self)" }
    let hint = reason == .exceedsLevel ? "; --level auto finds a level with room" : ""
    return "--frame-rate: \(requirement) (\(clause))\(hint)"
  }

  /// As ``words``, for the user who has asked for a level.
  var wordsAboutLevel: String { isAboutFrameRate ? "\(requirement) (\(clause))" : "\(self)" }

  private var isAboutFrameRate: Bool { ["time_scale", "vui_time_scale", "vps_time_scale"].contains("\(element)") }
}

/// Why a configuration record was refused.
private enum RecordRefusal: Error {
  case edit(StreamEditError)
  case bitstream(BitstreamError)
}

/// An editor of any codec.
private protocol VideoEditing: Sendable {
  var edits: [StreamEdit] { get }
  var changes: [FieldChange] { get }
  var messages: SEIChanges { get }
  var dolbyVision: DolbyVisionChanges { get }
  var delimiters: SEIChanges.Count { get }
  var removedLayerNALUnits: Int { get }
  var lastUnreadable: BitstreamError? { get }
  var isH264: Bool { get }
  mutating func edit(_ accessUnit: Span<UInt8>, packaging: NALPackaging) throws(StreamEditError) -> [UInt8]?
  mutating func edit(configuration: [UInt8]) throws(RecordRefusal) -> ([UInt8], NALLengthSize)
  func list(configuration: [UInt8], in listing: inout (any AccessUnitListing)?)
  func list(
    _ accessUnit: Span<UInt8>, _ packaging: NALPackaging, _ place: AccessUnitPlace,
    in listing: inout (any AccessUnitListing)?
  ) throws(Failure)
  func insert(
    _ insertion: inout MetadataInsertion, in accessUnit: Span<UInt8>, _ packaging: NALPackaging, number: Int,
    _ source: String
  ) throws(Failure) -> [UInt8]?
}

extension StreamEditor: VideoEditing {
  fileprivate var isH264: Bool { Codec.codec == .h264 }

  fileprivate func list(configuration: [UInt8], in listing: inout (any AccessUnitListing)?) {
    if let record = try? Codec.ConfigurationRecord(configuration.span) { listing?.add(record.nalUnits, Codec.self) }
  }

  fileprivate func list(
    _ accessUnit: Span<UInt8>, _ packaging: NALPackaging, _ place: AccessUnitPlace,
    in listing: inout (any AccessUnitListing)?
  ) throws(Failure) {
    try listing?.add(accessUnit, packaging, place, Codec.self)
  }

  fileprivate func insert(
    _ insertion: inout MetadataInsertion, in accessUnit: Span<UInt8>, _ packaging: NALPackaging, number: Int,
    _ source: String
  ) throws(Failure) -> [UInt8]? {
    try insertion.edit(accessUnit, packaging, number: number, source: source, Codec.self)
  }

  fileprivate mutating func edit(configuration: [UInt8]) throws(RecordRefusal) -> ([UInt8], NALLengthSize) {
    let record: Codec.ConfigurationRecord
    do throws(BitstreamError) { record = try Codec.ConfigurationRecord(configuration.span) } catch {
      throw .bitstream(error)
    }
    let edited: Codec.ConfigurationRecord
    do throws(StreamEditError) { edited = try edit(record) } catch { throw .edit(error) }
    do throws(BitstreamError) { return (try edited.bytes(), record.nalLengthSize) } catch { throw .bitstream(error) }
  }
}
