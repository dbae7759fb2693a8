// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

extension DecoderSettings {
  /// `skip-frame`.
  enum SkipFrame: Int32, PropertyEnumeration {
    case none, bidirectional, nonReference, nonKey

    static var typeName: StaticString { "GstSwiftDecoderSkipFrame" }

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

  /// Pictures to skip: those that the user has excluded, or that would be late.
  func skipFrames(for request: FrameRequest) -> SessionConfiguration.SkipFrames {
    let wanted = skipFrame.sessionValue
    return wanted == .none && (request.isLate || request.trickMode.allowsSkipping) ? .nonReference : wanted
  }
}
