// SPDX-License-Identifier: MPL-2.0

/// A parameter set that edits apply to.
protocol EditableParameterSet: Equatable {
  /// Reads the payload, up to the first syntax that this library does not read.
  init(payload reader: inout BitReader) throws(BitstreamError)
  /// Writes the syntax that ``init(payload:)`` reads.
  func write(to writer: inout BitWriter)
  /// Applies an edit; one that does not concern it changes nothing.
  mutating func apply(_ edit: StreamEdit) throws(StreamEditError)
  /// Checks the conditions on all edits together.
  ///
  /// - Parameter original: the set before them.
  func check(_ edits: [StreamEdit], of original: Self) throws(StreamEditError)
  /// Its id.
  var number: UInt8 { get }
  /// The set with the VUI of another one. It separates an edit in front of the VUI from one in the VUI, so the bits
  /// between them stay as they are.
  func withVUI(of other: Self) -> Self
}

extension EditableParameterSet {
  func withVUI(of other: Self) -> Self { self }

  /// Applies edits to a NAL unit.
  static func edited(
    _ nalUnit: Span<UInt8>, headerLength: Int, _ kind: FieldChange.ParameterSet, _ edits: [StreamEdit]
  ) throws(StreamEditError) -> EditedParameterSet {
    let (before, after) = (SyntaxTrace(), SyntaxTrace())
    var set: Self
    var bits: RBSPBits
    do throws(BitstreamError) {
      var reader = BitReader(nalUnit, from: headerLength, trace: before)
      set = try Self(payload: &reader)
      bits = try RBSPBits(nalUnit, headerLength: headerLength, end: reader.bitOffset)
    } catch {
      return .unreadable(error)
    }
    let original = set
    for edit in edits {
      var edited = set
      try edited.apply(edit)
      for step in [edited.withVUI(of: set), edited] where step != set {
        bits.replace({ set.write(to: &$0) }, with: { step.write(to: &$0) })
        set = step
      }
    }
    try set.check(edits, of: original)
    guard set != original else { return .unchanged }
    let edited = bits.nalUnit
    do throws(BitstreamError) {
      var reader = BitReader(edited.span, from: headerLength, trace: after)
      guard try Self(payload: &reader) == set else { throw reader.fail(.unsupported, "parameter set") }
    } catch {
      // An edit has left a value that cannot be read again, which the edits must prevent.
      return .unreadable(error)
    }
    return .replaced(edited, changes: FieldChange.list(kind, id: set.number, before, after))
  }
}
