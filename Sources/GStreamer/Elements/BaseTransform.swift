// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// A transform of buffers (`GstBaseTransform`): the base class handles negotiation, passthrough and allocation.
///
/// Every method chains to the base class by default.
open class BaseTransform: Element {
  private var transform: UnsafeMutablePointer<GstBaseTransform> {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstBaseTransform.self)
  }

  /// The methods that the class overrides: the base class proceeds by that.
  public enum Mode: Sendable {
    /// `transformInPlace` alone.
    case inPlace
    /// `transform(_:into:)`, into a buffer that the base class allocates, of the input's size or `outputSize`.
    case copying
    /// `submitInput`, `generateOutput` and `nextOutput`, for any number of outputs an input.
    case generating
  }

  // MARK: To override

  /// The methods that this class overrides. `inPlace` by default.
  open class var mode: Mode { .inPlace }
  /// Whether `transformInPlace` is called in passthrough, too; there, it must not change the buffer.
  open class var transformsInPassthrough: Bool { false }

  /// Data flow is about to begin. Must not touch the state of the stream: the base class calls this when the sink pad
  /// has begun to take data, which upstream may be pushing already. That is for `prepareToStream`.
  open func start() throws(ElementError) {}
  /// Data flow has ended.
  open func stop() {}
  /// Returns the caps that caps of one side allow on the other: by default the same. Called for both sides, also with
  /// caps that are not fixed.
  /// - Parameters:
  ///   - caps: possible caps of a side.
  ///   - side: the side that `caps` are of.
  ///   - filter: the caps that the neighbor of the other side accepts, in its order of preference. The result is the
  ///     intersection of the filter with the possible caps. Unwrapped with `switch`, because it is lent.
  open func transformCaps(_ caps: borrowing Caps, on side: Pad.Direction, filter: borrowing Caps?) -> Caps {
    guard let result = unsafe Self.parent.pointee.transform_caps(transform, side.raw, caps.raw, Caps.raw(filter))
    else { return .empty() }
    return unsafe Caps(owning: result)
  }
  /// Chooses one of the possible caps of the other side.
  open func fixateCaps(_ caps: borrowing Caps, on side: Pad.Direction, other: consuming Caps) -> Caps {
    guard let result = unsafe Self.parent.pointee.fixate_caps(transform, side.raw, caps.raw, other.take())
    else { return .empty() }
    return unsafe Caps(owning: result)
  }
  /// Whether one side accepts these caps.
  open func acceptCaps(_ caps: borrowing Caps, on side: Pad.Direction) -> Bool {
    unsafe Self.parent.pointee.accept_caps(transform, side.raw, caps.raw) != 0
  }
  /// Sets the negotiated caps. Returns whether they are supported.
  open func setCaps(input: borrowing Caps, output: borrowing Caps) -> Bool { true }
  /// Changes a buffer in place.
  /// - Throws: `FlowError.dropped` to leave the buffer out.
  open func transformInPlace(_ buffer: inout Buffer) throws(FlowError) {}
  /// The size in bytes of the output for an input of this size, in `copying` mode: by default the same.
  /// - Returns: `nil` when it is not known, which stops data flow.
  open func outputSize(forInput size: Int, input: borrowing Caps, output: borrowing Caps) -> Int? { size }
  /// Fills an output buffer, in `copying` mode.
  open func transform(_ input: borrowing Buffer, into output: inout Buffer) throws(FlowError) {}
  /// Takes an input buffer in `generating` mode. The base class negotiates when it must and keeps the buffer for
  /// `generateOutput`; an override that does not chain keeps it by itself, for `nextOutput`.
  /// - Parameters:
  ///   - input: the buffer.
  ///   - isDiscontinuous: whether something was lost before the buffer.
  /// - Throws: `FlowError.dropped` to leave the buffer out.
  open func submitInput(_ input: consuming Buffer, isDiscontinuous: Bool) throws(FlowError) {
    let submit = unsafe Self.parent.pointee.submit_input_buffer
    let flow = unsafe submit?(transform, isDiscontinuous ? 1 : 0, input.take())
    guard let flow, flow != GST_FLOW_OK else { return }
    throw FlowError(rawValue: flow.rawValue)
  }
  /// Returns the first output for an input buffer in `generating` mode, or `nil` when there is none yet.
  open func generateOutput(_ input: consuming Buffer) throws(FlowError) -> Buffer? { .some(input) }
  /// Returns further output in `generating` mode. Called after each output, until it returns `nil`.
  open func nextOutput() throws(FlowError) -> Buffer? { nil }
  /// An event from upstream. Chains to the base class by default.
  open func sinkEvent(_ event: consuming Event) -> Bool {
    unsafe Self.parent.pointee.sink_event(transform, event.take()) != 0
  }
  /// An event from downstream. Chains to the base class by default.
  open func sourceEvent(_ event: consuming Event) -> Bool {
    unsafe Self.parent.pointee.src_event(transform, event.take()) != 0
  }
  /// A query from either side, on any thread. Chains to the base class by default.
  open func query(_ query: borrowing Query, on side: Pad.Direction) -> Bool {
    unsafe Self.parent.pointee.query(transform, side.raw, query.raw) != 0
  }
  /// Answers upstream's allocation query. `decided` is downstream's, `nil` in passthrough.
  open func proposeAllocation(decided: borrowing Query?, _ query: borrowing Query) -> Bool {
    unsafe Self.parent.pointee.propose_allocation(transform, Query.raw(decided), query.raw) != 0
  }

  // MARK: Services of the base class

  /// The sink pad.
  public var sinkPad: Pad { unsafe Pad(lent: transform.pointee.sinkpad) }
  /// The source pad.
  public var sourcePad: Pad { unsafe Pad(lent: transform.pointee.srcpad) }
  /// The current segment.
  public var segment: Segment { unsafe Segment(transform.pointee.segment) }

  /// Whether to push buffers unchanged, without a call of the transform.
  public func setPassthrough(_ passthrough: Bool) {
    unsafe gst_base_transform_set_passthrough(transform, passthrough ? 1 : 0)
  }
  /// Whether buffers are pushed unchanged.
  public var isPassthrough: Bool { unsafe gst_base_transform_is_passthrough(transform) != 0 }

  /// Changes the source pad's caps in mid-stream, before the buffer that needs them.
  /// - Throws: `.notNegotiated` when downstream refuses.
  public func updateSourceCaps(_ caps: borrowing Caps) throws(FlowError) {
    guard unsafe gst_base_transform_update_src_caps(transform, caps.raw) != 0 else { throw .notNegotiated }
  }

  /// Requests negotiation before the next buffer.
  public func reconfigureSource() { unsafe gst_base_transform_reconfigure_src(transform) }

  // MARK: Trampolines

  override open class var requiredTemplates: [String] { ["sink", "src"] }
  override open class var parentType: (type: GType, instanceSize: Int) {
    unsafe (gst_base_transform_get_type(), MemoryLayout<GstBaseTransform>.stride)
  }

  nonisolated(unsafe) fileprivate static let parent = unsafe VirtualMethod.parentClass(
    gst_base_transform_get_type(), as: GstBaseTransformClass.self)

  @unsafe override open class func installVirtualMethods(in classStructure: UnsafeMutableRawPointer) {
    let methods = unsafe classStructure.assumingMemoryBound(to: GstBaseTransformClass.self)
    _ = unsafe parent
    unsafe methods.pointee.start = { unsafe VirtualMethod.attempt($0, BaseTransform.start) }
    unsafe methods.pointee.stop = { unsafe VirtualMethod.perform($0, BaseTransform.stop) }
    unsafe methods.pointee.transform_caps = { transform, direction, caps, filter in
      guard let element = unsafe swiftObject(transform, as: BaseTransform.self), let caps = unsafe caps else {
        return unsafe gst_caps_new_empty()
      }
      let side = Pad.Direction(direction)
      let held = unsafe Caps.retaining(optional: filter)
      return unsafe Caps.lending(caps) { element.transformCaps($0, on: side, filter: held) }.take()
    }
    unsafe methods.pointee.fixate_caps = { transform, direction, caps, other in
      guard let element = unsafe swiftObject(transform, as: BaseTransform.self), let caps = unsafe caps,
        let other = unsafe other
      else { return unsafe gst_caps_new_empty() }
      let owned = unsafe Caps(owning: other)
      // The compiler cannot prove that the closure runs only once: the optional passes ownership of the caps.
      var handedOver = Optional(owned)
      return unsafe Caps.lending(caps) { caps in
        guard let other = handedOver.take() else { return Caps.empty() }
        return element.fixateCaps(caps, on: Pad.Direction(direction), other: other)
      }.take()
    }
    unsafe methods.pointee.accept_caps = { transform, direction, caps in
      guard let element = unsafe swiftObject(transform, as: BaseTransform.self), let caps = unsafe caps else {
        return 0
      }
      return unsafe Caps.lending(caps) { element.acceptCaps($0, on: Pad.Direction(direction)) } ? 1 : 0
    }
    unsafe methods.pointee.set_caps = { transform, input, output in
      guard let element = unsafe swiftObject(transform, as: BaseTransform.self), let input = unsafe input,
        let output = unsafe output
      else { return 0 }
      let accepted = unsafe Caps.lending(input) { input in
        unsafe Caps.lending(output) { output in element.setCaps(input: input, output: output) }
      }
      return accepted ? 1 : 0
    }
    unsafe methods.pointee.sink_event = { unsafe VirtualMethod.consume($0, $1, BaseTransform.sinkEvent) }
    unsafe methods.pointee.src_event = { unsafe VirtualMethod.consume($0, $1, BaseTransform.sourceEvent) }
    unsafe methods.pointee.query = { transform, direction, query in
      guard let element = unsafe swiftObject(transform, as: BaseTransform.self), let query = unsafe query else {
        return 0
      }
      return unsafe Query.lending(query) { element.query($0, on: Pad.Direction(direction)) } ? 1 : 0
    }
    unsafe methods.pointee.propose_allocation = { transform, decided, query in
      guard let element = unsafe swiftObject(transform, as: BaseTransform.self), let query = unsafe query else {
        return 0
      }
      let held = unsafe Query.retaining(optional: decided)
      return unsafe Query.lending(query) { element.proposeAllocation(decided: held, $0) } ? 1 : 0
    }
    unsafe methods.pointee.transform_ip_on_passthrough = transformsInPassthrough ? 1 : 0
    switch mode {
    case .inPlace: unsafe installTransformInPlace(methods)
    case .copying: unsafe installTransform(methods)
    case .generating: unsafe installGenerateOutput(methods)
    }
  }

  private class func installTransformInPlace(_ methods: UnsafeMutablePointer<GstBaseTransformClass>) {
    unsafe methods.pointee.transform_ip = {
      unsafe VirtualMethod.flow($0, changing: $1, BaseTransform.transformInPlace)
    }
  }

  private class func installTransform(_ methods: UnsafeMutablePointer<GstBaseTransformClass>) {
    unsafe methods.pointee.transform_size = { transform, direction, caps, size, other, otherSize in
      // The base class allocates outputs, nothing else.
      guard direction == GST_PAD_SINK, let element = unsafe swiftObject(transform, as: BaseTransform.self),
        let caps = unsafe caps, let other = unsafe other
      else { return 0 }
      let answer = unsafe Caps.lending(caps) { input in
        unsafe Caps.lending(other) { output in
          element.outputSize(forInput: Int(clamping: size), input: input, output: output)
        }
      }
      guard let answer, let otherSize = unsafe otherSize else { return 0 }
      unsafe otherSize.pointee = gsize(max(answer, 0))
      return 1
    }
    unsafe methods.pointee.transform = { transform, input, output in
      guard let element = unsafe swiftObject(transform, as: BaseTransform.self), let input = unsafe input,
        let output = unsafe output
      else { return GST_FLOW_ERROR }
      var owned = unsafe Buffer(owning: output)
      let flow = FlowError.code { () throws(FlowError) in
        try unsafe Buffer.lending(input) { (input) throws(FlowError) in try element.transform(input, into: &owned) }
      }
      let written = unsafe owned.take()
      unsafe precondition(written == output, LentObject.replaced)
      return flow
    }
  }

  private class func installGenerateOutput(_ methods: UnsafeMutablePointer<GstBaseTransformClass>) {
    unsafe methods.pointee.submit_input_buffer = { transform, isDiscontinuous, input in
      guard let element = unsafe swiftObject(transform, as: BaseTransform.self), let input = unsafe input else {
        return GST_FLOW_ERROR
      }
      return FlowError.code { () throws(FlowError) in
        try element.submitInput(unsafe Buffer(owning: input), isDiscontinuous: isDiscontinuous != 0)
      }
    }
    // The base class calls this until there is no output; the queued buffer becomes ours.
    unsafe methods.pointee.generate_output = { transform, output in
      guard let element = unsafe swiftObject(transform, as: BaseTransform.self), let transform = unsafe transform,
        let output = unsafe output
      else { return GST_FLOW_ERROR }
      unsafe output.pointee = nil
      if element.isPassthrough { return unsafe BaseTransform.parent.pointee.generate_output(transform, output) }
      let input = unsafe transform.pointee.queued_buf
      unsafe transform.pointee.queued_buf = nil
      return FlowError.code { () throws(FlowError) in
        let result =
          if let input = unsafe input {
            try unsafe element.generateOutput(Buffer(owning: input))
          } else {
            try element.nextOutput()
          }
        if let result { unsafe output.pointee = result.take() }
      }
    }
  }
}
