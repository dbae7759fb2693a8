// SPDX-License-Identifier: MPL-2.0
import CAVCodec

extension CodecLibrary {
  /// The names of the encoders that need no device, the best first; empty if there are none, or if the library is
  /// missing.
  ///
  /// - Parameter format: the sample format of the pictures. Encoders that do not take it are left out.
  package static func encoderNames(for codec: CodecSettings.Codec, format: FrameFormat) -> [String] {
    unsafe encoders(for: codec).filter { unsafe takes(format, $0) }.map { unsafe String(cString: $0.pointee.name) }
  }

  /// The encoder of that name; the best one without a name.
  ///
  /// - Throws: `AVError.encoderNotFound` if there is none, `AVError.unsupportedFormat` if it does not take the format.
  static func encoder(
    for codec: CodecSettings.Codec, format: FrameFormat, name: String?
  ) throws(AVError) -> UnsafePointer<AVCodec> {
    let known = unsafe encoders(for: codec).filter { encoder in
      unsafe name == nil || name == String(cString: encoder.pointee.name)
    }
    guard unsafe !known.isEmpty else { throw .encoderNotFound }
    guard let encoder = unsafe known.first(where: { unsafe takes(format, $0) }) else { throw .unsupportedFormat }
    return unsafe encoder
  }

  private static func encoders(for codec: CodecSettings.Codec) -> [UnsafePointer<AVCodec>] {
    guard !isMissing else { return unsafe [] }
    var state: UnsafeMutableRawPointer?
    var found: [UnsafePointer<AVCodec>] = unsafe []
    while let next = unsafe cavcodec_iterate(&state) {
      guard unsafe next.pointee.id == codec.id, unsafe cav_is_software_encoder(next) != 0 else { continue }
      let isPreferred = unsafe String(cString: next.pointee.name) == codec.preferredEncoder
      unsafe found.insert(next, at: isPreferred ? 0 : found.count)
    }
    return unsafe found
  }

  private static func takes(_ format: FrameFormat, _ encoder: UnsafePointer<AVCodec>) -> Bool {
    guard format.rawValue >= 0 else { return false }
    guard var next = unsafe cav_encoder_formats(encoder) else { return true }
    while unsafe next.pointee != AV_PIX_FMT_NONE {
      if unsafe next.pointee.rawValue == format.rawValue { return true }
      unsafe next += 1
    }
    return false
  }
}

extension CodecSettings.Codec {
  fileprivate var preferredEncoder: String {
    switch self {
    case .h264: "libx264"
    case .h265: "libx265"
    }
  }
}
