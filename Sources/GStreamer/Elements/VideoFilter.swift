// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// A filter of raw frames (`GstVideoFilter`): the base class handles negotiation, allocation and mapping.
open class VideoFilter: Element {
  private var transform: UnsafeMutablePointer<GstBaseTransform> {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstBaseTransform.self)
  }

  // MARK: To override

  /// Whether frames are changed in place (`changePicture`), which requires the same format on both sides, rather than
  /// copied (`transform`).
  open class var worksInPlace: Bool { true }

  /// Data flow is about to begin. The stream's state is set up in `prepareToStream`.
  open func start() throws(ElementError) {}
  /// Data flow has ended.
  open func stop() {}
  /// Sets the negotiated formats. Returns whether they are supported.
  open func setFormat(input: VideoInfo, output: VideoInfo) -> Bool { true }
  /// Changes a frame in place, where ``worksInPlace`` is true. Not called in passthrough.
  open func changePicture(_ picture: inout VideoFrameMap) throws(FlowError) {}
  /// Fills an output frame. Called only where ``worksInPlace`` is false; otherwise an override has no effect.
  open func transform(_ input: borrowing VideoFrameMap, into output: inout VideoFrameMap) throws(FlowError) {}
  /// The caps of the other side that caps of this side allow: by default the same. Called for both sides, also with
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
  /// An event from upstream. Chains to the base class by default.
  open func sinkEvent(_ event: consuming Event) -> Bool {
    unsafe Self.parent.pointee.sink_event(transform, event.take()) != 0
  }
  /// An event from downstream. Chains to the base class by default.
  open func sourceEvent(_ event: consuming Event) -> Bool {
    unsafe Self.parent.pointee.src_event(transform, event.take()) != 0
  }

  // MARK: Services of the base class

  /// The sink pad.
  public var sinkPad: Pad { unsafe Pad(lent: transform.pointee.sinkpad) }
  /// The source pad.
  public var sourcePad: Pad { unsafe Pad(lent: transform.pointee.srcpad) }
  /// The current segment.
  public var segment: Segment { unsafe Segment(transform.pointee.segment) }
  /// Whether to push frames unchanged, without a call of the filter.
  public func setPassthrough(_ passthrough: Bool) {
    unsafe gst_base_transform_set_passthrough(transform, passthrough ? 1 : 0)
  }

  // MARK: Trampolines

  override open class var requiredTemplates: [String] { ["sink", "src"] }
  /// `GstVideoFilter`.
  override open class var parentType: (type: GType, instanceSize: Int) {
    unsafe (gst_video_filter_get_type(), MemoryLayout<GstVideoFilter>.stride)
  }

  nonisolated(unsafe) private static let parent = unsafe VirtualMethod.parentClass(
    gst_video_filter_get_type(), as: GstBaseTransformClass.self)

  /// `GstBaseTransform` is the first part of a `GstVideoFilter`.
  private static func object(
    _ transform: UnsafeMutablePointer<GstBaseTransform>?
  ) -> UnsafeMutablePointer<GstVideoFilter>? {
    unsafe transform.map { unsafe UnsafeMutableRawPointer($0).assumingMemoryBound(to: GstVideoFilter.self) }
  }

  /// Installs the methods above.
  @unsafe override open class func installVirtualMethods(in classStructure: UnsafeMutableRawPointer) {
    let methods = unsafe classStructure.assumingMemoryBound(to: GstBaseTransformClass.self)
    _ = unsafe parent
    unsafe methods.pointee.start = { unsafe VirtualMethod.attempt(VideoFilter.object($0), VideoFilter.start) }
    unsafe methods.pointee.stop = { unsafe VirtualMethod.perform(VideoFilter.object($0), VideoFilter.stop) }
    unsafe methods.pointee.transform_caps = { transform, direction, caps, filter in
      guard let element = unsafe swiftObject(VideoFilter.object(transform), as: VideoFilter.self),
        let caps = unsafe caps
      else { return unsafe gst_caps_new_empty() }
      let held = unsafe Caps.retaining(optional: filter)
      return unsafe Caps.lending(caps) {
        element.transformCaps($0, on: Pad.Direction(direction), filter: held)
      }.take()
    }
    unsafe methods.pointee.sink_event = {
      unsafe VirtualMethod.consume(VideoFilter.object($0), $1, VideoFilter.sinkEvent)
    }
    unsafe methods.pointee.src_event = {
      unsafe VirtualMethod.consume(VideoFilter.object($0), $1, VideoFilter.sourceEvent)
    }
    let filterMethods = unsafe classStructure.assumingMemoryBound(to: GstVideoFilterClass.self)
    unsafe filterMethods.pointee.set_info = { filter, _, input, _, output in
      guard let element = unsafe swiftObject(filter, as: VideoFilter.self), let input = unsafe input,
        let output = unsafe output
      else { return 0 }
      return unsafe element.setFormat(input: VideoInfo(input.pointee), output: VideoInfo(output.pointee)) ? 1 : 0
    }
    // In passthrough the frame belongs to others too; GstVideoFilter would map it for reading and call anyway.
    unsafe methods.pointee.transform_ip_on_passthrough = 0
    if worksInPlace {
      unsafe filterMethods.pointee.transform_frame_ip = { filter, frame in
        guard let element = unsafe swiftObject(filter, as: VideoFilter.self), let frame = unsafe frame else {
          return GST_FLOW_ERROR
        }
        return FlowError.code { () throws(FlowError) in
          try unsafe VideoFrameMap.lending(frame) { (picture) throws(FlowError) in try element.changePicture(&picture) }
        }
      }
    } else {
      unsafe filterMethods.pointee.transform_frame = { filter, input, output in
        guard let element = unsafe swiftObject(filter, as: VideoFilter.self), let input = unsafe input,
          let output = unsafe output
        else { return GST_FLOW_ERROR }
        return FlowError.code { () throws(FlowError) in
          try unsafe VideoFrameMap.lending(input) { (input) throws(FlowError) in
            try unsafe VideoFrameMap.lending(output) { (output) throws(FlowError) in
              try element.transform(input, into: &output)
            }
          }
        }
      }
    }
  }
}
