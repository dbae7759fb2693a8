// SPDX-License-Identifier: MPL-2.0
public import GStreamer

/// The elements of this project.
public enum Elements {
  /// The elements' classes, their names on a gst-launch-1.0 line, and their types' names.
  package static let all: [(type: Element.Type, name: String, typeName: String)] = [
    (H264Parse.self, "swifth264parse", "GstSwiftH264Parse"),
    (H264Repack.self, "swifth264repack", "GstSwiftH264Repack"),
    (H265Parse.self, "swifth265parse", "GstSwiftH265Parse"),
    (H265Repack.self, "swifth265repack", "GstSwiftH265Repack"),
    (H264Decode.self, "swifth264dec", "GstSwiftH264Dec"),
    (H265Decode.self, "swifth265dec", "GstSwiftH265Dec"),
  ]

  /// Registers them all, in a plugin or (with `nil`) in this process alone. Returns whether that worked.
  public static func register(in plugin: Plugin?) -> Bool {
    do throws(RegistrationError) {
      for (type, name, typeName) in all {
        try type.register(as: name, typeName: typeName, rank: .marginal, in: plugin, isChecked: true)
      }
      return true
    } catch { return false }
  }
}
