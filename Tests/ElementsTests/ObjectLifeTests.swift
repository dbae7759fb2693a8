// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Foundation
import HarnessSupport
import Testing

@testable import Elements
@testable import GStreamer
@testable import VideoDecoding

/// GStreamer's tracer counts GObjects. These tests watch the Swift objects: elements must be released with their
/// GObjects, the session and its codec when the element stops.
@Suite(.serialized) struct ObjectLifeTests {
  init() { #expect(Registration.succeeded) }

  /// A weak reference to an object.
  private struct Weak<Object: AnyObject> {
    weak var object: Object?
    init(_ object: Object?) { self.object = object }
  }

  private static func media(_ name: String) -> String {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "Media/\(name)")
      .path
  }

  /// The Swift half of an element.
  @unsafe private func swiftHalf<T: Element>(_ element: UnsafeMutablePointer<GstElement>, as type: T.Type) -> T {
    unsafe swiftObject(UnsafeMutableRawPointer(element), behind: type.parentType.instanceSize, as: type)
  }

  /// The Swift half of the element of this name in a pipeline.
  @unsafe private func swiftHalf<T: Element>(
    of name: String, in pipeline: UnsafeMutablePointer<GstElement>, as type: T.Type
  ) throws -> Weak<T> {
    let bin = unsafe UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
    let element = try unsafe #require(gst_bin_get_by_name(bin, name))
    defer { unsafe gst_object_unref(element) }
    return unsafe Weak(swiftHalf(element, as: type))
  }

  /// An element is released whether or not it was ever started.
  @Test(arguments: ElementStateTests.names)
  func freesEachElementItMakes(_ name: String) throws {
    let element = try unsafe #require(gst_element_factory_make(name, nil))
    unsafe gst_object_ref_sink(element)
    let half: Weak<Element> =
      switch name {
      case "swifth264parse": unsafe Weak(swiftHalf(element, as: H264Parse.self))
      case "swifth264repack": unsafe Weak(swiftHalf(element, as: H264Repack.self))
      case "swifth265parse": unsafe Weak(swiftHalf(element, as: H265Parse.self))
      case "swifth265repack": unsafe Weak(swiftHalf(element, as: H265Repack.self))
      case "swifth265dec": unsafe Weak(swiftHalf(element, as: H265Decode.self))
      default: unsafe Weak(swiftHalf(element, as: H264Decode.self))
      }
    #expect(half.object != nil)
    unsafe gst_object_unref(element)
    #expect(half.object == nil)
  }

  /// Played to the end, and stopped at the first picture.
  @Test(
    arguments: [
      "swifth264dec name=dec max-threads=1", "swifth264dec name=dec max-threads=3 thread-type=frame",
      "swifth264dec name=dec ! video/x-raw,format=NV12", "swifth264dec name=dec ! video/x-raw,format=RGB16",
    ].flatMap { decoder in StreamCodec.allCases.map { ($0, $0.chain(decoder)) } }, [true, false])
  func swiftObjectsAreFreedWithThePipeline(chain: (codec: StreamCodec, decoder: String), playsToTheEnd: Bool) throws {
    switch chain.codec {
    case .h264:
      try nothingOutlives(chain, playsToTheEnd, H264Parse.self, H264Repack.self, H264Decode.self)
    case .h265:
      try nothingOutlives(chain, playsToTheEnd, H265Parse.self, H265Repack.self, H265Decode.self)
    }
  }

  private func nothingOutlives<Parse: Element, Repack: Element, Decode: DecoderElement>(
    _ chain: (codec: StreamCodec, decoder: String), _ playsToTheEnd: Bool, _: Parse.Type, _: Repack.Type,
    _: Decode.Type
  ) throws {
    let (codec, decoder) = chain
    let description =
      "filesrc location=\(Self.media("clip.\(codec)")) ! \(codec.element)parse name=parse"
      + " ! \(codec.element)repack name=repack ! \(codec.mediaType),stream-format=\(codec.outOfBand) ! \(decoder) ! fakesink"
    let pipeline = try unsafe #require(gst_parse_launch(description, nil))
    let parse = try unsafe swiftHalf(of: "parse", in: pipeline, as: Parse.self)
    let repack = try unsafe swiftHalf(of: "repack", in: pipeline, as: Repack.self)
    let decode = try unsafe swiftHalf(of: "dec", in: pipeline, as: Decode.self)
    #expect(parse.object != nil && repack.object != nil && decode.object != nil)

    unsafe gst_element_set_state(pipeline, playsToTheEnd ? GST_STATE_PLAYING : GST_STATE_PAUSED)
    if playsToTheEnd {
      #expect(try unsafe waitForTheEnd(of: pipeline) == GST_MESSAGE_EOS)
    } else {
      #expect(unsafe gst_element_get_state(pipeline, nil, nil, 60_000_000_000) == GST_STATE_CHANGE_SUCCESS)
    }
    // The streaming thread has ended or waits in the sink: its objects can be read.
    let allocator = Weak(decode.object?.core.output.allocator)
    let session = Weak(decode.object?.core.session.current)
    let bridge = Weak(session.object?.bridge)
    let context = Weak<AnyObject>(session.object?.codec)
    #expect(allocator.object != nil && session.object != nil && bridge.object != nil && context.object != nil)

    unsafe gst_element_set_state(pipeline, GST_STATE_NULL)
    // The element exists and may be started again: the codec must be released all the same.
    #expect(decode.object != nil)
    #expect(allocator.object == nil && session.object == nil && bridge.object == nil && context.object == nil)
    unsafe gst_object_unref(pipeline)
    #expect(parse.object == nil && repack.object == nil && decode.object == nil)
  }

  /// Each start makes a session, and those before are released.
  @Test(arguments: StreamCodec.allCases) func freesTheSessionOfEveryStart(codec: StreamCodec) throws {
    switch codec {
    case .h264: try startsAgainAndAgain(codec, H264Decode.self)
    case .h265: try startsAgainAndAgain(codec, H265Decode.self)
    }
  }

  private func startsAgainAndAgain<Decode: DecoderElement>(_ codec: StreamCodec, _: Decode.Type) throws {
    let description = codec.chain(
      "filesrc location=\(Self.media("clip.h264")) ! swifth264parse ! swifth264dec name=dec max-threads=1 ! fakesink")
    let pipeline = try unsafe #require(gst_parse_launch(description, nil))
    defer {
      unsafe gst_element_set_state(pipeline, GST_STATE_NULL)
      unsafe gst_object_unref(pipeline)
    }
    let decode = try unsafe swiftHalf(of: "dec", in: pipeline, as: Decode.self)
    var sessions: [Weak<DecompressionSession>] = []
    for _ in 0..<4 {
      unsafe gst_element_set_state(pipeline, GST_STATE_PLAYING)
      #expect(try unsafe waitForTheEnd(of: pipeline) == GST_MESSAGE_EOS)
      sessions.append(Weak(decode.object?.core.session.current))
      #expect(sessions.map { $0.object != nil } == sessions.indices.map { $0 == sessions.count - 1 })
      unsafe gst_element_set_state(pipeline, GST_STATE_READY)
    }
    #expect(sessions.allSatisfy { $0.object == nil })
  }

  @unsafe private func waitForTheEnd(of pipeline: UnsafeMutablePointer<GstElement>) throws -> GstMessageType {
    let bus = try unsafe #require(gst_element_get_bus(pipeline))
    defer { unsafe gst_object_unref(bus) }
    let kinds = GstMessageType(rawValue: GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
    let message = try unsafe #require(gst_bus_timed_pop_filtered(bus, 60_000_000_000, kinds))
    defer { unsafe gst_message_unref(message) }
    return unsafe message.pointee.type
  }
}
