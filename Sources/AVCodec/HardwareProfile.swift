// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// A profile (Annex A of H.264 and H.265) that a device may decode whose pictures `HardwareDownload` can fetch.
package enum HardwareProfile: UInt8, CaseIterable, Sendable {
  case h264ConstrainedBaseline = 1
  case h264Main
  case h264High
  case h265Main
  case h265Main10
  case h265Main444

  /// The codec whose profile it is.
  package var codec: CodecSettings.Codec {
    switch self {
    case .h264ConstrainedBaseline, .h264Main, .h264High: .h264
    case .h265Main, .h265Main10, .h265Main444: .h265
    }
  }

  /// Its name in the standard.
  package var name: String { description.name }

  /// Its numbers in the drivers' interfaces.
  private struct Description {
    let name: String
    /// `VAProfile` (va.h); nil if VA-API's pictures of the profile cannot be fetched.
    let vaapi: Int32?
    /// `chroma_format_idc`.
    let chromaFormat: Int32
    let bitDepth: UInt32
  }

  private var description: Description {
    switch self {
    case .h264ConstrainedBaseline:
      Description(name: "Constrained Baseline", vaapi: 13, chromaFormat: 1, bitDepth: 8)
    case .h264Main: Description(name: "Main", vaapi: 6, chromaFormat: 1, bitDepth: 8)
    case .h264High: Description(name: "High", vaapi: 7, chromaFormat: 1, bitDepth: 8)
    case .h265Main: Description(name: "Main", vaapi: 17, chromaFormat: 1, bitDepth: 8)
    case .h265Main10: Description(name: "Main 10", vaapi: 18, chromaFormat: 1, bitDepth: 10)
    case .h265Main444: Description(name: "Main 4:4:4", vaapi: nil, chromaFormat: 3, bitDepth: 8)
    }
  }

  /// Sizes of pictures in luma samples; 0 if the driver does not report one.
  package struct PictureSizes: Hashable, Sendable {
    package let minimumWidth: UInt32, minimumHeight: UInt32
    package let maximumWidth: UInt32, maximumHeight: UInt32
  }

  /// The pictures of this profile that a device decodes; nil if it decodes none.
  package func pictureSizes(on device: HardwareDevice) -> PictureSizes? {
    var sizes = CAVPictureSizes()
    let description = description
    let decodes =
      switch device.method {
      case .vaapi: description.vaapi.map { unsafe cav_vaapi_decodes(device.raw, $0, &sizes) } ?? 0
      case .cuda:
        unsafe cav_cuda_decodes(device.raw, codec.id, description.chromaFormat, description.bitDepth, &sizes)
      }
    guard decodes != 0 else { return nil }
    return PictureSizes(
      minimumWidth: sizes.minimumWidth, minimumHeight: sizes.minimumHeight, maximumWidth: sizes.maximumWidth,
      maximumHeight: sizes.maximumHeight)
  }
}
