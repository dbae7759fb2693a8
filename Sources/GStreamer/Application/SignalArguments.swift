// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// The arguments of a signal, valid during its handler.
@safe public struct SignalArguments: ~Copyable {
  private let values: UnsafeBufferPointer<GValue>

  /// SAFETY: the values must outlive this value, which a handler borrows during its call.
  @unsafe init(_ values: UnsafeBufferPointer<GValue>) { unsafe self.values = values }

  /// The number of arguments, without the emitting element.
  public var count: Int { unsafe max(values.count - 1, 0) }

  private func value(_ index: Int) -> UnsafePointer<GValue>? {
    guard index >= 0, index < count, let base = unsafe values.baseAddress else { return nil }
    return unsafe base + index + 1
  }

  /// The value of an argument, as text for types that `FieldValue` lacks; `nil` without a text form.
  public subscript(_ index: Int) -> FieldValue? { unsafe value(index).flatMap { unsafe FieldValue($0) } }

  /// An argument that is a pad; `nil` for other types.
  public func pad(_ index: Int) -> PipelinePad? {
    guard let value = unsafe value(index), unsafe cgst_value_is_pad(value) != 0,
      let object = unsafe g_value_get_object(value)
    else { return nil }
    return unsafe PipelinePad(ObjectReference(retaining: object))
  }

  /// An argument that is an element; `nil` for other types.
  public func element(_ index: Int) -> PipelineElement? {
    guard let value = unsafe value(index), unsafe cgst_value_is_element(value) != 0,
      let object = unsafe g_value_get_object(value)
    else { return nil }
    return unsafe PipelineElement(ObjectReference(retaining: object))
  }

  /// An argument that is caps; `nil` for other types.
  public func caps(_ index: Int) -> Caps? {
    guard let value = unsafe value(index), unsafe cgst_value_is_caps(value) != 0,
      let caps = unsafe g_value_get_boxed(value)
    else { return nil }
    return unsafe Caps.retaining(caps.assumingMemoryBound(to: GstCaps.self))
  }
}
