// SPDX-License-Identifier: MPL-2.0
public import CGStreamer
import CGStreamerAudio
public import GStreamer

/// A filter of raw audio that changes samples in place (`GstAudioFilter`, gst/audio/gstaudiofilter.h): the format is the
/// same on both sides, and the base class reads it.
///
/// Every method chains to the base class by default.
open class AudioFilter: Element {
  private var transform: UnsafeMutablePointer<GstBaseTransform> {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstBaseTransform.self)
  }

  // MARK: To override

  /// Data flow is about to begin. The stream's state is set up in `prepareToStream`.
  open func start() throws(ElementError) {}
  /// Data flow has ended.
  open func stop() {}
  /// Sets the format, before the first samples and whenever it changes. Returns whether it is supported.
  open func setFormat(_ info: AudioInfo) -> Bool { true }
  /// Changes samples in place: `Buffer.mapForWriting()` has them, as ``info`` describes. Not called in passthrough.
  /// - Throws: `FlowError.dropped` to leave the buffer out.
  open func changeSamples(_ buffer: inout Buffer) throws(FlowError) {}
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
  /// The current format; `nil` before the first. It belongs to the streaming thread.
  public var info: AudioInfo? {
    let filter = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstAudioFilter.self)
    let info = unsafe AudioInfo(filter.pointee.info)
    return info.sampleRate > 0 ? info : nil
  }
  /// Whether to push buffers unchanged, without a call of the filter.
  public func setPassthrough(_ passthrough: Bool) {
    unsafe gst_base_transform_set_passthrough(transform, passthrough ? 1 : 0)
  }

  // MARK: Trampolines

  override open class var requiredTemplates: [String] { ["sink", "src"] }
  /// `GstAudioFilter`.
  override open class var parentType: (type: GType, instanceSize: Int) {
    unsafe (gst_audio_filter_get_type(), MemoryLayout<GstAudioFilter>.stride)
  }

  nonisolated(unsafe) private static let parent = unsafe VirtualMethod.parentClass(
    gst_audio_filter_get_type(), as: GstBaseTransformClass.self)

  /// `GstBaseTransform` is the first part of a `GstAudioFilter`.
  private static func object(
    _ transform: UnsafeMutablePointer<GstBaseTransform>?
  ) -> UnsafeMutablePointer<GstAudioFilter>? {
    unsafe transform.map { unsafe UnsafeMutableRawPointer($0).assumingMemoryBound(to: GstAudioFilter.self) }
  }

  /// Installs the methods above.
  @unsafe override open class func installVirtualMethods(in classStructure: UnsafeMutableRawPointer) {
    let methods = unsafe classStructure.assumingMemoryBound(to: GstBaseTransformClass.self)
    _ = unsafe parent
    unsafe methods.pointee.start = { unsafe VirtualMethod.attempt(AudioFilter.object($0), AudioFilter.start) }
    unsafe methods.pointee.stop = { unsafe VirtualMethod.perform(AudioFilter.object($0), AudioFilter.stop) }
    unsafe methods.pointee.sink_event = {
      unsafe VirtualMethod.consume(AudioFilter.object($0), $1, AudioFilter.sinkEvent)
    }
    unsafe methods.pointee.src_event = {
      unsafe VirtualMethod.consume(AudioFilter.object($0), $1, AudioFilter.sourceEvent)
    }
    // In passthrough the samples belong to others too.
    unsafe methods.pointee.transform_ip_on_passthrough = 0
    unsafe methods.pointee.transform_ip = {
      unsafe VirtualMethod.flow(AudioFilter.object($0), changing: $1, AudioFilter.changeSamples)
    }
    let filterMethods = unsafe classStructure.assumingMemoryBound(to: GstAudioFilterClass.self)
    unsafe filterMethods.pointee.setup = { filter, info in
      guard let element = unsafe swiftObject(filter, as: AudioFilter.self), let info = unsafe info else { return 0 }
      return element.setFormat(unsafe AudioInfo(info.pointee)) ? 1 : 0
    }
  }
}
