// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

/// Pictures that stay in a device's memory on their way downstream (`memory:DMABuf`).
enum DMABufMemory {
  private static let feature = "memory:DMABuf"

  /// Whether GStreamer's caps can have modifiers.
  private static let hasModifiers = Runtime.isAtLeast(1, 24)

  /// The source pad's caps for device memory.
  static let template =
    "video/x-raw(\(feature)), format={NV12, P010_10LE}"
    + (hasModifiers ? "; video/x-raw(\(feature)), format=DMA_DRM" : "")

  /// The way caps name the format of such pictures.
  enum Naming: Equatable {
    /// As in the system's memory, which means row after row.
    case linear
    /// `format=DMA_DRM` with this `drm-format`, as GStreamer 1.24 and later prefer.
    case drm(String)
  }

  /// A picture in a device's memory.
  struct Surface {
    /// The device's arrangement of samples (drm_fourcc.h); 0 is row after row.
    let modifier: UInt64
    /// It describes the next picture to output; otherwise, it is the expectation for that picture.
    let isKnown: Bool

    /// Whether the cropped part can be left out: only on the right and below, if samples do not lie row after row.
    func canBeShown(cropped crop: PictureCrop) -> Bool { modifier == 0 || crop.left == 0 && crop.top == 0 }

    /// The format's name in the caps; `nil` if downstream takes no such pictures.
    func naming(of info: VideoInfo, _ allowed: borrowing Caps?) -> Naming? {
      guard let name = info.format.drmName else { return nil }
      let drm = Naming.drm(modifier == 0 ? name : "\(name):0x\(modifier.hexadecimal)")
      if hasModifiers {
        var caps = DMABufMemory.caps(of: info, as: drm)
        // The picture will show which it is.
        if !isKnown { caps.remove("drm-format") }
        if isTaken(caps, allowed) { return drm }
      }
      return modifier == 0 && isTaken(DMABufMemory.caps(of: info, as: .linear), allowed) ? .linear : nil
    }

    private func isTaken(_ caps: borrowing Caps, _ allowed: borrowing Caps?) -> Bool {
      switch allowed {
      case .some(let allowed): !allowed.isAny && allowed.canIntersect(caps)
      case .none: false
      }
    }
  }

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

  /// The caps of pictures in a device's memory.
  static func caps(of info: VideoInfo, as naming: Naming) -> Caps {
    var caps = info.caps()
    caps.setFeature(feature)
    if case .drm(let name) = naming {
      caps.set("format", .string("DMA_DRM"))
      caps.set("drm-format", .string(name))
    }
    return caps
  }
}

extension DecodedPicture {
  /// A buffer of the device's memory that the picture lies in; `nil` if it does not, or if there is no memory for the
  /// buffer. Elements that take such memory support GstVideoMeta, whatever they answer to the allocation query.
  func inDeviceMemory(as info: VideoInfo) -> Buffer? {
    guard let samples = deviceSamples, info.planeCount == samples.offsets.count,
      var buffer = Buffer(ofDevice: samples.objects, keeping: self)
    else { return nil }
    buffer.describePlanes(of: info, offsets: samples.offsets, strides: samples.strides)
    return buffer
  }
}

extension VideoFormat {
  /// The format's name in `drm-format` (drm_fourcc.h); `nil` for those that devices do not decode to.
  fileprivate var drmName: String? {
    switch name {
    case "NV12": "NV12"
    case "P010_10LE": "P010"
    default: nil
    }
  }
}

extension UInt64 {
  /// 16 digits.
  fileprivate var hexadecimal: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
