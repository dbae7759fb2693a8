// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// Media types with their fields, as pads negotiate them (`GstCaps`).
///
/// Caps that have other owners are copied before a change (`gst_caps_make_writable`).
@safe public struct Caps: ~Copyable, @unsafe MiniObject {
  /// The C object.
  @unsafe public internal(set) var raw: UnsafeMutablePointer<GstCaps>

  /// Takes over one reference.
  @unsafe public init(owning raw: UnsafeMutablePointer<GstCaps>) { unsafe self.raw = raw }
  deinit { unsafe unref(raw) }

  /// Gives the reference to the caller.
  @unsafe public consuming func take() -> UnsafeMutablePointer<GstCaps> {
    let raw = unsafe raw
    discard self
    return unsafe raw
  }

  /// Another owner of the same caps; it is copied when either changes it.
  public borrowing func share() -> Caps { unsafe .retaining(raw) }

  /// Caps in text form, as on a gst-launch-1.0 line. `nil` when the text is not valid.
  public init?(parsing text: String) {
    _ = isGStreamerReady
    guard let raw = unsafe gst_caps_from_string(text) else { return nil }
    unsafe self.init(owning: raw)
  }

  /// Caps of one structure without fields.
  public init(mediaType: String) {
    _ = isGStreamerReady
    unsafe self.init(owning: gst_caps_new_empty_simple(mediaType))
  }

  /// Caps that match nothing.
  public static func empty() -> Caps {
    _ = isGStreamerReady
    return unsafe Caps(owning: gst_caps_new_empty())
  }
  /// Caps that match everything.
  public static func any() -> Caps {
    _ = isGStreamerReady
    return unsafe Caps(owning: gst_caps_new_any())
  }

  /// Whether they match nothing.
  public var isEmpty: Bool { unsafe gst_caps_is_empty(raw) != 0 }
  /// Whether they match everything.
  public var isAny: Bool { unsafe gst_caps_is_any(raw) != 0 }
  /// Whether there is one structure, and each of its fields has one value.
  public var isFixed: Bool { unsafe gst_caps_is_fixed(raw) != 0 }
  /// The number of structures; 0 for empty and any.
  public var count: Int { unsafe Int(gst_caps_get_size(raw)) }

  /// The media type of the first structure, such as `video/x-h264`; "" for empty and any.
  public var mediaType: String {
    guard count > 0, let name = unsafe gst_structure_get_name(gst_caps_get_structure(raw, 0)) else { return "" }
    return unsafe String(cString: name)
  }

  /// One of the structures. An index out of range gives an empty structure named "none".
  public subscript(index: Int) -> StructureView {
    @_lifetime(borrow self) get {
      let structure = index >= 0 && index < count ? unsafe gst_caps_get_structure(raw, guint(index)) : nil
      return unsafe overrideLifetime(StructureView(structure ?? Caps.nothing), borrowing: self)
    }
  }

  /// The first structure.
  public var first: StructureView {
    @_lifetime(borrow self) get { unsafe overrideLifetime(self[0], borrowing: self) }
  }

  private nonisolated(unsafe) static let nothing = unsafe gst_structure_new_empty("none")!

  /// Sets a field on every structure.
  public mutating func set(_ field: String, _ value: FieldValue) {
    unsafe raw = cgst_caps_make_writable(raw)
    for index in 0..<(unsafe gst_caps_get_size(raw)) {
      unsafe value.set(on: gst_caps_get_structure(raw, index), name: field)
    }
  }

  /// Sets a buffer field, such as `codec_data`, on every structure.
  public mutating func set(_ field: String, _ buffer: borrowing Buffer) {
    unsafe raw = cgst_caps_make_writable(raw)
    for index in 0..<(unsafe gst_caps_get_size(raw)) {
      unsafe cgst_structure_set_buffer(gst_caps_get_structure(raw, index), field, buffer.raw)
    }
  }

  /// Removes a field from every structure.
  public mutating func remove(_ field: String) {
    unsafe raw = cgst_caps_make_writable(raw)
    for index in 0..<(unsafe gst_caps_get_size(raw)) {
      unsafe cgst_structure_remove_field(gst_caps_get_structure(raw, index), field)
    }
  }

  /// Sets the only feature of every structure, such as `memory:DMABuf`.
  package mutating func setFeature(_ feature: String) {
    unsafe raw = cgst_caps_make_writable(raw)
    unsafe cgst_caps_set_feature(raw, feature)
  }

  /// Whether the structure at an index has this feature; false if it allows any.
  package borrowing func hasFeature(_ feature: String, at index: Int) -> Bool {
    guard 0..<count ~= index, let features = unsafe gst_caps_get_features(raw, guint(index)) else { return false }
    return unsafe gst_caps_features_is_any(features) == 0 && gst_caps_features_contains(features, feature) != 0
  }

  /// Appends the structures of other caps.
  public mutating func append(_ other: consuming Caps) {
    unsafe raw = cgst_caps_make_writable(raw)
    unsafe gst_caps_append(raw, other.take())
  }

  /// Appends those structures of other caps that these do not cover yet.
  public mutating func merge(_ other: consuming Caps) { unsafe raw = gst_caps_merge(raw, other.take()) }

  /// A writable copy.
  public borrowing func copy() -> Caps { unsafe Caps(owning: gst_caps_copy(raw)) }

  /// Caps of one of the structures. `nil` when the index is out of range.
  public borrowing func structure(at index: Int) -> Caps? {
    guard index >= 0, index < count, let copy = unsafe gst_caps_copy_nth(raw, guint(index)) else { return nil }
    return unsafe Caps(owning: copy)
  }

  /// The caps that both allow, in this one's order of preference, or in the other's when `preferringOther`.
  public borrowing func intersection(_ other: borrowing Caps, preferringOther: Bool = false) -> Caps {
    if preferringOther {
      return unsafe Caps(owning: gst_caps_intersect_full(other.raw, raw, GST_CAPS_INTERSECT_FIRST))
    }
    return unsafe Caps(owning: gst_caps_intersect_full(raw, other.raw, GST_CAPS_INTERSECT_FIRST))
  }

  /// Whether any format is allowed by both.
  public borrowing func canIntersect(_ other: borrowing Caps) -> Bool {
    unsafe gst_caps_can_intersect(raw, other.raw) != 0
  }
  /// Whether the other caps allow everything that these do.
  public borrowing func isSubset(of other: borrowing Caps) -> Bool { unsafe gst_caps_is_subset(raw, other.raw) != 0 }
  /// Whether both allow the same formats.
  public borrowing func isEqual(to other: borrowing Caps) -> Bool { unsafe gst_caps_is_equal(raw, other.raw) != 0 }

  /// Whether both have the same structures in the same order.
  public borrowing func isStrictlyEqual(to other: borrowing Caps) -> Bool {
    unsafe cgst_caps_is_strictly_equal(raw, other.raw) != 0
  }

  /// Caps of the first structure.
  public consuming func truncated() -> Caps { unsafe Caps(owning: gst_caps_truncate(take())) }

  /// Caps of the first structure with one value for each field.
  public consuming func fixated() -> Caps { unsafe Caps(owning: gst_caps_fixate(take())) }

  /// The text form.
  public var description: String {
    let text = unsafe gst_caps_to_string(raw)
    defer { unsafe g_free(text) }
    return unsafe text.map { unsafe String(cString: $0) } ?? ""
  }
}

extension Caps: @unchecked Sendable {}
