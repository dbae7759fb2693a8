// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// The reason that a session could not decode an access unit, or anything at all.
public struct DecodeError: Error, Sendable, Hashable {
  /// The kind of failure, as VideoToolbox distinguishes them: see ``DecodeError/status``.
  public enum Reason: UInt8, Sendable, CaseIterable {
    /// The access unit's bytes do not decode.
    case badData
    /// The stream uses a feature that libavcodec does not implement.
    case unsupportedFeature
    /// The codec failed and could not be restarted; the access unit is lost.
    case malfunction
    /// No process could be started for the codec: see ``DecodeError/detail``.
    case processUnavailable
    /// No device decodes, and one is required: see ``DecodeError/detail``.
    case hardwareUnavailable
    /// The session was invalidated.
    case invalidSession
    /// The new format needs a new session.
    case formatChangeNotSupported
    /// The format description's parameter sets cannot be used.
    case invalidFormatDescription
    /// libavcodec has no decoder for the codec.
    case decoderNotFound
    /// Out of memory.
    case allocationFailed
    /// An argument is invalid: an empty access unit, for example.
    case invalidArgument
  }

  /// The kind of failure.
  public let reason: Reason
  /// libavcodec's return code, 0 when it was not libavcodec that failed.
  public let libavcodecCode: Int32
  /// The failure of the codec's process, the reason that there is none, the argument that the caller has left out, or
  /// the place of damage in a slice; `nil` for other failures.
  public let detail: String?
  /// The caller's tag of the access unit, if the error is about one.
  public let tag: UInt64?
  /// The access unit's number in this session, from 0.
  public let accessUnitNumber: UInt64?
  /// `nal_unit_type` of the access unit's first slice (Table 7-1 of H.264 and H.265), if it has one.
  public let nalUnitType: UInt8?

  init(
    _ reason: Reason, code: AVError? = nil, tag: UInt64? = nil, accessUnitNumber: UInt64? = nil,
    nalUnitType: UInt8? = nil, detail: String? = nil
  ) {
    self.reason = reason
    self.libavcodecCode = code.map { $0.isOfProcess || $0.isOfHardware ? 0 : $0.rawValue } ?? 0
    self.detail = detail ?? code?.processFailure ?? code.flatMap { $0.isOfHardware ? "\($0)" : nil }
    self.tag = tag
    self.accessUnitNumber = accessUnitNumber
    self.nalUnitType = nalUnitType
  }

  /// Bytes that are no access unit.
  package init(badData detail: String) { self.init(.badData, detail: detail) }

  /// A failure of the codec that is not tied to an access unit.
  init(losing code: AVError) {
    let reason: Reason =
      switch code {
      case .outOfMemory: .allocationFailed
      case .hardwareRefused, .hardwareBusy, .hardwareUnavailable: .hardwareUnavailable
      default: code.meansLostSession ? .malfunction : .badData
      }
    self.init(reason, code: code)
  }

  /// The failure to open a codec.
  init(opening failure: CodecFailure) {
    let reason: Reason =
      switch failure.code {
      case .invalidData, .invalidArgument: .invalidFormatDescription
      case .decoderNotFound: .decoderNotFound
      case .outOfMemory: .allocationFailed
      case .unsupportedFeature: .unsupportedFeature
      case .serviceUnavailable, .fileSizeLimit, .descriptorLimit: .processUnavailable
      case .hardwareRefused, .hardwareBusy, .hardwareUnavailable: .hardwareUnavailable
      default: .malfunction
      }
    self.init(reason, code: failure.code, detail: failure.reason)
  }

  /// The `OSStatus` that VideoToolbox or CoreMedia returns for the same failure.
  public var status: Int32 { reason.status }

  /// The `OSStatus` for pictures that are output although others that they refer to are missing.
  package static let statusOfMissingReference: Int32 = -17694  // kVTVideoDecoderReferenceMissingErr

  /// The failure in words.
  public var message: StaticString {
    switch reason {
    case .badData: "the access unit does not decode"
    case .unsupportedFeature: "the stream uses a feature that the decoder does not have"
    case .malfunction: "the codec failed"
    case .processUnavailable: "no process for the codec could be started"
    case .hardwareUnavailable: "no device decodes the stream"
    case .invalidSession: "the session was invalidated"
    case .formatChangeNotSupported: "the new format needs a new session"
    case .invalidFormatDescription: "the parameter sets cannot be used"
    case .decoderNotFound: "libavcodec has no decoder for this codec"
    case .allocationFailed: "out of memory"
    case .invalidArgument: "an argument is invalid"
    }
  }

  /// libavutil's text for `libavcodecCode`; nil when it was not libavcodec that failed.
  public var libavcodecMessage: String? {
    libavcodecCode < 0 ? AVError(rawValue: libavcodecCode).description : nil
  }
}

extension DecodeError.Reason {
  /// See ``DecodeError/status``.
  package var status: Int32 {
    switch self {
    case .badData: -12909  // kVTVideoDecoderBadDataErr
    case .unsupportedFeature: -12910  // kVTVideoDecoderUnsupportedDataFormatErr
    case .malfunction: -12911  // kVTVideoDecoderMalfunctionErr
    case .processUnavailable: -12913  // kVTVideoDecoderNotAvailableNowErr
    case .hardwareUnavailable: -12907  // kVTCouldNotCreateInstanceErr
    case .invalidSession: -12903  // kVTInvalidSessionErr
    case .formatChangeNotSupported: -12916  // kVTFormatDescriptionChangeNotSupportedErr
    case .invalidFormatDescription: -12712  // what CoreMedia answers to unusable parameter sets
    case .decoderNotFound: -12906  // kVTCouldNotFindVideoDecoderErr
    case .allocationFailed: -12904  // kVTAllocationFailedErr
    case .invalidArgument: -12902  // kVTParameterErr
    }
  }
}

extension DecodeError: CustomStringConvertible {
  /// Message, picture, NAL unit type, the failure of the codec's process, libavcodec's text and VideoToolbox's
  /// status, as far as known.
  public var description: String {
    var text = "\(message)"
    if let accessUnitNumber { text += ", access unit \(accessUnitNumber)" }
    if let nalUnitType { text += ", NAL unit type \(nalUnitType)" }
    if let detail { text += ", \(detail)" }
    if let libavcodecMessage { text += ", libavcodec: \(libavcodecMessage)" }
    return text + " (\(status))"
  }
}

extension AVError {
  /// Whether the codec itself has failed, and not just the input is bad: open a new one and replay.
  var meansLostSession: Bool {
    switch self {
    case .external, .outOfMemory, .inputOutput, .noDevice, .unknown, .bug, .bug2: true
    default: isOfProcess || isOfHardware
    }
  }
}
