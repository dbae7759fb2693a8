// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

/// What a user can set on the decoder.
struct H264DecodeSettings: Sendable {
  /// `thread-type`.
  enum ThreadType: Int32, PropertyEnumeration {
    case automatic, frame, slice
    // A value of its own: stock has no word for it.
    case none

    static var typeName: StaticString { "GstSwiftH264DecodeThreadType" }

    var nick: PropertyNick {
      switch self {
      case .automatic: PropertyNick("auto", "Frames; slices when the pipeline is live or low-delay is set")
      case .frame: PropertyNick("frame", "Frames: a frame of delay for each thread but one")
      case .slice: PropertyNick("slice", "Slices of a picture: no delay")
      case .none: PropertyNick("none", "No threads")
      }
    }

    var sessionValue: SessionConfiguration.ThreadType {
      switch self {
      case .automatic: .automatic
      case .frame: .frame
      case .slice: .slice
      case .none: .none
      }
    }
  }

  /// `skip-frame`.
  enum SkipFrame: Int32, PropertyEnumeration {
    case none, bidirectional, nonReference, nonKey

    static var typeName: StaticString { "GstSwiftH264DecodeSkipFrame" }

    var nick: PropertyNick {
      switch self {
      case .none: PropertyNick("none", "Skip nothing")
      case .bidirectional: PropertyNick("bidirectional", "Skip B-frames")
      case .nonReference: PropertyNick("non-reference", "Skip pictures that no other refers to")
      case .nonKey: PropertyNick("non-key", "Skip everything but random access points")
      }
    }

    var sessionValue: SessionConfiguration.SkipFrames {
      switch self {
      case .none: .none
      case .bidirectional: .bidirectional
      case .nonReference: .nonReference
      case .nonKey: .nonKey
      }
    }
  }

  var maximumThreads: Int32 = 0
  var threadType = ThreadType.automatic
  var outputCorrupt = true
  var skipFrame = SkipFrame.none
  var lowDelay = false
  var sessionRetries: Int32 = 5

  static var properties: [Setting<Self>] {
    [
      .int("max-threads", \.maximumThreads, in: 0...64, "Threads to decode with (0 = as many as processors)"),
      .enumeration("thread-type", \.threadType, "What threads share"),
      .boolean(
        "output-corrupt", \.outputCorrupt, "Put damaged pictures out, flagged as corrupted, rather than drop them"),
      .enumeration("skip-frame", \.skipFrame, "Pictures not to decode"),
      .boolean(
        "low-delay", \.lowDelay, "Put a picture out before the next one comes where the stream's order allows it"),
      .int("session-retries", \.sessionRetries, in: 0...100, "Attempts to bring back a codec that was lost"),
    ]
  }
}
