// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// An interface to decoders in hardware (`AVHWDeviceType`).
package enum HardwareMethod: UInt8, CaseIterable, Sendable {
  /// NVIDIA's (NVDEC).
  case cuda = 1
  /// VA-API: Intel's, AMD's and others' drivers.
  case vaapi

  var type: AVHWDeviceType {
    switch self {
    case .cuda: AV_HWDEVICE_TYPE_CUDA
    case .vaapi: AV_HWDEVICE_TYPE_VAAPI
    }
  }

  /// The format of a frame in the device's memory.
  var frameFormat: AVPixelFormat {
    switch self {
    case .cuda: AV_PIX_FMT_CUDA
    case .vaapi: AV_PIX_FMT_VAAPI
    }
  }

  /// The driver's libraries that libavcodec loads for each decoder, and not with the device.
  var decoderLibraries: [String] {
    switch self {
    case .cuda: [CAV_CUDA_LIBRARY, CAV_CUDA_DECODER_LIBRARY]
    case .vaapi: []
    }
  }

  /// The name that users know.
  package var name: String {
    switch self {
    case .cuda: "CUDA"
    case .vaapi: "VA-API"
    }
  }
}
