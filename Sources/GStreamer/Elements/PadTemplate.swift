// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A pad template: a pad that the element has or may have, with the caps that it may carry.
public struct PadTemplate: Sendable {
  /// When the pad exists (`GstPadPresence`).
  public enum Presence: Sendable {
    /// Always; the base class makes it.
    case always
    /// Once the stream is known: the element calls `addPad`.
    case sometimes
    /// When it is requested: `requestPad` makes it.
    case request
  }

  let direction: Pad.Direction
  let name: String
  let caps: String
  let presence: Presence

  /// A sink pad, with caps as on a gst-launch-1.0 line. The name of a pad that is not always there contains a place for
  /// a number: `sink_%u`.
  public static func sink(_ caps: String, named name: String = "sink", _ presence: Presence = .always) -> Self {
    Self(direction: .sink, name: name, caps: caps, presence: presence)
  }
  /// A source pad, with caps as on a gst-launch-1.0 line. The name of a pad that is not always there contains a place
  /// for a number: `src_%u`.
  public static func source(_ caps: String, named name: String = "src", _ presence: Presence = .always) -> Self {
    Self(direction: .source, name: name, caps: caps, presence: presence)
  }
}
