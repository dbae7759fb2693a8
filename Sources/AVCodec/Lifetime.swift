// SPDX-License-Identifier: MPL-2.0

/// Binds a view made from a pointer to the owner that keeps the pointee alive.
///
/// The standard library has the same function under an underscored, internal name; it goes when that becomes public.
@unsafe @_unsafeNonescapableResult @_alwaysEmitIntoClient @_transparent
@_lifetime(borrow owner)
package func _overrideLifetime<View: ~Copyable & ~Escapable, Owner: ~Copyable & ~Escapable>(
  _ view: consuming View, borrowing owner: borrowing Owner
) -> View {
  view
}

/// As `_overrideLifetime(_:borrowing:)`, for a view that lives as long as another view.
@unsafe @_unsafeNonescapableResult @_alwaysEmitIntoClient @_transparent
@_lifetime(copy source)
package func _overrideLifetime<View: ~Copyable & ~Escapable, Source: ~Copyable & ~Escapable>(
  _ view: consuming View, copying source: borrowing Source
) -> View {
  view
}
