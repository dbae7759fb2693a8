// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// A profile (H.264 Annex A, H.265 Annex A) that libavcodec may have a device decode.
package enum HardwareProfile: UInt8, CaseIterable, Sendable {
  case h264ConstrainedBaseline = 1
  case h264Main
  case h264High
  case h265Main
  case h265Main10
  case h265Main12
  case h265Main422Of10
  case h265Main422Of12
  case h265Main444
  case h265Main444Of10
  case h265Main444Of12

  /// The codec whose profile it is.
  package var codec: CodecSettings.Codec {
    switch self {
    case .h264ConstrainedBaseline, .h264Main, .h264High: .h264
    default: .h265
    }
  }

  /// Its name in the standard.
  package var name: String { description.name }

  /// How drivers know it.
  private struct Description {
    let name: String
    /// `VAProfile` (va.h).
    let vaapi: Int32
    /// `cudaVideoChromaFormat` (cuviddec.h), which is `chroma_format_idc`.
    let chromaFormat: Int32
    let bitDepth: UInt32
  }

  /// `cudaVideoCodec` (cuviddec.h).
  private var cudaCodec: Int32 { codec == .h264 ? 4 : 8 }

  private var description: Description {
    switch self {
    case .h264ConstrainedBaseline:
      Description(name: "Constrained Baseline", vaapi: 13, chromaFormat: 1, bitDepth: 8)
    case .h264Main: Description(name: "Main", vaapi: 6, chromaFormat: 1, bitDepth: 8)
    case .h264High: Description(name: "High", vaapi: 7, chromaFormat: 1, bitDepth: 8)
    case .h265Main: Description(name: "Main", vaapi: 17, chromaFormat: 1, bitDepth: 8)
    case .h265Main10: Description(name: "Main 10", vaapi: 18, chromaFormat: 1, bitDepth: 10)
    case .h265Main12: Description(name: "Main 12", vaapi: 23, chromaFormat: 1, bitDepth: 12)
    case .h265Main422Of10: Description(name: "Main 4:2:2 10", vaapi: 24, chromaFormat: 2, bitDepth: 10)
    case .h265Main422Of12: Description(name: "Main 4:2:2 12", vaapi: 25, chromaFormat: 2, bitDepth: 12)
    case .h265Main444: Description(name: "Main 4:4:4", vaapi: 26, chromaFormat: 3, bitDepth: 8)
    case .h265Main444Of10: Description(name: "Main 4:4:4 10", vaapi: 27, chromaFormat: 3, bitDepth: 10)
    case .h265Main444Of12: Description(name: "Main 4:4:4 12", vaapi: 28, chromaFormat: 3, bitDepth: 12)
    }
  }

  /// The greatest picture of this profile that a device decodes, in luma samples, 0 where its driver does not report it;
  /// nil where the device does not decode the profile.
  package func largestPicture(on device: HardwareDevice) -> (width: UInt32, height: UInt32)? {
    var (width, height) = (UInt32(0), UInt32(0))
    let description = description
    let decodes =
      switch device.method {
      case .vaapi: unsafe cav_vaapi_decodes(device.raw, description.vaapi, &width, &height)
      case .cuda:
        unsafe cav_cuda_decodes(
          device.raw, cudaCodec, description.chromaFormat, description.bitDepth, &width, &height)
      }
    return decodes == 0 ? nil : (width, height)
  }
}
