// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A GObject signal of an element, by which it tells the application something at once, on its own thread.
public struct Signal: Sendable {
  /// The type of an argument.
  public enum Argument: Sendable {
    /// `gint`.
    case int
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
      case .uint64: cgst_type_of_kind(CGST_KIND_UINT64)
      case .boolean: cgst_type_of_kind(CGST_KIND_BOOLEAN)
      case .double: cgst_type_of_kind(CGST_KIND_DOUBLE)
      case .string: cgst_type_of_kind(CGST_KIND_STRING)
      }
    }
  }

  /// The name, in letters and hyphens.
  public var name: String
  /// What handlers are told, the element itself not counted.
  public var arguments: [Argument]

  /// A signal of this name and arguments.
  public init(_ name: String, _ arguments: Argument...) { (self.name, self.arguments) = (name, arguments) }

  /// Adds it to a type that is being made.
  func install(in type: GType) {
    var types = arguments.map(\.type)
    unsafe g_signal_newv(
      name, type, G_SIGNAL_RUN_LAST, nil, nil, nil, nil, cgst_type_of_kind(CGST_KIND_OTHER), guint(types.count), &types)
  }
}

extension Element {
  /// Calls the handlers of a signal, on this thread. Values of other types than the signal's are converted; it is not
  /// sent when that cannot be, or their number is wrong.
  ///
  /// No lock may be held that a handler could want.
  /// - Returns: whether it was sent.
  @discardableResult
  public func emit(_ signal: String, _ arguments: FieldValue...) -> Bool {
    let type = unsafe UnsafeMutableRawPointer(raw).load(as: UnsafePointer<GTypeClass>.self).pointee.g_type
    let identifier = unsafe g_signal_lookup(signal, type)
    guard identifier != 0 else { return false }
    var query = unsafe GSignalQuery()
    unsafe g_signal_query(identifier, &query)
    guard unsafe Int(query.n_params) == arguments.count else { return false }
    var values = [GValue](repeating: GValue(), count: arguments.count + 1)
    defer { for index in values.indices { unsafe cgst_value_clear(&values[index]) } }
    unsafe g_value_init(&values[0], type)
    unsafe g_value_set_object(&values[0], raw)
    for (index, argument) in arguments.enumerated() {
      var source = unsafe argument.makeValue()
      defer { unsafe g_value_unset(&source) }
      unsafe g_value_init(&values[index + 1], query.param_types[index] & ~GType(1))
      guard unsafe g_value_transform(&source, &values[index + 1]) != 0 else { return false }
    }
    unsafe g_signal_emitv(&values, identifier, 0, nil)
    return true
  }
}
