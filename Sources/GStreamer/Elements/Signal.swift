// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A GObject signal of an element; the application's handlers run on the element's thread.
public struct Signal: Sendable {
  /// The type of an argument.
  public enum Argument: Sendable {
    /// `gint`.
    case int
    /// `guint`.
    case uint
    /// `gint64`.
    case int64
    /// `guint64`.
    case uint64
    /// `gboolean`.
    case boolean
    /// `gdouble`.
    case double
    /// Text.
    case string

    fileprivate var type: GType {
      switch self {
      case .int: cgst_type_of_kind(CGST_KIND_INT)
      case .uint: cgst_type_of_kind(CGST_KIND_UINT)
      case .int64: cgst_type_of_kind(CGST_KIND_INT64)
      case .uint64: cgst_type_of_kind(CGST_KIND_UINT64)
      case .boolean: cgst_type_of_kind(CGST_KIND_BOOLEAN)
      case .double: cgst_type_of_kind(CGST_KIND_DOUBLE)
      case .string: cgst_type_of_kind(CGST_KIND_STRING)
      }
    }
  }

  /// The name, in letters and hyphens.
  public var name: String
  /// The types of the arguments, without the element itself.
  public var arguments: [Argument]

  /// A signal of this name and arguments.
  public init(_ name: String, _ arguments: Argument...) { (self.name, self.arguments) = (name, arguments) }

  /// Installs the signal in a type, from its `class_init`.
  func install(in type: GType) {
    var types = arguments.map(\.type)
    unsafe g_signal_newv(
      name, type, G_SIGNAL_RUN_LAST, nil, nil, nil, nil, cgst_type_of_kind(CGST_KIND_OTHER), guint(types.count), &types)
  }
}

extension Element {
  /// Emits a signal: calls its handlers on this thread. Values are converted to the types of the arguments; nothing is
  /// emitted when one cannot be, or their number is wrong.
  ///
  /// The caller must hold no lock that a handler could take.
  /// - Returns: whether the signal was emitted.
  @discardableResult
  public func emit(_ signal: String, _ arguments: FieldValue...) -> Bool {
    unsafe emitSignal(signal, of: UnsafeMutableRawPointer(raw), arguments) { _ in }
  }
}

/// Emits a signal of an object.
///
/// - Parameter read: called with the return value, if the signal has one.
/// - Returns: `false` when there is no such signal, or the arguments do not fit.
@unsafe func emitSignal(
  _ signal: String, of object: UnsafeMutableRawPointer, _ arguments: [FieldValue],
  read: (UnsafePointer<GValue>) -> Void
) -> Bool {
  let type = unsafe object.load(as: UnsafePointer<GTypeClass>.self).pointee.g_type
  let identifier = unsafe g_signal_lookup(signal, type)
  guard identifier != 0 else { return false }
  var query = unsafe GSignalQuery()
  unsafe g_signal_query(identifier, &query)
  guard unsafe Int(query.n_params) == arguments.count else { return false }
  var values = [GValue](repeating: GValue(), count: arguments.count + 1)
  defer { for index in values.indices { unsafe cgst_value_clear(&values[index]) } }
  unsafe g_value_init(&values[0], type)
  unsafe g_value_set_object(&values[0], object)
  // The lowest bit, G_SIGNAL_TYPE_STATIC_SCOPE, is not part of the type.
  let isLent = GType(1)
  for (index, argument) in arguments.enumerated() {
    var source = unsafe argument.makeValue()
    defer { unsafe g_value_unset(&source) }
    unsafe g_value_init(&values[index + 1], query.param_types[index] & ~isLent)
    guard unsafe g_value_transform(&source, &values[index + 1]) != 0 else { return false }
  }
  var answer = GValue()
  defer { unsafe cgst_value_clear(&answer) }
  let answerType = unsafe query.return_type & ~isLent
  guard answerType != cgst_type_of_kind(CGST_KIND_OTHER) else {
    unsafe g_signal_emitv(&values, identifier, 0, nil)
    return true
  }
  unsafe g_value_init(&answer, answerType)
  unsafe g_signal_emitv(&values, identifier, 0, &answer)
  unsafe read(&answer)
  return true
}
