// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// A libavcodec return code for a failure (libavutil/error.h). Always negative.
package struct AVError: Error, RawRepresentable, Hashable, Sendable {
  /// The code as libavcodec returned it: `AVERROR(errno)` or one of the `AVERROR_…` tags.
  package let rawValue: Int32

  /// Wraps a negative return code.
  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// Nothing can be sent or received right now (`AVERROR(EAGAIN)`).
  package static let tryAgain = AVError(rawValue: Int32(CAV_ERROR_AGAIN))
  /// The codec is drained (`AVERROR_EOF`).
  package static let endOfFile = AVError(rawValue: Int32(CAV_ERROR_END_OF_FILE))
  /// The input is invalid (`AVERROR_INVALIDDATA`).
  package static let invalidData = AVError(rawValue: Int32(CAV_ERROR_INVALID_DATA))
  /// The input is legal but libavcodec does not implement it (`AVERROR_PATCHWELCOME`).
  package static let unsupportedFeature = AVError(rawValue: Int32(CAV_ERROR_PATCH_WELCOME))
  /// An external library or device failed (`AVERROR_EXTERNAL`).
  package static let external = AVError(rawValue: Int32(CAV_ERROR_EXTERNAL))
  /// libavcodec does not report what failed (`AVERROR_UNKNOWN`).
  package static let unknown = AVError(rawValue: Int32(CAV_ERROR_UNKNOWN))
  /// libavcodec found a bug of its own (`AVERROR_BUG`).
  package static let bug = AVError(rawValue: Int32(CAV_ERROR_BUG))
  /// The same, a second code (`AVERROR_BUG2`).
  package static let bug2 = AVError(rawValue: Int32(CAV_ERROR_BUG2))
  /// This libavcodec was built without the decoder (`AVERROR_DECODER_NOT_FOUND`).
  package static let decoderNotFound = AVError(rawValue: Int32(CAV_ERROR_DECODER_NOT_FOUND))
  /// This libavcodec was built without the encoder (`AVERROR_ENCODER_NOT_FOUND`).
  package static let encoderNotFound = AVError(rawValue: Int32(CAV_ERROR_ENCODER_NOT_FOUND))
  /// Out of memory (`AVERROR(ENOMEM)`).
  package static let outOfMemory = AVError(rawValue: Int32(CAV_ERROR_NO_MEMORY))
  /// An argument or a parameter of the stream is out of range (`AVERROR(EINVAL)`).
  package static let invalidArgument = AVError(rawValue: Int32(CAV_ERROR_INVALID_ARGUMENT))
  /// Input or output failed (`AVERROR(EIO)`).
  package static let inputOutput = AVError(rawValue: Int32(CAV_ERROR_IO))
  /// The device is gone (`AVERROR(ENODEV)`).
  package static let noDevice = AVError(rawValue: Int32(CAV_ERROR_NO_DEVICE))
  /// The function is not implemented (`AVERROR(ENOSYS)`).
  package static let notImplemented = AVError(rawValue: Int32(CAV_ERROR_NOT_IMPLEMENTED))

  // Hardware, by numbers that libavcodec does not use.

  /// The device does not decode this stream: its profile, size or sample format.
  package static let hardwareRefused = AVError(rawValue: -0x7100_0001)
  /// The device has failed to decode, or to deliver a picture.
  package static let hardwareFailed = AVError(rawValue: -0x7100_0002)
  /// The device decodes such streams, but has no surfaces or decoders left for this one.
  package static let hardwareBusy = AVError(rawValue: -0x7100_0004)
  /// No device could be opened.
  package static let hardwareUnavailable = AVError(rawValue: -0x7100_0003)

  // Encoding, likewise.

  /// The encoder does not take pictures of this sample format.
  package static let unsupportedFormat = AVError(rawValue: -0x7100_0005)

  /// Whether decoding may succeed without the device.
  package var isOfHardware: Bool {
    [.hardwareRefused, .hardwareBusy, .hardwareFailed, .hardwareUnavailable].contains(self)
  }

  /// Returns a C return code, or throws it as an error if it is negative.
  @discardableResult
  package static func check(_ code: Int32) throws(AVError) -> Int32 {
    guard code >= 0 else { throw AVError(rawValue: code) }
    return code
  }
}

extension AVError: CustomStringConvertible {
  /// libavutil's text for the code.
  package var description: String {
    switch self {
    case .hardwareRefused: return "the device does not decode this stream"
    case .hardwareBusy: return "the device has no room for this stream at the moment"
    case .hardwareFailed: return "the device failed"
    case .hardwareUnavailable: return "no device can be used"
    case .unsupportedFormat: return "the encoder does not take this sample format"
    default: break
    }
    let capacity = Int(CAV_ERROR_STRING_SIZE)
    let text = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { buffer -> String? in
      guard let base = buffer.baseAddress else { return nil }
      // The text ends with 0, whether or not the code is known.
      unsafe cav_strerror(rawValue, base, buffer.count)
      return unsafe String(cString: base)
    }
    return text ?? "libavcodec error"
  }
}
