// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension PipelineElement {
  /// Makes a bin, several elements that are used as one, from a description as on a gst-launch-1.0 line.
  ///
  /// ```swift
  /// let scale = try PipelineElement(bin: "videoconvert ! videoscale ! video/x-raw,width=320,height=180")
  /// ```
  ///
  /// The first unlinked sink pad in it becomes the bin's pad `sink`, the first unlinked source pad its `src`; others are
  /// added by ``addGhostPad(_:of:)``.
  /// - Throws: `invalidDescription`, or `noSuchElement` for one that is not installed.
  public init(bin description: String, name: String? = nil) throws(PipelineError) {
    self.init(try unsafe ObjectReference(sinking: parse(description, asBin: true)))
    if let name { unsafe gst_object_set_name(reference.raw.assumingMemoryBound(to: GstObject.self), name) }
  }

  /// The element of this name in a bin, or in a bin in it.
  /// - Throws: `wrongKind` when this is no bin, `noSuchElement`.
  public func element(_ name: String) throws(PipelineError) -> PipelineElement {
    try checkIsBin()
    guard let element = unsafe gst_bin_get_by_name(reference.raw.assumingMemoryBound(to: GstBin.self), name) else {
      throw .noSuchElement(name)
    }
    return PipelineElement(unsafe ObjectReference(owning: element))
  }

  /// Adds a pad to a bin that stands for an unlinked pad of an element in it.
  ///
  /// - Parameters:
  ///   - name: the name of the bin's pad.
  ///   - pad: of an element directly in the bin.
  /// - Throws: `wrongKind` when this is no bin, `notAdded` when the name is taken, `notLinkable` when the pad is linked.
  @discardableResult
  public func addGhostPad(_ name: String, of pad: PipelinePad) throws(PipelineError) -> PipelinePad {
    try checkIsBin()
    guard self.pad(name) == nil else { throw .notAdded(name) }
    guard pad.peer == nil, let ghost = unsafe gst_ghost_pad_new(name, pad.reference.pad) else {
      throw .notLinkable(from: name, to: pad.name)
    }
    let result = PipelinePad(unsafe ObjectReference(sinking: ghost))
    unsafe gst_pad_set_active(ghost, 1)
    guard unsafe gst_element_add_pad(raw, ghost) != 0 else { throw .notAdded(name) }
    return result
  }

  private func checkIsBin() throws(PipelineError) {
    guard unsafe cgst_is_bin(reference.raw) != 0 else { throw .wrongKind(element: name, kind: kind, expected: "bin") }
  }
}

/// Makes the elements of a description: one, or a pipeline of several; or always a bin, with ghosts of the unlinked pads.
@unsafe func parse(_ description: String, asBin isBin: Bool) throws(PipelineError) -> UnsafeMutablePointer<GstElement> {
  Runtime.initialise()
  var error: UnsafeMutablePointer<GError>?
  let context = unsafe gst_parse_context_new()
  let flags = GST_PARSE_FLAG_FATAL_ERRORS
  let parsed =
    unsafe isBin
    ? gst_parse_bin_from_description_full(description, 1, context, flags, &error)
    : gst_parse_launch_full(description, context, flags, &error)
  defer {
    unsafe g_clear_error(&error)
    unsafe gst_parse_context_free(context)
  }
  if let parsed = unsafe parsed { return unsafe parsed }
  if let missing = unsafe gst_parse_context_get_missing_elements(context) {
    defer { unsafe g_strfreev(missing) }
    if let name = unsafe missing.pointee { throw .noSuchElement(unsafe String(cString: name)) }
  }
  throw .invalidDescription(unsafe error.map { unsafe String(cString: $0.pointee.message) } ?? description)
}
