// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// A C object with one Swift owner, which releases its reference at the end of its life.
///
/// Swift's ownership modifiers state GStreamer's transfer rules: `borrowing` is *transfer none*, `consuming` is
/// *transfer full*, `inout` *may be replaced*.
public protocol OwnedObject: ~Copyable {
  /// The C structure.
  associatedtype Raw
  /// Takes over one reference.
  @unsafe init(owning raw: UnsafeMutablePointer<Raw>)
  /// Gives the reference to the caller.
  @unsafe consuming func take() -> UnsafeMutablePointer<Raw>
}

extension OwnedObject where Self: ~Copyable {
  /// Lends a C object that someone else owns to a function, without adding a reference: a second reference would make
  /// the object unwritable.
  @unsafe @inlinable @inline(__always)
  public static func lending<Result: ~Copyable, Failure: Error>(
    _ raw: UnsafeMutablePointer<Raw>, _ body: (borrowing Self) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let object = unsafe Self(owning: raw)
    do throws(Failure) {
      let result = try body(object)
      _ = unsafe object.take()
      return result
    } catch {
      _ = unsafe object.take()
      throw error
    }
  }
}

/// A reference-counted GStreamer value: buffer, caps, event, query … (`GstMiniObject`).
public protocol MiniObject: OwnedObject, ~Copyable {
  /// The C object, for calls that take no reference.
  @unsafe var raw: UnsafeMutablePointer<Raw> { get }
}

extension MiniObject where Self: ~Copyable {
  /// Adds a reference to a C object that someone else owns.
  @unsafe @inlinable static func retaining(_ raw: UnsafeMutablePointer<Raw>) -> Self {
    unsafe gst_mini_object_ref(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstMiniObject.self))
    return unsafe Self(owning: raw)
  }

  /// Adds a reference to a C object that someone else owns, if there is one.
  @unsafe @inlinable static func retaining(optional raw: UnsafeMutablePointer<Raw>?) -> Self? {
    if let raw = unsafe raw { unsafe .some(retaining(raw)) } else { nil }
  }

  /// The C object, if there is one, for calls that take no reference.
  package static func raw(_ object: borrowing Self?) -> UnsafeMutablePointer<Raw>? {
    switch object {
    case .some(let object): unsafe object.raw
    case .none: nil
    }
  }
}

@inline(__always)
func unref<T>(_ raw: UnsafeMutablePointer<T>) {
  unsafe gst_mini_object_unref(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstMiniObject.self))
}

/// Binds a span that was made from a raw pointer to the lifetime of the value that keeps its memory valid.
@unsafe @_unsafeNonescapableResult @inlinable
@_lifetime(borrow source)
func overrideLifetime<T: ~Copyable & ~Escapable, U: ~Copyable & ~Escapable>(
  _ dependent: consuming T, borrowing source: borrowing U
) -> T { dependent }

/// As above, for a mutable span.
@unsafe @_unsafeNonescapableResult @inlinable
@_lifetime(&source)
func overrideLifetime<T: ~Copyable & ~Escapable, U: ~Copyable & ~Escapable>(
  _ dependent: consuming T, mutating source: inout U
) -> T { dependent }

/// Objects that C lends to a method for a change.
@usableFromInline enum LentObject {
  /// The message that stops a program whose method put another object in the place of a lent object, which C would
  /// release again.
  @usableFromInline static let replaced: String =
    "an object that was lent for a change was replaced; one that has other owners, as in passthrough, can only be read"
}
