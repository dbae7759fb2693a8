// SPDX-License-Identifier: MPL-2.0
import CGStreamer

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
