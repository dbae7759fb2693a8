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
