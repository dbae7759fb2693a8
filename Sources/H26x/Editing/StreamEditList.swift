// SPDX-License-Identifier: MPL-2.0

/// Edits as text: "colour=bt709,range=limited,level=4.1".
///
/// The fields and their values are the program's options (`h26x edit --help`). A part without `=` that is no field of
/// its own continues the value before: "crop=0,0,0,8,remove-hrd".
public struct StreamEditList: Sendable, Hashable {
  /// The edits, in the order to apply them, whatever their order in the text. It has neither the level that
  /// ``findsLevel`` stands for, nor the reorder depth that ``measuresReordering`` stands for.
  public private(set) var edits: [StreamEdit] = []
  /// "level=auto": the caller must find the lowest level that the stream keeps, and pass it to
  /// ``edits(at:reordering:)``.
  public private(set) var findsLevel = false
  /// "latency=measured": the caller must measure the reorder depth of the pictures so far, and pass it to
  /// ``edits(at:reordering:)``.
  public private(set) var measuresReordering = false

  /// Creates a list without an edit.
  public init() {}

  /// Creates a list of edits in the order to apply them.
  package init(_ edits: [StreamEdit]) { self.edits = edits }

  /// Reads text; an empty one is a list without an edit.
  ///
  /// - Throws: for a field that there is not, one that is there twice, and a value that cannot be read.
  public init(_ text: String) throws(StreamEditTextError) {
    var values: [(field: StreamEditField, value: ArraySlice<UInt8>)] = []
    for (name, value) in try Self.parts(of: text) {
      guard let field = StreamEditField(name) else {
        throw StreamEditTextError(name, value, "expected a field of edits")
      }
      guard field.isRepeatable || !values.contains(where: { $0.field == field }) else {
        throw StreamEditTextError(name, value, "the field was given before")
      }
      values.append((field, value))
    }
    try self.init(values)
  }

  /// Reads fields and the text of their values, in any order.
  ///
  /// - Throws: for a value that cannot be read, and for fields that exclude each other.
  package init(_ values: [(field: StreamEditField, value: ArraySlice<UInt8>)]) throws(StreamEditTextError) {
    let ofColour: [StreamEditField] = [.colour, .primaries, .transfer, .matrix, .range]
    if values.contains(where: { $0.field == .removeColour }), values.contains(where: { ofColour.contains($0.field) }) {
      throw StreamEditTextError(Array("remove-colour".utf8)[...], [], "excludes other fields of colour")
    }
    try Self.checkDolbyVision(values)
    for field in StreamEditField.allCases {
      for (_, value) in values.filter({ $0.field == field }) {
        if field == .level, EditText.isEqual(value, "auto") {
          findsLevel = true
        } else if field == .latency, EditText.isEqual(value, "measured") {
          measuresReordering = true
        } else if let new = field.edits(value) {
          edits += new
        } else {
          throw StreamEditTextError(field, value)
        }
      }
    }
    // A stream of the High tier cannot be below level 4, so the tier comes first if it is Main.
    guard let tier = edits.firstIndex(of: .highTier(false)), tier > 0, edits[tier - 1].affects(.level) else { return }
    edits.swapAt(tier - 1, tier)
  }

  /// Refuses the conversion of metadata that is removed.
  private static func checkDolbyVision(
    _ values: [(field: StreamEditField, value: ArraySlice<UInt8>)]
  ) throws(StreamEditTextError) {
    guard let conversion = values.first(where: { $0.field == .dolbyVision }) else { return }
    for (field, value) in values
    where field == .remove && RemovableMetadata.list(value)?.contains(.dolbyVision) == true {
      throw StreamEditTextError(Array("dolby-vision".utf8)[...], conversion.value, "excludes its removal")
    }
  }

  /// Removes Dolby Vision even if pictures have wrong colours without it.
  package mutating func force() {
    edits = edits.map { edit in
      if case .removeMetadata(let kind, isForced: _) = edit { .removeMetadata(kind, isForced: true) } else { edit }
    }
  }

  /// Adds edits behind the others.
  package mutating func append(contentsOf new: [StreamEdit]) { edits += new }

  /// Whether there is no edit, nor one to be found or measured.
  package var isEmpty: Bool { edits.isEmpty && !findsLevel && !measuresReordering }

  /// Whether one of the edits can change a property.
  public func affects(_ property: StreamProperty) -> Bool {
    findsLevel && property == .level || edits.contains { $0.affects(property) }
  }

  /// Returns the edits with a level in place of "level=auto", and a reorder depth in place of "latency=measured" or a
  /// number. A value that was not found is left out.
  public func edits(at level: StreamLevel?, reordering: StreamEdit? = nil) -> [StreamEdit] {
    var edits = edits
    let place = edits.firstIndex { $0 == .highTier(true) || $0.keepsParameterSets } ?? edits.endIndex
    if findsLevel, let level { edits.insert(.level(level), at: place) }
    if let reordering {
      if let index = edits.firstIndex(where: { $0.reorderDepth != nil }) {
        edits[index] = reordering
      } else if measuresReordering {
        edits.insert(reordering, at: place)
      }
    }
    return edits
  }

  /// Whether headers get a reorder depth.
  package var setsReordering: Bool { measuresReordering || leastReordering != nil }

  /// The number of "latency"; nil without one.
  package var leastReordering: UInt8? { edits.lazy.compactMap { $0.reorderDepth }.first }

  /// Names and values, with continued values put together.
  private static func parts(
    of text: String
  ) throws(StreamEditTextError) -> [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] {
    let bytes = Array(text.utf8)
    guard !bytes.allSatisfy({ $0 == space }) else { return [] }
    var parts: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []
    for part in bytes.split(separator: EditText.comma, omittingEmptySubsequences: false) {
      let part = trimmed(part)
      if let equals = part.firstIndex(of: EditText.equals) {
        parts.append((trimmed(part[..<equals]), trimmed(part[(equals + 1)...])))
      } else if let field = StreamEditField(part), field.isFlag {
        parts.append((part, []))
      } else if let last = parts.indices.last, !part.isEmpty, !(StreamEditField(parts[last].name)?.isFlag ?? true) {
        parts[last].value = bytes[parts[last].value.startIndex..<part.endIndex]
      } else {
        throw StreamEditTextError(part, [], "expected FIELD=VALUE")
      }
    }
    return parts
  }

  private static let space: UInt8 = 32

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes.drop { $0 == space }
    while bytes.last == space { bytes.removeLast() }
    return bytes
  }
}

extension StreamEdit {
  fileprivate var reorderDepth: UInt8? { if case .reordering(let depth, _) = self { depth } else { nil } }
}

/// The reason that a list of edits cannot be read.
public struct StreamEditTextError: Error, Sendable, Hashable {
  /// The field, as it is in the text.
  public let field: String
  /// Its value, as it is in the text; empty for none.
  public let value: String
  /// The error, or the value expected in its place.
  public let requirement: String

  init(_ field: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>, _ requirement: StaticString) {
    self.field = String(decoding: field, as: UTF8.self)
    self.value = String(decoding: value, as: UTF8.self)
    self.requirement = requirement.description
  }

  init(_ field: StreamEditField, _ value: ArraySlice<UInt8>) {
    self.field = field.name.description
    self.value = String(decoding: value, as: UTF8.self)
    requirement = "expected " + field.expected
  }
}

extension StreamEditTextError: CustomStringConvertible {
  /// For people: "level=9x: expected auto, or a level such as 4.1".
  public var description: String {
    (value.isEmpty ? field : field + "=" + value) + ": " + requirement
  }
}
