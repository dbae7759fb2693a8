// SPDX-License-Identifier: MPL-2.0

/// Changes the headers of a stream and its metadata, and nothing else: colour, shape, rate, level, SEI, Dolby Vision.
/// Slices, start codes and all that no edit concerns come out byte for byte.
///
/// Make an editor for a stream, pass it the configuration record, if there is one, and then every access unit in
/// decoding order.
///
/// ```swift
/// var editor = StreamEditor<H264>([.colour(ColourDescription(primaries: 1, transfer: 1, matrix: 1))])
/// if let edited = try editor.edit(accessUnit.span, packaging: .annexB) { accessUnit = edited }
/// ```
public struct StreamEditor<Codec: StreamEditing>: Sendable {
  /// The edits, in the order of their application.
  public let edits: [StreamEdit]
  /// The changes so far, each syntax element of each version of a parameter set once. At most ``changeLimit``.
  public private(set) var changes: [FieldChange] = []
  /// SEI messages that were changed, removed and inserted, by type.
  public private(set) var messages = SEIChanges()
  /// NAL units of layers above the base layer that were removed.
  public private(set) var removedLayerNALUnits = 0
  /// NAL units of Dolby Vision that were removed and converted.
  public private(set) var dolbyVision = DolbyVisionChanges()
  /// Access unit delimiters that were corrected, removed and inserted.
  public private(set) var delimiters = SEIChanges.Count()
  /// The error in the last parameter set that could not be read and was left as it was; nil if there was none.
  public private(set) var lastUnreadable: BitstreamError?

  /// Changes listed at most.
  public static var changeLimit: Int { 4096 }
  /// Versions of parameter sets remembered at most.
  private static var memory: Int { 64 }

  private let sei: SEIEdits
  private let clock: ClockTimestampEdits
  private var dolbyVisionEdits: DolbyVisionEdits
  private let removesLayers: Bool
  private let removesDelimiters: Bool
  private let insertsDelimiters: Bool
  private var sets = Codec.ParameterSets()
  private var known: [(original: [UInt8], edited: [UInt8]?)] = []
  /// Access units so far.
  private var count = 0

  /// Creates an editor. Each edit is checked against the parameter sets that it changes, when these come.
  public init(_ edits: [StreamEdit]) {
    self.edits = edits
    sei = SEIEdits(edits)
    clock = ClockTimestampEdits(edits)
    dolbyVisionEdits = DolbyVisionEdits(edits)
    removesLayers = edits.contains(.removeLayers)
    removesDelimiters = edits.contains(.removeDelimiters)
    insertsDelimiters = edits.contains(.insertDelimiters)
  }

  /// Edits the NAL units of a configuration record, and the fields of the record that repeat their contents.
  ///
  /// - Throws: the refusal of an edit, with nothing changed.
  public mutating func edit(
    _ record: Codec.ConfigurationRecord
  ) throws(StreamEditError) -> Codec.ConfigurationRecord {
    let nalUnits = record.nalUnits
    for nalUnit in nalUnits { remember(nalUnit.span) }
    let sps = firstSPS(nalUnits)
    return try Codec.edited(record) { (nalUnit: [UInt8]) throws(StreamEditError) -> [UInt8]? in
      try edited(nalUnit.span, sps)
    }
  }

  /// Edits an access unit.
  ///
  /// If no edit concerns SEI, any whole number of NAL units can be passed in its place. Bytes in front of the first
  /// start code, between NAL units and after a bad length stay as they are.
  ///
  /// - Returns: the edited access unit; nil if it stays as it is.
  /// - Throws: the refusal of an edit; `.lengthNotRepresentable` when a NAL unit has become too long for the length
  ///   prefix. The access unit is then not to be used.
  public mutating func edit(
    _ accessUnit: Span<UInt8>, packaging: NALPackaging
  ) throws(StreamEditError) -> [UInt8]? {
    guard !edits.isEmpty else { return nil }
    let places = NALUnitPlace.all(accessUnit, packaging)
    for place in places { remember(accessUnit.extracting(place.range)) }
    let picture = needsPicture ? picture(in: accessUnit, places) : nil
    var inserted: [UInt8]?
    if let picture { inserted = try insertedSEI(picture, slice: accessUnit.extracting(places[picture.slice].range)) }
    count += 1
    let delimiter = insertsDelimiters ? delimiter(for: accessUnit, places) : nil
    var splice = AccessUnitSplice(accessUnit, packaging)
    if let first = places.first, let delimiter, !delimiter.hasDelimiter, let new = delimiter.nalUnit {
      try splice.insert(new, before: first)
      delimiters.inserted += 1
    }
    for (index, place) in places.enumerated() {
      if let inserted, index == picture?.insertion { try splice.insert(inserted, before: place) }
      guard let nalUnit = try edited(accessUnit.extracting(place.range), picture?.sps, delimiter) else {
        splice.keep(place)
        continue
      }
      if nalUnit.isEmpty {
        splice.remove(place, isFirst: index == 0)
      } else {
        try splice.replace(place, with: nalUnit)
      }
    }
    return splice.finish()
  }

  // MARK: Parameter sets

  /// Takes a parameter set into the store of those before the edits.
  private mutating func remember(_ nalUnit: Span<UInt8>) {
    guard Self.isParameterSet(nalUnit) else { return }
    do throws(BitstreamError) {
      try sets.insert(nalUnit)
    } catch {
      // Slices that refer to it cannot be read, and SEI that depends on it is removed with the HRD parameters.
    }
  }

  private static func isParameterSet(_ nalUnit: Span<UInt8>) -> Bool {
    nalUnit.count >= Codec.nalUnitHeaderLength && Codec.NALUnitType(headerByte: nalUnit[0]).isParameterSet
  }

  private func firstSPS(_ nalUnits: [[UInt8]]) -> Codec.SequenceParameterSet? {
    for nalUnit in nalUnits where Codec.role(of: nalUnit.span) == .sequenceParameterSet {
      if let id = Codec.ParameterSets.sequenceParameterSetID(of: nalUnit.span) { return sets.sequenceParameterSet(id) }
    }
    return nil
  }

  /// Returns the replacement for a NAL unit: nil if it stays, empty if it is removed.
  private mutating func edited(
    _ nalUnit: Span<UInt8>, _ sps: Codec.SequenceParameterSet?, _ delimiter: DelimiterSearch<Codec>? = nil
  ) throws(StreamEditError) -> [UInt8]? {
    if removesDelimiters || insertsDelimiters, Codec.role(of: nalUnit) == .accessUnitDelimiter {
      return edited(delimiter: nalUnit, delimiter)
    }
    if removesLayers, Codec.isOfEnhancementLayer(nalUnit) {
      removedLayerNALUnits += 1
      return []
    }
    if !dolbyVisionEdits.isEmpty, let new = try dolbyVisionEdits.edited(nalUnit, Codec.self, &dolbyVision) {
      return new
    }
    guard Self.isParameterSet(nalUnit) else { return try edited(sei: nalUnit, sps) }
    if let index = known.firstIndex(where: { BulkBytes.areEqual($0.original, nalUnit) }) { return known[index].edited }
    let result = try Codec.edited(parameterSet: nalUnit, edits, sets: sets)
    var edited: [UInt8]?
    switch result {
    case .unchanged: break
    case .unreadable(let error): lastUnreadable = error
    case .replaced(let bytes, let new):
      edited = bytes
      changes += new.prefix(max(0, Self.changeLimit - changes.count))
    }
    if known.count == Self.memory { known.removeFirst() }
    known.append(([UInt8](copying: nalUnit), edited))
    return edited
  }

  // MARK: Access unit delimiters

  private func delimiter(for accessUnit: Span<UInt8>, _ places: [NALUnitPlace]) -> DelimiterSearch<Codec> {
    var search = DelimiterSearch<Codec>()
    for place in places { search.take(accessUnit.extracting(place.range), sets) }
    return search
  }

  private mutating func edited(delimiter nalUnit: Span<UInt8>, _ search: DelimiterSearch<Codec>?) -> [UInt8]? {
    if removesDelimiters {
      delimiters.removed += 1
      return []
    }
    guard let new = search?.replacement(for: nalUnit) else { return nil }
    delimiters.changed += 1
    return new
  }

  // MARK: SEI

  private mutating func edited(
    sei nalUnit: Span<UInt8>, _ sps: Codec.SequenceParameterSet?
  ) throws(StreamEditError) -> [UInt8]? {
    guard !clock.isEmpty,
      let timed = try clock.edited(nalUnit, Codec.self, sps, accessUnit: count - 1)
    else { return sei.edited(nalUnit, Codec.self, sps, &messages) }
    messages.count(.pictureTiming) { $0.changed += 1 }
    return sei.edited(timed.span, Codec.self, sps, &messages) ?? timed
  }

  private func picture(
    in accessUnit: Span<UInt8>, _ places: [NALUnitPlace]
  ) -> PictureSearch<Codec>.Picture? {
    var search = PictureSearch<Codec>()
    for place in places { if let picture = search.take(accessUnit.extracting(place.range), sets) { return picture } }
    return nil
  }

  /// The SEI NAL unit to insert in front of a picture.
  private mutating func insertedSEI(
    _ picture: PictureSearch<Codec>.Picture, slice: Span<UInt8>
  ) throws(StreamEditError) -> [UInt8]? {
    try clock.check(accessUnit: count, hasTiming: picture.hasTiming)
    let new = try sei.inserted(
      accessUnit: count, isKeyframe: picture.isKeyframe, beside: picture.messages, clause: Codec.clauseOfSEI)
    guard !new.isEmpty else { return nil }
    let nalUnit = seiNALUnit(new.map { ($0.type, $0.payload) }, header: Codec.seiHeader(forPictureOf: slice))
    try SEIEdits.checkInserted(nalUnit.span, Codec.self)
    for message in new { messages.count(message.type) { $0.inserted += 1 } }
    return nalUnit
  }
}

// MARK: NAL unit by NAL unit

extension StreamEditor {
  /// Creates an editor for a stream whose parameter sets are known.
  package init(_ edits: [StreamEdit], sets: Codec.ParameterSets) {
    self.init(edits)
    self.sets = sets
  }

  /// An editor with other edits, for the same stream.
  package func with(_ edits: [StreamEdit]) -> StreamEditor { StreamEditor(edits, sets: sets) }

  /// Whether an edit concerns SEI.
  package var editsSEI: Bool { !sei.isEmpty || !clock.isEmpty }

  /// Whether an edit of SEI depends on the picture, which ``search(_:_:)`` then has to find.
  package var needsPicture: Bool { sei.dependOnPicture || !clock.isEmpty }

  /// Whether access unit delimiters are inserted, which ``DelimiterSearch`` decides on.
  package var needsDelimiters: Bool { insertsDelimiters }

  /// Whether NAL units of any type are edited, not only parameter sets and SEI.
  package var editsOtherNALUnits: Bool { removesLayers || removesDelimiters || !dolbyVisionEdits.isEmpty }

  /// Edits a NAL unit of the access unit of a picture.
  ///
  /// - Parameters:
  ///   - picture: the picture found in it; nil if no edit needs it.
  ///   - delimiter: the search in its access unit; nil if none is needed.
  /// - Returns: nil if it stays as it is, an empty one when it is removed.
  /// - Throws: the refusal of an edit.
  package mutating func edited(
    _ nalUnit: Span<UInt8>, of picture: PictureSearch<Codec>.Picture?, _ delimiter: DelimiterSearch<Codec>? = nil
  ) throws(StreamEditError) -> [UInt8]? {
    try edited(nalUnit, picture?.sps, delimiter)
  }

  /// Looks for the picture in the next NAL unit of an access unit.
  ///
  /// - Returns: the picture with the SEI NAL unit to insert, when this is its first slice.
  /// - Throws: the refusal of an insertion.
  package mutating func search(
    _ nalUnit: Span<UInt8>, _ search: inout PictureSearch<Codec>
  ) throws(StreamEditError) -> (picture: PictureSearch<Codec>.Picture, sei: [UInt8]?)? {
    guard let picture = search.take(nalUnit, sets) else { return nil }
    defer { count += 1 }
    return (picture, try insertedSEI(picture, slice: nalUnit))
  }
}
