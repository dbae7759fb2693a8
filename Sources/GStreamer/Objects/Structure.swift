// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// A named set of fields (`GstStructure`) with one owner.
@safe public struct Structure: ~Copyable {
  /// The C structure.
  @unsafe public let raw: UnsafeMutablePointer<GstStructure>

  /// Takes over a C structure, which must have no parent.
  @unsafe public init(owning raw: UnsafeMutablePointer<GstStructure>) { unsafe self.raw = raw }
  deinit { unsafe gst_structure_free(raw) }

  /// Gives the C structure to the caller.
  @unsafe public consuming func take() -> UnsafeMutablePointer<GstStructure> {
    let raw = unsafe raw
    discard self
    return unsafe raw
  }

  /// An empty structure. The name begins with an ASCII letter; letters, digits and `/-_.:+` follow. In any other
  /// name, a hyphen replaces each other character, and `x` comes first if there is no letter.
  public init(_ name: String) {
    var valid = name.utf8.map { byte in
      let isValid = Self.isLetter(byte) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || Self.signs.contains(byte)
      return isValid ? byte : UInt8(ascii: "-")
    }
    // Without a valid name there would be no structure.
    if !(valid.first.map(Self.isLetter) ?? false) { valid.insert(UInt8(ascii: "x"), at: 0) }
    _ = isGStreamerReady
    unsafe self.init(owning: gst_structure_new_empty(String(decoding: valid, as: UTF8.self)))
  }

  private static let signs = Array("/-_.:+".utf8)
  private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }

  /// Adds or replaces a field.
  public mutating func set(_ name: String, _ value: FieldValue) { unsafe value.set(on: raw, name: name) }

  /// Adds or replaces a field with a structure, which is copied.
  public mutating func set(_ name: String, _ value: borrowing Structure) {
    unsafe cgst_structure_set_structure(raw, name, value.raw)
  }

  /// The structure for reading.
  public var view: StructureView {
    @_lifetime(borrow self) get { unsafe overrideLifetime(StructureView(raw), borrowing: self) }
  }
}

/// A structure that can be copied and sent between tasks: the fields of a message, or an error's details.
public struct Fields: Sendable, CustomStringConvertible {
  @safe private final class Box: @unchecked Sendable {
    // Never changed: any thread may read it.
    private let raw: UnsafeMutablePointer<GstStructure>
    init(_ structure: consuming Structure) { unsafe raw = structure.take() }
    deinit { unsafe gst_structure_free(raw) }

    func read<Result>(_ body: (StructureView) -> Result) -> Result { unsafe body(StructureView(raw)) }
  }

  private let box: Box

  /// Keeps a structure.
  public init(_ structure: consuming Structure) { box = Box(structure) }

  /// Copies a C structure; `nil` for none.
  @unsafe init?(copying raw: UnsafePointer<GstStructure>?) {
    guard let raw = unsafe raw, let copy = unsafe gst_structure_copy(raw) else { return nil }
    self.init(unsafe Structure(owning: copy))
  }

  /// The structure's name.
  public var name: String { box.read { $0.name } }
  /// The names of the fields, in their order.
  public var names: [String] { box.read { $0.fieldNames } }
  /// The value of a field, `nil` when it is absent.
  public subscript(_ field: String) -> FieldValue? { box.read { $0.value(field) } }
  /// The structure in a field; `nil` when absent or of another type.
  package func fields(_ field: String) -> Fields? { box.read { $0.fields(field) } }
  /// The text form, as in debug logs.
  public var description: String { box.read { $0.description } }
}
