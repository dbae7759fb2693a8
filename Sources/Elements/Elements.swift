// SPDX-License-Identifier: MPL-2.0
public import GStreamer

/// The elements of this project.
public enum Elements {
  /// Registers them all, in a plugin or (with `nil`) in this process alone. Returns whether that worked.
  public static func register(in plugin: Plugin?) -> Bool {
    do throws(RegistrationError) {
      try H264Parse.register(as: "swifth264parse", typeName: "GstSwiftH264Parse", rank: .marginal, in: plugin)
      try H264Repack.register(as: "swifth264repack", typeName: "GstSwiftH264Repack", rank: .marginal, in: plugin)
      try H265Parse.register(as: "swifth265parse", typeName: "GstSwiftH265Parse", rank: .marginal, in: plugin)
      try H265Repack.register(as: "swifth265repack", typeName: "GstSwiftH265Repack", rank: .marginal, in: plugin)
      try H264Decode.register(as: "swifth264dec", typeName: "GstSwiftH264Dec", rank: .marginal, in: plugin)
      try H265Decode.register(as: "swifth265dec", typeName: "GstSwiftH265Dec", rank: .marginal, in: plugin)
      return true
    } catch { return false }
  }
}
