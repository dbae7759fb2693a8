// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

/// Pictures that stay in a device's memory on their way downstream (`memory:DMABuf`): rows one after the other, as these
/// caps mean without a modifier.
enum DeviceMemory {
  private static let feature = "memory:DMABuf"

  /// What the source pad offers.
  static let template = "video/x-raw(\(feature)), format={NV12, P010_10LE}"

  /// Whether downstream, whose caps these are, takes a device's memory rather than the system's.
  // Not inlined: the optimizer of Swift 6.3.1 crashes where its caller looks at the same caps again.
  @inline(never) static func isPreferred(in caps: borrowing Caps?) -> Bool {
    switch caps {
    case .none: return false
    case .some(let caps):
      guard !caps.isAny else { return false }
      for index in 0..<caps.count {
        if caps.hasFeature(feature, at: index) { return true }
        if caps.hasFeature("memory:SystemMemory", at: index) { return false }
      }
      return false
    }
  }

  /// Whether pictures like these may go downstream in a device's memory.
  static func isTaken(_ info: VideoInfo, _ allowed: borrowing Caps?) -> Bool {
    switch allowed {
    case .some(let allowed): !allowed.isAny && allowed.canIntersect(caps(of: info))
    case .none: false
    }
  }

  /// The caps of pictures in a device's memory.
  static func caps(of info: VideoInfo) -> Caps {
    var caps = info.caps()
    caps.setFeature(feature)
    return caps
  }
}

extension DecodedPicture {
  /// A buffer of the device's memory that the picture lies in; `nil` where it does not, or where there is no memory for
  /// the buffer. Elements that take such memory support GstVideoMeta, whatever they answer to the allocation query.
  func inDeviceMemory(as info: VideoInfo) -> Buffer? {
    guard let samples = deviceSamples, info.planeCount == samples.offsets.count,
      var buffer = Buffer(ofDevice: samples.objects, keeping: self)
    else { return nil }
    buffer.describePlanes(of: info, offsets: samples.offsets, strides: samples.strides)
    return buffer
  }
}
